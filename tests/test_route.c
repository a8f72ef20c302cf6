/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "process.h"
#include "route.h"
#include "settings.h"
#include "sized.h"
#include "stats.h"
#include "suite.h"

static float memory[4];

static bool is(const struct sb_call *call, enum sb_side side, enum sb_reason reason)
{
	struct sb_decision d = sb_route(call, NULL);

	if (d.side == side && d.reason == reason)
		return true;
	printf("    %s %s\n", sb_side_word(d.side), sb_reason_word(d.reason));
	return false;
}

/* The stand-in driver's device, started. */
static void start_gpu(void)
{
	struct sb_call call = sized_square(512);

	sb_route_set_mode(SB_MODE_GPU);
	CU_ASSERT_TRUE(is(&call, SB_GPU, SB_REASON_FORCED));
}

static void auto_sends_large_calls_only(void)
{
	struct sb_call large = sized_square(4096), small = sized_square(64),
		       thin = sized_square(512);

	start_gpu();
	sb_route_set_mode(SB_MODE_AUTO);
	CU_ASSERT_TRUE(is(&large, SB_GPU, SB_REASON_FASTER));
	CU_ASSERT_FALSE(sb_route(&large, NULL).compare);
	CU_ASSERT_TRUE(is(&small, SB_CPU, SB_REASON_SMALL));
	/* A thin product has little work, but reads a matrix: that is judged. */
	thin.m = 1;
	CU_ASSERT_TRUE(is(&thin, SB_CPU, SB_REASON_FASTER));
	thin.n = thin.k = 256;
	CU_ASSERT_TRUE(is(&thin, SB_CPU, SB_REASON_SMALL));
	/* A product of sizes that overflows 64 bits is not small. */
	thin = sized_square((int64_t)1 << 31);
	CU_ASSERT_EQUAL(sb_route(&thin, NULL).side, SB_CPU + (sb_call_kind(&thin) == SB_CALL_WORK));
}

static void the_bound_is_a_product_of_sizes(void)
{
	struct sb_call call = sized_square(128);

	sb_route_set_mode(SB_MODE_AUTO);
	CU_ASSERT_NOT_EQUAL(sb_route(&call, NULL).reason, SB_REASON_SMALL);
	call.k = 127;
	CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_SMALL));
}

static double on_cpu(int threads, const struct sb_call *call)
{
	struct sb_situation situation = {.health = SB_HEALTH_READY, .threads = threads};

	return sb_model_cpu(sb_profile_shipped(), &situation, call).seconds;
}

static double on_gpu(int threads, const struct sb_call *call)
{
	struct sb_situation situation = {.health = SB_HEALTH_READY, .threads = threads};

	return sb_model_gpu(sb_profile_shipped(), &situation, call).seconds;
}

static int64_t some_size(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	/* As likely between 1 and 2 as between 30000 and 60000. */
	return (int64_t)exp2(16 * (double)(*state >> 33) / (double)((uint64_t)1 << 31));
}

/* Nothing is lost by calls that are not judged, and hardly a short one is judged. */
static void what_is_called_small_is(void)
{
	static const int threads[] = {1, 2, 3, 4, 8, 16};
	int judged = 0, small = 0, brief = 0;
	uint64_t state = 1;

	for (int i = 0; i < 60000; i++) {
		struct sb_call call = {
			.m = some_size(&state), .n = some_size(&state), .k = some_size(&state)};
		bool is_small = sb_route_small(&call, SB_ROUTE_SMALL_WORK);

		call.trans_a = i & 1;
		call.trans_b = i >> 1 & 1;
		CU_ASSERT_EQUAL(is_small, sb_route_small_at_once(call.m, call.n, call.k));
		small += is_small;
		for (size_t t = 0; is_small && t < sizeof threads / sizeof *threads; t++)
			CU_ASSERT(on_gpu(threads[t], &call) > on_cpu(threads[t], &call));
		if (on_cpu(1, &call) > 20e-6)
			continue;
		brief++;
		judged += !is_small;
	}
	printf("  %d small, %d of at most 20 us, of which %d are judged\n", small, brief, judged);
	CU_ASSERT(small > 10000 && brief > 5000 && judged * 20 < brief);
	for (int64_t n = 1; n < 128; n++)
		CU_ASSERT_TRUE(sb_route_small_at_once(n, n, 127));
	CU_ASSERT_FALSE(sb_route_small_at_once(128, 128, 128));
	CU_ASSERT_FALSE(sb_route_small_at_once(SB_SMALL_EXTENT - 1, SB_SMALL_EXTENT - 1,
					       SB_SMALL_EXTENT - 1));
	CU_ASSERT_FALSE(sb_route_small(&(struct sb_call){.m = 1, .n = 1200, .k = 1600},
				       SB_ROUTE_SMALL_WORK));
	CU_ASSERT_TRUE(sb_route_small(&(struct sb_call){.m = 0, .n = 1200, .k = 1600},
				      SB_ROUTE_SMALL_WORK));
}

