/* SPDX-License-Identifier: BSD-3-Clause */
/* Both sides answer and are compared: the device is made up here, with errors put in. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gemm.h"
#include "made_up.h"
#include "offload.h"
#include "distance.h"
#include "process.h"
#include "reference.h"
#include "settings.h"
#include "stats.h"
#include "suite.h"

static struct {
	enum sb_status status;
	int calls;
	float factor; /* of the last element */
	const void *c;
} device = {.factor = 1};

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	(void)finish;
	(void)context;
	device.calls++;
	device.c = call->c;
	if (device.status != SB_OK)
		return device.status;
	decision->kernel = "made_up";
	sb_reference(call);
	((float *)call->c)[call->m - 1 + (call->n - 1) * call->ldc] *= device.factor;
	return SB_OK;
}

/* C by the backend alone, which check mode must leave there to the bit. */
static bool as_the_backend_says(const struct sb_call *call, const float *before)
{
	float *alone = malloc(sb_call_bytes_c(call));
	bool same;

	memcpy(alone, before, sb_call_bytes_c(call));
	distance_openblas(call, alone);
	same = memcmp(alone, call->c, sb_call_bytes_c(call)) == 0;
	free(alone);
	return same;
}

static void compare(void)
{
	setenv("SHIMBLAS_MODE", "check", 1);
	for (int i = 0; i < 100; i++) {
		struct sb_call call = distance_random(40);
		float *before = distance_copy(&call);
		struct sb_last last;

		device.calls = 0;
		made_up_call(&call);
		SUITE_EXPECT(device.calls == 1 && device.c != call.c);
		SUITE_EXPECT(as_the_backend_says(&call, before));
		SUITE_EXPECT(sb_stats_last(&last) && last.outcome.side == SB_CPU);
		SUITE_EXPECT(last.outcome.reason == SB_REASON_FORCED);
		free(before);
		distance_close(&call);
	}
}

static void compare_and_exit(void)
{
	compare();
	suite_exit();
}

static void a_right_device_is_silent_till_the_end_and_c_is_the_backends(void)
{
	const char *said;

	SUITE_CHILD_PASSES(compare);
	CU_ASSERT_STRING_EQUAL(suite_child_said(), "");
	CU_ASSERT_EQUAL(suite_child(compare_and_exit), 0);
	said = suite_child_said();
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	CU_ASSERT_EQUAL(strstr(said, "shimblas: check: 100 calls compared, largest error 0."),
			said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, ", 0 above 1\n"));
}

static void compare_wrong(void)
{
	setenv("SHIMBLAS_MODE", "check", 1);
	device.factor = 1.5f;
	for (int i = 0; i < 3; i++) {
		struct sb_call call = distance_random(40);
		float *before;

		call.beta = 0;
		before = distance_copy(&call);
		made_up_call(&call);
		SUITE_EXPECT(as_the_backend_says(&call, before));
		free(before);
		distance_close(&call);
	}
	suite_exit();
}

static void an_error_is_told_once_and_counted(void)
{
	CU_ASSERT_EQUAL(suite_child(compare_wrong), 0);
	CU_ASSERT_EQUAL(suite_child_lines(), 2);
	CU_ASSERT_EQUAL(strstr(suite_child_said(), "shimblas: check: the sides differ by "),
			suite_child_said());
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "check: 3 calls compared, "));
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), ", 3 above 1\n"));
}

static void compare_aloud(void)
{
	struct sb_call call = distance_random(40);

	setenv("SHIMBLAS_MODE", "check", 1);
	setenv("SHIMBLAS_VERBOSE", "1", 1);
	made_up_call(&call);
}

static void a_line_tells_the_error_of_a_call(void)
{
	SUITE_CHILD_PASSES(compare_aloud);
	CU_ASSERT_EQUAL(suite_child_lines(), 2);
	CU_ASSERT_EQUAL(strstr(suite_child_said(), "shimblas: check m="), suite_child_said());
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), " error=0."));
}

static void compare_nothing(void)
{
	struct sb_call call = distance_random(40);
	float *before = distance_copy(&call);
	struct sb_last last;

	setenv("SHIMBLAS_MODE", "check", 1);
	device.status = SB_NO_DEVICE;
	made_up_call(&call);
	SUITE_EXPECT(as_the_backend_says(&call, before));
	SUITE_EXPECT(sb_stats_last(&last) && last.outcome.reason == SB_REASON_NO_GPU);
	suite_exit();
}

static void without_a_device_nothing_is_compared_and_that_is_said(void)
{
	CU_ASSERT_EQUAL(suite_child(compare_nothing), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "check: 0 calls compared"));
}

/* |A||B| overflows, AB does not. */
static void compare_clean(void)
{
	float a[2] = {3e38f, 3e38f}, b[2] = {1, -1}, c[1] = {0};
	struct sb_call call = {.m = 1,
			       .n = 1,
			       .k = 2,
			       .lda = 1,
			       .ldb = 2,
			       .ldc = 1,
			       .alpha = 1,
			       .a = a,
			       .b = b,
			       .c = c};

	setenv("SHIMBLAS_MODE", "check", 1);
	made_up_call(&call);
	feclearexcept(FE_ALL_EXCEPT);
	made_up_call(&call);
	SUITE_EXPECT(!fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT));
	SUITE_EXPECT(c[0] == 0);
}

static void comparing_raises_no_flag(void)
{
	SUITE_CHILD_PASSES(compare_clean);
	CU_ASSERT_STRING_EQUAL(suite_child_said(), "");
}

static void compare_special(void)
{
	static const float specials[] = {NAN, INFINITY, -INFINITY, 0, 1e-40f, 3e38f};

	setenv("SHIMBLAS_MODE", "check", 1);
	for (int i = 0; i < 200; i++) {
		struct sb_call call = distance_random(12);

		/* One element, so that the order of summation cannot make Inf or NaN of it. */
		((float *)call.a)[0] = specials[suite_between(0, 4)];
		made_up_call(&call);
		distance_close(&call);
	}
}

static void nan_and_inf_on_both_sides_are_no_error(void)
{
	SUITE_CHILD_PASSES(compare_special);
	CU_ASSERT_STRING_EQUAL(suite_child_said(), "");
}

static void in_child(void)
{
	struct sb_call call = distance_random(10);

	made_up_call(&call);
	suite_exit();
}

static void fork_after_comparing(void)
{
	compare();
	SUITE_EXPECT(suite_child(in_child) == 0);
	SUITE_EXPECT(strstr(suite_child_said(), "check: 1 calls compared") != NULL);
}

static void a_forked_child_counts_its_own(void)
{
	SUITE_CHILD_PASSES(fork_after_comparing);
}

static const struct suite_case cases[] = {
	{"a right device is silent till the end, and C is the backend's",
	 a_right_device_is_silent_till_the_end_and_c_is_the_backends},
	{"an error is told once and counted", an_error_is_told_once_and_counted},
	{"a line tells the error of a call", a_line_tells_the_error_of_a_call},
	{"without a device nothing is compared, and that is said",
	 without_a_device_nothing_is_compared_and_that_is_said},
	{"comparing raises no flag", comparing_raises_no_flag},
	{"NaN and Inf on both sides are no error", nan_and_inf_on_both_sides_are_no_error},
	{"a forked child counts its own", a_forked_child_counts_its_own},
};

int main(void)
{
	for (int row = 0; row < sb_settings_count(); row++)
		unsetenv(sb_settings_row(row)->variable);
	return SUITE("check", cases);
}
