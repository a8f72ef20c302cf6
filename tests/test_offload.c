/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls carried to the GPU and home: right to the bit, whatever their shape, and whatever fails. */
#include "child.h"

#include <pthread.h>

#include "device.h"
#include "offload.h"
#include "process.h"
#include "product.h"
#include "start.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct product shapes[] = {
	{1, 1, 1, 0, 0, 0, 0, 0, 1, 0},	       {3, 5, 7, 1, 0, 1, 2, 3, 1, 0},
	{17, 33, 300, 0, 1, 0, 5, 1, 2, 0.5f}, {64, 64, 256, 1, 1, 0, 0, 0, 1, 1},
	{129, 65, 257, 0, 0, 3, 0, 7, -1, 0},  {129, 65, 513, 1, 1, 0, 3, 7, 0.25f, -2},
	{1, 200, 40, 1, 0, 0, 0, 0, 1, 0},     {200, 1, 40, 0, 1, 9, 9, 9, 1, 3},
	{300, 260, 1, 0, 0, 0, 0, 0, 1.5f, 1},
};

/* One call, started and carried; where it was not carried C must be as it was. */
static int run_product(const struct product *p, enum sb_status *status, int *finished)
{
	struct product_data d = product_make(p);
	float *before = malloc(d.c_count * sizeof *before);
	struct sb_decision decision = {0};
	struct sb_as_found found;
	int right;

	memcpy(before, d.c, d.c_count * sizeof *before);
	*finished = 0;
	CHECK(sb_process_enter(&found));
	*status = sb_offload(&d.call, &decision, product_compute, finished);
	sb_process_leave(&found);
	if (*status == SB_OK)
		right = product_right(&d);
	else
		right = memcmp(before, d.c, d.c_count * sizeof *before) == 0;
	free(before);
	product_free(&d);
	return right;
}

static void all_shapes(const void *unused)
{
	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		enum sb_status status;
		int finished;

		CHECK(run_product(&shapes[i], &status, &finished));
		CHECK(status == SB_OK);
		CHECK(finished == 0);
	}
}

static void every_kernel_form_gives_the_bits_of_the_oracle(void)
{
	CU_ASSERT_EQUAL(in_child("A=1", all_shapes, NULL), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_KERNEL=sgemm_bulk_256x128x32", all_shapes, NULL), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_KERNEL=sgemm_double_128x128x16", all_shapes, NULL), 0);
}

/*
 * The exact engine runs the kernels on one thread, between whose fibers the thread sanitizer has
 * nothing to find and takes minutes to do so; what threads are given to do is the quick engine's
 * too.
 */
#if defined(__SANITIZE_THREAD__)
static const int exactly = 0;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
static const int exactly = 0;
#else
static const int exactly = 1;
#endif
#else
static const int exactly = 1;
#endif

/* One order of events in place of several, where a sanitizer makes each dear. */
static int orders(int several)
{
	return suite_sanitized() ? (several + 2) / 3 : several;
}

static void older_cards_give_them_too(void)
{
	static const char multistage[] = "SHIMBLAS_KERNEL=sgemm_multistage_128x128x32";
	static const char *const cards[] = {"cc=80,shared=167936,sms=108",
					    "cc=86,shared=102400,sms=84",
					    "cc=89,shared=102400,sms=128"};
	char text[160];

	for (size_t c = 0; c < COUNT(cards); c++) {
		snprintf(text, sizeof text, "SB_STAND_IN=engine=exact,%s %s", cards[c], multistage);
		CU_ASSERT(!exactly || in_child(text, all_shapes, NULL) == 0);
		snprintf(text, sizeof text, "SB_STAND_IN=seed=%d,%s SHIMBLAS_PINNED_MEMORY=128K %s",
			 (int)c + 1, cards[c], multistage);
		CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
	}
}