static void modes_force_a_side(void)
{
	struct sb_call large = sized_square(512), small = sized_square(1);

	sb_route_set_mode(SB_MODE_CPU);
	CU_ASSERT_EQUAL(sb_route_mode(), SB_MODE_CPU);
	CU_ASSERT_TRUE(is(&large, SB_CPU, SB_REASON_FORCED));
	CU_ASSERT_TRUE(is(&small, SB_CPU, SB_REASON_SMALL));
	sb_route_set_mode(SB_MODE_GPU);
	CU_ASSERT_TRUE(is(&large, SB_GPU, SB_REASON_FORCED));
	CU_ASSERT_TRUE(is(&small, SB_GPU, SB_REASON_FORCED));
	CU_ASSERT_FALSE(sb_route(&large, NULL).compare);
	sb_route_set_mode(SB_MODE_CHECK);
	CU_ASSERT_TRUE(is(&small, SB_GPU, SB_REASON_FORCED));
	CU_ASSERT_TRUE(sb_route(&small, NULL).compare);
}

static void what_is_not_a_product_is_for_the_backend(void)
{
	static const int modes[] = {SB_MODE_AUTO, SB_MODE_GPU, SB_MODE_CHECK};

	for (int i = 0; i < 3; i++) {
		struct sb_call call = sized_square(512);

		sb_route_set_mode(modes[i]);
		call.lda = 511;
		CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_INVALID));
		CU_ASSERT_FALSE(sb_route(&call, NULL).compare);
		call = sized_square(512);
		call.unknown = true;
		CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_INVALID));
		call = sized_square(512);
		call.alpha = 0;
		CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_INVALID));
		call = sized_square(512);
		call.m = call.n = -512;
		CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_INVALID));
		call = sized_square(512);
		call.k = 0;
		CU_ASSERT_EQUAL(sb_route(&call, NULL).side, SB_CPU);
		call.m = -1;
		CU_ASSERT_EQUAL(sb_route(&call, NULL).side, SB_CPU);
	}
}

static void misaligned_pointers_stay(void)
{
	sb_route_set_mode(SB_MODE_GPU);
	for (int which = 0; which < 3; which++)
		for (int off = 1; off < 4; off++) {
			struct sb_call call = sized_square(512);
			char *odd = (char *)memory + off;

			if (which == 0)
				call.a = odd;
			else if (which == 1)
				call.b = odd;
			else
				call.c = odd;
			CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_MISALIGNED));
		}
}

static void nested_calls_stay(void)
{
	struct sb_call call = sized_square(512);
	struct sb_as_found found;

	sb_route_set_mode(SB_MODE_GPU);
	CU_ASSERT_TRUE(sb_process_enter(&found));
	CU_ASSERT_TRUE(is(&call, SB_CPU, SB_REASON_NESTED));
	sb_process_leave(&found);
	CU_ASSERT_EQUAL(sb_route(&call, NULL).side, SB_GPU);
}

static void in_child(void)
{
	struct sb_call call = sized_square(512);

	SUITE_EXPECT(is(&call, SB_CPU, SB_REASON_FORKED));
}

