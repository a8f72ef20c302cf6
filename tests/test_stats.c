/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "stats.h"
#include "suite.h"

static const struct sb_call ten = {.m = 10, .n = 20, .k = 30};
static const struct sb_outcome on_gpu = {
	.side = SB_GPU,
	.reason = SB_REASON_FASTER,
	.kernel = "kernel",
	.seconds = 0.5,
	.manner = {.arithmetic = SB_BF16X6, .fallback = SB_FALLBACK_SHORT}};
static struct sb_totals totals;

static struct sb_tally all(void)
{
	sb_stats_read(&totals);
	return sb_stats_sum(&totals, SB_SIDES, SB_REASONS, SB_BUCKETS);
}

static void a_call_is_counted_where_it_was_answered(void)
{
	struct sb_tally tally;

	sb_stats_reset();
	sb_stats_add(&ten, &on_gpu);
	tally = all();
	CU_ASSERT_EQUAL(tally.calls, 1);
	CU_ASSERT_EQUAL(tally.flops, 12000);
	CU_ASSERT_EQUAL(tally.bytes, 4 * (300 + 600 + 200));
	CU_ASSERT_EQUAL(tally.seconds, 0.5);
	CU_ASSERT_EQUAL(sb_stats_sum(&totals, SB_GPU, SB_REASON_FASTER, 1).calls, 1);
	CU_ASSERT_EQUAL(sb_stats_sum(&totals, SB_CPU, SB_REASONS, SB_BUCKETS).calls, 0);
	CU_ASSERT_EQUAL(sb_stats_sum(&totals, SB_SIDES, SB_REASON_SMALL, SB_BUCKETS).calls, 0);
	CU_ASSERT_EQUAL(sb_stats_sum(&totals, SB_SIDES, SB_REASONS, 0).calls, 0);
	CU_ASSERT_EQUAL(totals.arithmetic[SB_BF16X6].calls, 1);
	CU_ASSERT_EQUAL(totals.arithmetic[SB_BF16X6].flops, 12000);
	CU_ASSERT_EQUAL(totals.fallback[SB_FALLBACK_SHORT], 1);
	sb_stats_reset();
	CU_ASSERT_EQUAL(all().calls, 0);
	CU_ASSERT_EQUAL(totals.arithmetic[SB_BF16X6].calls + totals.fallback[SB_FALLBACK_SHORT], 0);
}

static void a_small_call_is_counted_the_same(void)
{
	sb_stats_reset();
	sb_stats_add(&ten, &on_gpu);
	sb_stats_reset();
	CU_ASSERT_TRUE(sb_stats_note_small(10, 20, 30));
	CU_ASSERT_EQUAL(all().calls, 1);
	CU_ASSERT_EQUAL(all().flops, 12000);
	CU_ASSERT_EQUAL(all().bytes, 4 * (300 + 600 + 200));
	CU_ASSERT_EQUAL(sb_stats_sum(&totals, SB_CPU, SB_REASON_SMALL, 1).calls, 1);
	/* The largest sizes that can be noted. */
	CU_ASSERT_TRUE(sb_stats_note_small(SB_SMALL_EXTENT - 1, 1, 2));
	CU_ASSERT_TRUE(sb_stats_note_small(1, SB_SMALL_EXTENT - 1, 2));
	CU_ASSERT_TRUE(sb_stats_note_small(1, 2, SB_SMALL_EXTENT - 1));
	CU_ASSERT_EQUAL(all().calls, 4);
	CU_ASSERT_EQUAL(all().flops, 12000 + 3.0 * 4 * (SB_SMALL_EXTENT - 1));
}

static void an_illegal_call_does_no_work(void)
{
	static const int64_t sizes[][3] = {{-1, 5, 5}, {5, -1, 5}, {5, 5, -1}, {-5, -5, 5}};

	sb_stats_reset();
	for (int i = 0; i < 4; i++) {
		struct sb_call call = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2]};
		struct sb_outcome invalid = {.side = SB_CPU, .reason = SB_REASON_INVALID};

		sb_stats_add(&call, &invalid);
	}
	CU_ASSERT_EQUAL(all().calls, 4);
	CU_ASSERT_EQUAL(all().flops, 0);
	CU_ASSERT_EQUAL(all().bytes, 0);
}

static void buckets_end_at_powers_of_two(void)
{
	CU_ASSERT_EQUAL(sb_stats_bucket(-8), 0);
	CU_ASSERT_EQUAL(sb_stats_bucket(0), 0);
	CU_ASSERT_EQUAL(sb_stats_bucket(1), 0);
	for (int bucket = 0; bucket < SB_BUCKETS - 1; bucket++) {
		double size = (double)sb_stats_bucket_limit(bucket), work = size * size * size;

		CU_ASSERT_EQUAL(size, (double)(16 << bucket));
		CU_ASSERT_EQUAL(sb_stats_bucket(work), bucket);
		CU_ASSERT_EQUAL(sb_stats_bucket(work + 1), bucket + 1);
		CU_ASSERT_EQUAL(sb_stats_bucket(work * 0.99), bucket);
	}
	CU_ASSERT_EQUAL(sb_stats_bucket_limit(SB_BUCKETS - 1), 0);
	CU_ASSERT_EQUAL(sb_stats_bucket(1e300), SB_BUCKETS - 1);
}