static void every_order_of_a_late_device_gives_them_too(void)
{
	for (int seed = 0; seed < orders(8); seed++) {
		char text[160];

		for (int bulk = 0; bulk < 2; bulk++) {
			snprintf(text, sizeof text,
				 "SB_STAND_IN=seed=%d SHIMBLAS_KERNEL=%s "
				 "SHIMBLAS_PINNED_MEMORY=128K",
				 seed, bulk ? "sgemm_bulk_256x128x32" : "sgemm_plain_64x64x16");
			CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
		}
	}
}

static void *one_of_many(void *argument)
{
	long thread = (long)(intptr_t)argument, wrong = 0;

	for (size_t i = 0; i < 3 * COUNT(shapes); i++) {
		enum sb_status status;
		int finished;

		wrong += !run_product(&shapes[(i + (size_t)thread) % COUNT(shapes)], &status,
				      &finished) ||
			 status != SB_OK;
	}
	return (void *)(intptr_t)wrong;
}

static void many(const void *unused)
{
	pthread_t threads[6];

	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	for (long i = 0; i < 6; i++)
		CHECK(pthread_create(&threads[i], NULL, one_of_many, (void *)(intptr_t)i) == 0);
	for (long i = 0; i < 6; i++) {
		void *wrong = NULL;

		CHECK(pthread_join(threads[i], &wrong) == 0);
		CHECK(wrong == NULL);
	}
}

static void many_threads_may_call_at_once(void)
{
	CU_ASSERT_EQUAL(in_child("A=1", many, NULL), 0);
	CU_ASSERT_EQUAL(
		in_child("SHIMBLAS_PINNED_MEMORY=128K SHIMBLAS_DEVICE_MEMORY=2M", many, NULL), 0);
}

static const struct product large = {530, 700, 40, 1, 0, 3, 1, 5, 1.5f, 0.5f};

static void one_large(const void *unused)
{
	enum sb_status status;
	int finished;

	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	for (int i = 0; i < 2; i++) {
		CHECK(run_product(&large, &status, &finished));
		CHECK(status == SB_OK);
		CHECK(finished == 0);
	}
}

static void every_plan_makes_the_same_bits(void)
{
	static const char *const bounds[] = {"DEVICE_MEMORY=16M",  "DEVICE_MEMORY=1M",
					     "DEVICE_MEMORY=600K", "DEVICE_MEMORY=400K",
					     "DEVICE_MEMORY=250K", "PANELS=2",
					     "PANELS=5",	   "PANELS=16"};

	for (size_t i = 0; i < COUNT(bounds); i++)
		for (int seed = 0; seed < orders(3); seed++) {
			char text[160];

			snprintf(text, sizeof text,
				 "SHIMBLAS_%s SB_STAND_IN=seed=%d "
				 "SHIMBLAS_PINNED_MEMORY=256K%s",
				 bounds[i], seed,
				 i % 2 ? " SHIMBLAS_KERNEL=sgemm_bulk_256x128x32" : "");
			CU_ASSERT_EQUAL(in_child(text, one_large, NULL), 0);
		}
}

/* Whatever happened, the answer is right; and a call later it still is. */
static void survive(const void *unused)
{
	static const struct product p = {70, 66, 40, 1, 0, 1, 0, 2, 2, 0.5f};
	enum sb_status status;
	int finished;

	(void)unused;
	sb_device_least_patience = 0.3;
	if (child_start() != SB_HEALTH_READY)
		return;
	for (int i = 0; i < 2; i++)
		CHECK(run_product(&p, &status, &finished));
}

/* Each wait is short, and yet they would never end. */
static void crawl(const void *unused)
{
	enum sb_status status;
	int finished;

	(void)unused;
	sb_device_least_patience = 0.3;
	CHECK(child_start() == SB_HEALTH_READY);
	CHECK(run_product(&large, &status, &finished));
	CHECK(status == SB_LOST || finished);
}

static void the_deadline_is_the_calls(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=slow=20 SHIMBLAS_LOGFILE=/dev/null "
				 "SHIMBLAS_PINNED_MEMORY=128K SHIMBLAS_DEVICE_MEMORY=400K",
				 crawl, NULL),
			0);
}