static void live_parent(void)
{
	sb_route_set_mode(SB_MODE_GPU);
	sb_process_mark_live();
	SUITE_EXPECT(suite_child(in_child) == 0);
}

static void a_child_of_a_live_parent_stays(void)
{
	SUITE_CHILD_PASSES(live_parent);
}

static void the_same_question_has_the_same_answer(void)
{
	static const int modes[] = {SB_MODE_AUTO, SB_MODE_CPU, SB_MODE_GPU, SB_MODE_CHECK};

	for (int i = 0; i < 4; i++) {
		struct sb_call call = sized_square(300), kept;
		struct sb_decision first, other;

		sb_route_set_mode(modes[i]);
		kept = call;
		first = sb_route(&call, NULL);
		CU_ASSERT_EQUAL(memcmp(&call, &kept, sizeof call), 0);
		call = sized_square(5);
		sb_route(&call, NULL);
		other = sb_route(&kept, NULL);
		CU_ASSERT(first.side == other.side && first.reason == other.reason &&
			  first.compare == other.compare && first.kernel == other.kernel);
	}
}

static void the_environment_is_heeded(void)
{
	struct sb_call small = sized_square(2);

	setenv("SHIMBLAS_MODE", "gpu", 1);
	SUITE_EXPECT(sb_route_quick_bound() == 0);
	SUITE_EXPECT(is(&small, SB_GPU, SB_REASON_FORCED));
	SUITE_EXPECT(sb_route_mode() == SB_MODE_GPU);
	SUITE_EXPECT(sb_route_quick_bound() == 0);
	sb_route_set_mode(SB_MODE_AUTO);
	SUITE_EXPECT(is(&small, SB_CPU, SB_REASON_SMALL));
	SUITE_EXPECT(sb_route_quick_bound() == SB_SMALL_EXTENT);
}

static void the_first_call_reads_the_mode(void)
{
	SUITE_CHILD_PASSES(the_environment_is_heeded);
}

static void timed(void)
{
	setenv("SHIMBLAS_VERBOSE", "1", 1);
	sb_route_mode();
	SUITE_EXPECT(sb_route_quick_bound() == 0);
}

static void no_call_is_quick_where_each_has_a_line(void)
{
	SUITE_CHILD_PASSES(timed);
}

static void a_failure_has_its_reason(void)
{
	static const struct {
		enum sb_status status;
		enum sb_reason reason;
	} rows[] = {
		{SB_DECLINE, SB_REASON_DECLINED},  {SB_NO_DEVICE, SB_REASON_NO_GPU},
		{SB_NO_IMAGE, SB_REASON_NO_IMAGE}, {SB_NO_MEMORY, SB_REASON_MEMORY},
		{SB_BUSY, SB_REASON_BUSY},	   {SB_LOST, SB_REASON_LOST},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sb_decision before = {.side = SB_GPU, .kernel = "kernel"}, after;

		after = sb_route_after(before, rows[i].status);
		CU_ASSERT_EQUAL(after.side, SB_CPU);
		CU_ASSERT_EQUAL(after.reason, rows[i].reason);
		CU_ASSERT_PTR_NULL(after.kernel);
	}
}

static const struct suite_case cases[] = {
	{"the first call reads the mode", the_first_call_reads_the_mode},
	{"no call is quick where each has a line", no_call_is_quick_where_each_has_a_line},
	{"auto sends large calls only", auto_sends_large_calls_only},
	{"the bound is a product of sizes", the_bound_is_a_product_of_sizes},
	{"what is called small is", what_is_called_small_is},
	{"modes force a side", modes_force_a_side},
	{"what is not a product is for the backend", what_is_not_a_product_is_for_the_backend},
	{"misaligned pointers stay", misaligned_pointers_stay},
	{"nested calls stay", nested_calls_stay},
	{"a child of a live parent stays", a_child_of_a_live_parent_stays},
	{"the same question has the same answer", the_same_question_has_the_same_answer},
	{"a failure has its reason", a_failure_has_its_reason},
};

int main(void)
{
	setenv("SHIMBLAS_DRIVER", suite_built("tests/stand_in/libcuda.so.1"), 1);
	return SUITE("route", cases);
}