static void *call_often(void *context)
{
	struct sb_call call = ten;
	struct sb_last last;

	call.m = (int64_t)(intptr_t)context;
	CU_ASSERT_FALSE(sb_stats_last(&last));
	for (int i = 0; i < 10000; i++)
		sb_stats_add(&call, &on_gpu);
	CU_ASSERT_TRUE(sb_stats_last(&last));
	CU_ASSERT_EQUAL(last.m, call.m);
	return NULL;
}

static void threads_sums_add_up_and_outlive_them(void)
{
	pthread_t threads[8];
	double flops = 0;

	sb_stats_reset();
	for (int i = 0; i < 8; i++) {
		pthread_create(&threads[i], NULL, call_often, (void *)(intptr_t)(i + 1));
		flops += 10000.0 * 2 * (i + 1) * 20 * 30;
	}
	for (int i = 0; i < 50; i++)
		CU_ASSERT(all().calls <= 80000);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_EQUAL(all().calls, 80000);
	CU_ASSERT_EQUAL(all().flops, flops);
}

static atomic_bool stop;

static void *reset_often(void *context)
{
	while (!atomic_load(&stop)) {
		sb_stats_add(&ten, &on_gpu);
		sb_stats_reset();
	}
	return context;
}

static void a_reset_meanwhile_never_makes_a_count_negative(void)
{
	pthread_t thread;
	int negative = 0;

	pthread_create(&thread, NULL, reset_often, NULL);
	for (int i = 0; i < 3000; i++)
		negative += all().calls > UINT64_MAX / 2;
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(negative, 0);
}

static void reset_starts_at_zero(void)
{
	sb_stats_add(&ten, &on_gpu);
	sb_stats_reset();
	CU_ASSERT_EQUAL(all().calls, 0);
	CU_ASSERT_EQUAL(all().flops, 0);
	sb_stats_add(&ten, &on_gpu);
	CU_ASSERT_EQUAL(all().calls, 1);
}

static void count_in_child(void)
{
	SUITE_EXPECT(all().calls == 0);
	sb_stats_add(&ten, &on_gpu);
	SUITE_EXPECT(all().calls == 1);
	sb_stats_reset();
	SUITE_EXPECT(all().calls == 0);
}

static void a_forked_child_starts_from_zero(void)
{
	sb_stats_reset();
	sb_stats_add(&ten, &on_gpu);
	SUITE_CHILD_PASSES(count_in_child);
	CU_ASSERT_EQUAL(all().calls, 1);
}

static void the_last_call_is_this_threads(void)
{
	struct sb_last last;

	sb_stats_add(&ten, &on_gpu);
	CU_ASSERT_TRUE(sb_stats_last(&last));
	CU_ASSERT(last.m == 10 && last.n == 20 && last.k == 30);
	CU_ASSERT_EQUAL(last.outcome.side, SB_GPU);
	CU_ASSERT_STRING_EQUAL(last.outcome.kernel, "kernel");
	CU_ASSERT_TRUE(sb_stats_note_small(1, 2, 3));
	CU_ASSERT_TRUE(sb_stats_last(&last));
	CU_ASSERT(last.m == 1 && last.n == 2 && last.k == 3);
	CU_ASSERT_TRUE(sb_stats_note_small(5, SB_SMALL_EXTENT - 2, 4));
	CU_ASSERT_TRUE(sb_stats_last(&last));
	CU_ASSERT(last.m == 5 && last.n == SB_SMALL_EXTENT - 2 && last.k == 4);
	CU_ASSERT_EQUAL(last.outcome.reason, SB_REASON_SMALL);
	CU_ASSERT_PTR_NULL(last.outcome.kernel);
}

static const struct suite_case cases[] = {
	{"a call is counted where it was answered", a_call_is_counted_where_it_was_answered},
	{"a small call is counted the same", a_small_call_is_counted_the_same},
	{"an illegal call does no work", an_illegal_call_does_no_work},
	{"buckets end at powers of two", buckets_end_at_powers_of_two},
	{"threads' sums add up and outlive them", threads_sums_add_up_and_outlive_them},
	{"a reset meanwhile never makes a count negative",
	 a_reset_meanwhile_never_makes_a_count_negative},
	{"reset starts at zero", reset_starts_at_zero},
	{"a forked child starts from zero", a_forked_child_starts_from_zero},
	{"the last call is this thread's", the_last_call_is_this_threads},
};

int main(void)
{
	return SUITE("stats", cases);
}