static const char no_kernel[] = "SB_STAND_IN=cc=50,from=module_load:1 SHIMBLAS_PINNED_MEMORY=128K";

static void find_no_kernel(const void *unused)
{
	enum sb_status status;
	int finished;

	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	CHECK(run_product(&large, &status, &finished));
	CHECK(status == SB_NO_IMAGE);
}

static void a_device_without_a_kernel_is_told_as_such(void)
{
	CU_ASSERT_EQUAL(in_child(no_kernel, find_no_kernel, NULL), 0);
}

static void a_device_that_never_answers_is_given_up(void)
{
	static const char *const hangs[] = {"hang=copy_2d:1", "hang=copy_2d:5", "hang=launch:1",
					    "hang=launch:2"};

	for (size_t i = 0; i < COUNT(hangs); i++) {
		char text[200];

		snprintf(text, sizeof text,
			 "SB_STAND_IN=%s SHIMBLAS_LOGFILE=/dev/null "
			 "SHIMBLAS_PINNED_MEMORY=128K",
			 hangs[i]);
		CU_ASSERT_EQUAL(in_child(text, survive, NULL), 0);
	}
}

/* Exits with 50 where the CPU had to finish, and did. */
static void half_written(const void *unused)
{
	enum sb_status status;
	int finished;

	(void)unused;
	sb_device_least_patience = 0.3;
	CHECK(child_start() == SB_HEALTH_READY);
	CHECK(run_product(&large, &status, &finished));
	if (!child_failures && status == SB_OK && finished)
		exit(50);
}

static void what_a_failing_device_has_left_of_c_the_cpu_computes(void)
{
	static const char *const faults[] = {"lose=copy_2d:%d", "crash=copy_2d:%d",
					     "hang=copy_2d:%d", "fail=copy_2d:%d:INVALID_VALUE"};

	for (size_t i = 0; i < COUNT(faults); i++) {
		int seen = 0;

		for (int n = 20; n <= 100; n += 80 / orders(5)) {
			char fault[64], text[200];
			int result;

			snprintf(fault, sizeof fault, faults[i], n);
			snprintf(text, sizeof text,
				 "SB_STAND_IN=%s SHIMBLAS_LOGFILE=/dev/null "
				 "SHIMBLAS_DEVICE_MEMORY=400K SHIMBLAS_PINNED_MEMORY=512K",
				 fault);
			result = in_child(text, half_written, NULL);
			CU_ASSERT(result == 0 || result == 50);
			seen += result == 50;
		}
		CU_ASSERT(seen > 0);
	}
}

int main(void)
{
	/* Faults can only be asked of the stand-in. */
	const struct suite_case real[] = {
		{"every kernel form gives the bits of the oracle",
		 every_kernel_form_gives_the_bits_of_the_oracle},
		{"every plan makes the same bits", every_plan_makes_the_same_bits},
		{"many threads may call at once", many_threads_may_call_at_once},
	};
	const struct suite_case tests[] = {
		{"every kernel form gives the bits of the oracle",
		 every_kernel_form_gives_the_bits_of_the_oracle},
		{"older cards give them too", older_cards_give_them_too},
		{"every order of a late device gives them too",
		 every_order_of_a_late_device_gives_them_too},
		{"every plan makes the same bits", every_plan_makes_the_same_bits},
		{"many threads may call at once", many_threads_may_call_at_once},
		{"the deadline is the call's", the_deadline_is_the_calls},
		{"a device without a kernel is told as such",
		 a_device_without_a_kernel_is_told_as_such},
		{"a device that never answers is given up",
		 a_device_that_never_answers_is_given_up},
		{"what a failing device has left of C the CPU computes",
		 what_a_failing_device_has_left_of_c_the_cpu_computes},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	return child_driver_is_stand_in() ? SUITE("offload", tests) : SUITE("offload", real);
}
