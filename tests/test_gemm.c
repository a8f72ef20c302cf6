/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a call, with a device made up here: this program's sb_offload() stands in for the
 * library's.
 */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>

#include "check.h"
#include "fake_blas.h"
#include "gemm.h"
#include "made_up.h"
#include "offload.h"
#include "distance.h"
#include "process.h"
#include "reference.h"
#include "settings.h"
#include "stats.h"
#include "suite.h"

static struct sb_name cblas = {"cblas_sgemm", SB_CBLAS, 32, 0, "cblas_sgemm", NULL, 0};

/* What the made-up device does. */
static struct {
	enum sb_status status;
	int calls;
	float error;   /* added to each element */
	bool halfway;  /* leaves the last column to the CPU */
	bool disturbs; /* errno, flags and whatever a driver may leave behind */
	bool nested;   /* calls the library again */
	bool was_nested;
	struct sb_call call;
} device;

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	device.calls++;
	device.call = *call;
	device.was_nested = sb_process_nested();
	if (device.disturbs) {
		errno = EPERM;
		feraiseexcept(FE_DIVBYZERO);
	}
	if (device.nested) {
		struct sb_call inner = distance_random(20);
		struct sb_last last;

		device.nested = false;
		made_up_call(&inner);
		sb_stats_last(&last);
		device.was_nested = last.outcome.reason == SB_REASON_NESTED;
		distance_close(&inner);
	}
	if (device.status != SB_OK)
		return device.status;
	decision->kernel = "made_up";
	if (device.halfway) {
		struct sb_call rest = *call, done = *call;

		done.n--;
		sb_reference(&done);
		rest.n = 1;
		rest.b = (const float *)call->b + (call->n - 1) * (call->trans_b ? 1 : call->ldb);
		rest.c = (float *)call->c + (call->n - 1) * call->ldc;
		finish(context, &rest);
	} else {
		sb_reference(call);
	}
	for (int64_t j = 0; device.error != 0 && j < call->n; j++)
		for (int64_t i = 0; i < call->m; i++)
			((float *)call->c)[i + j * call->ldc] += device.error;
	return SB_OK;
}

static bool last_is(enum sb_side side, enum sb_reason reason)
{
	struct sb_last last;

	if (sb_stats_last(&last) && last.outcome.side == side && last.outcome.reason == reason)
		return true;
	printf("    %s %s\n", sb_side_word(last.outcome.side), sb_reason_word(last.outcome.reason));
	return false;
}

/* --- on the device --- */

static void the_device_answers_once(void)
{
	sb_route_set_mode(SB_MODE_GPU);
	for (int i = 0; i < 20; i++) {
		struct sb_call call = distance_random(30);
		float *before = distance_copy(&call);
		struct sb_last last;

		device.calls = 0;
		made_up_call(&call);
		SUITE_EXPECT(device.calls == 1 && device.was_nested);
		SUITE_EXPECT(memcmp(&device.call, &call, sizeof call) == 0);
		SUITE_EXPECT(distance_of(&call, before) <= 1);
		SUITE_EXPECT(last_is(SB_GPU, SB_REASON_FORCED) && sb_stats_last(&last));
		SUITE_EXPECT(last.outcome.kernel && strcmp(last.outcome.kernel, "made_up") == 0);
		SUITE_EXPECT(!sb_process_nested());
		free(before);
		distance_close(&call);
	}
}

static void a_call_that_suits_the_device_never_meets_the_backend(void)
{
	SUITE_CHILD_PASSES(the_device_answers_once);
}

static void halfway(void)
{
	sb_route_set_mode(SB_MODE_GPU);
	device.halfway = true;
	for (int i = 0; i < 50; i++) {
		struct sb_call call = distance_random(30);
		float *before = distance_copy(&call);

		made_up_call(&call);
		SUITE_EXPECT(distance_of(&call, before) <= 1);
		SUITE_EXPECT(last_is(SB_GPU, SB_REASON_FORCED));
		free(before);
		distance_close(&call);
	}
}

static void halfway_cblas(void)
{
	sb_route_set_mode(SB_MODE_GPU);
	device.halfway = true;
	for (int i = 0; i < 50; i++) {
		struct sb_call call = distance_random(30);
		float *before = distance_copy(&call);
		const struct sb_cblas_arguments x = {COLUMN,
						     call.trans_a ? TRANS : NOTRANS,
						     call.trans_b ? TRANS : NOTRANS,
						     call.m,
						     call.n,
						     call.k,
						     call.alpha,
						     call.a,
						     call.lda,
						     call.b,
						     call.ldb,
						     call.beta,
						     call.c,
						     call.ldc};
		const struct sb_forward forward = {&cblas, made_up_caller(), &call, {.cblas = &x}};

		sb_gemm(&forward);
		SUITE_EXPECT(distance_of(&call, before) <= 1);
		free(before);
		distance_close(&call);
	}
}

static void what_the_device_leaves_the_backend_finishes(void)
{
	SUITE_CHILD_PASSES(halfway);
	SUITE_CHILD_PASSES(halfway_cblas);
}

/* --- not on the device --- */

static const struct failure {
	enum sb_status status;
	enum sb_reason reason;
} failures[] = {
	{SB_DECLINE, SB_REASON_DECLINED},  {SB_NO_DEVICE, SB_REASON_NO_GPU},
	{SB_NO_IMAGE, SB_REASON_NO_IMAGE}, {SB_NO_MEMORY, SB_REASON_MEMORY},
	{SB_BUSY, SB_REASON_BUSY},	   {SB_LOST, SB_REASON_LOST},
};
static const struct failure *failure;

static void fail(void)
{
	struct fake_seen *seen =
		dlsym(dlopen(suite_built("tests/fake_one.so"), RTLD_NOW), "fake_seen");
	struct sb_call call = distance_random(20);
	float *before;
	int m = (int)call.m, n = (int)call.n, k = (int)call.k;
	int lda = (int)call.lda, ldb = (int)call.ldb, ldc = (int)call.ldc;
	const struct sb_f77_arguments x = {call.trans_a ? "c" : "n",
					   call.trans_b ? "C" : "n",
					   &m,
					   &n,
					   &k,
					   &call.alpha,
					   call.a,
					   &lda,
					   call.b,
					   &ldb,
					   &call.beta,
					   call.c,
					   &ldc};
	const struct sb_forward forward = {&made_up_sgemm, made_up_caller(), &call, {.f77 = &x}};

	setenv("SHIMBLAS_BACKEND", suite_built("tests/fake_one.so"), 1);
	device.status = failure->status;
	before = distance_copy(&call);
	sb_route_set_mode(SB_MODE_GPU);
	sb_gemm(&forward);
	SUITE_EXPECT(device.calls == 1 && seen->calls == 1);
	SUITE_EXPECT(memcmp(seen->pointer, &x, sizeof x) == 0);
	SUITE_EXPECT(*(float *)call.c == 1);
	*(float *)call.c = *before;
	SUITE_EXPECT(memcmp(call.c, before, sb_call_bytes_c(&call)) == 0);
	SUITE_EXPECT(last_is(SB_CPU, failure->reason));
}

static void a_failure_leaves_the_callers_own_arguments_to_the_backend(void)
{
	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
		failure = &failures[i];
		SUITE_CHILD_PASSES(fail);
	}
}

static void forward_foreign(void)
{
	void *library = dlopen(suite_built("tests/fake_wide.so"), RTLD_NOW);
	struct fake_seen *seen = dlsym(library, "fake_seen");
	/* Illegal to 64-bit integers, a product of NULL pointers to 32-bit ones. */
	int64_t m = (int64_t)0x8000000000000040, n = 64, k = 64, ld = 64;
	float alpha = 1, beta = 0;
	const struct sb_call call = {
		.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64, .alpha = 1};
	const struct sb_f77_arguments x = {"N", "N",  &m,  &n,	  &k,	&alpha, NULL,
					   &ld, NULL, &ld, &beta, NULL, &ld};
	const struct sb_forward forward = {&made_up_sgemm, made_up_caller(), &call, {.f77 = &x}};

	setenv("SHIMBLAS_BACKEND", suite_built("tests/fake_wide.so"), 1);
	sb_gemm(&forward);
	SUITE_EXPECT(device.calls == 0 && seen->calls == 1);
	SUITE_EXPECT(memcmp(seen->pointer, &x, sizeof x) == 0 && seen->word[3] == m);
	SUITE_EXPECT(last_is(SB_CPU, SB_REASON_INVALID));
}

static void foreign_gpu(void)
{
	setenv("SHIMBLAS_MODE", "gpu", 1);
	forward_foreign();
}

static void foreign_check(void)
{
	setenv("SHIMBLAS_MODE", "check", 1);
	forward_foreign();
}

static void sizes_of_a_foreign_width_mean_nothing(void)
{
	SUITE_CHILD_PASSES(foreign_gpu);
	SUITE_CHILD_PASSES(foreign_check);
}

static void call_inside(void)
{
	struct sb_call call = distance_random(30);
	float *before = distance_copy(&call);

	sb_route_set_mode(SB_MODE_GPU);
	device.nested = true;
	made_up_call(&call);
	SUITE_EXPECT(device.calls == 1 && device.was_nested);
	SUITE_EXPECT(distance_of(&call, before) <= 1);
	SUITE_EXPECT(last_is(SB_GPU, SB_REASON_FORCED));
}

static void a_call_inside_a_call_is_the_backends(void)
{
	SUITE_CHILD_PASSES(call_inside);
}

static void *cancel_me(void *context)
{
	struct sb_call call = distance_random(10);
	sigset_t set, after;
	int state;

	(void)context;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	fesetround(FE_DOWNWARD);
	feclearexcept(FE_ALL_EXCEPT);
	errno = 4321;
	made_up_call(&call);
	SUITE_EXPECT(errno == 4321);
	SUITE_EXPECT(fegetround() == FE_DOWNWARD && !fetestexcept(FE_ALL_EXCEPT));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	SUITE_EXPECT(state == PTHREAD_CANCEL_ENABLE);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	SUITE_EXPECT(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGPIPE));
	SUITE_EXPECT(!dlerror());
	distance_close(&call);
	return NULL;
}

static void disturb(void)
{
	pthread_t thread;

	sb_route_set_mode(SB_MODE_GPU);
	device.disturbs = true;
	pthread_create(&thread, NULL, cancel_me, NULL);
	pthread_join(thread, NULL);
	SUITE_EXPECT(device.calls == 1);
}

static void the_thread_is_left_as_found(void)
{
	SUITE_CHILD_PASSES(disturb);
}

static void small_way(void)
{
	struct sb_totals totals;
	struct sb_call first = distance_random(4);
	sb_function function;

	sb_route_set_mode(SB_MODE_AUTO);
	/* The first call of a caller takes the long way. */
	SUITE_EXPECT(!sb_gemm_small(&made_up_sgemm, made_up_caller(), 4, 5, 6));
	made_up_call(&first);
	sb_stats_reset();
	function = sb_gemm_small(&made_up_sgemm, made_up_caller(), 4, 5, 6);
	SUITE_EXPECT(function &&
		     function == sb_backend_find(&made_up_sgemm, made_up_caller())->function);
	SUITE_EXPECT(sb_gemm_small(&made_up_sgemm, made_up_caller(), 100000, 1, 0) == function);
	SUITE_EXPECT(sb_gemm_small(&made_up_sgemm, made_up_caller(), 4, 5, 600) == function);
	SUITE_EXPECT(!sb_gemm_small(&made_up_sgemm, made_up_caller(), 128, 128, 128));
	SUITE_EXPECT(!sb_gemm_small(&made_up_sgemm, made_up_caller(), -1, 1, 1));
	SUITE_EXPECT(!sb_gemm_small(&made_up_sgemm, made_up_caller(), SB_SMALL_EXTENT, 0, 0));
	sb_stats_read(&totals);
	SUITE_EXPECT(sb_stats_sum(&totals, SB_CPU, SB_REASON_SMALL, SB_BUCKETS).calls == 3);
	SUITE_EXPECT(sb_stats_sum(&totals, SB_SIDES, SB_REASONS, SB_BUCKETS).calls == 3);
	SUITE_EXPECT(sb_stats_sum(&totals, SB_SIDES, SB_REASONS, SB_BUCKETS).flops ==
		     2 * (4 * 5 * 6 + 4 * 5 * 600));
	sb_route_set_mode(SB_MODE_GPU);
	SUITE_EXPECT(!sb_gemm_small(&made_up_sgemm, made_up_caller(), 1, 1, 1));
	SUITE_EXPECT(!sb_gemm_small(&made_up_sgemm, made_up_caller(), 0, 1, 1));
}

static void a_small_call_goes_straight_to_the_backend(void)
{
	SUITE_CHILD_PASSES(small_way);
}

static const struct suite_case cases[] = {
	{"a call that suits the device never meets the backend",
	 a_call_that_suits_the_device_never_meets_the_backend},
	{"what the device leaves, the backend finishes",
	 what_the_device_leaves_the_backend_finishes},
	{"a failure leaves the caller's own arguments to the backend",
	 a_failure_leaves_the_callers_own_arguments_to_the_backend},
	{"sizes of a foreign width mean nothing", sizes_of_a_foreign_width_mean_nothing},
	{"a call inside a call is the backend's", a_call_inside_a_call_is_the_backends},
	{"the thread is left as found", the_thread_is_left_as_found},
	{"a small call goes straight to the backend", a_small_call_goes_straight_to_the_backend},
};

int main(void)
{
	for (int row = 0; row < sb_settings_count(); row++)
		unsetenv(sb_settings_row(row)->variable);
	/* A device for the judge to see; offloading to it is made up here. */
	setenv("SHIMBLAS_DRIVER", suite_built("tests/stand_in/libcuda.so.1"), 1);
	suite_scratch();
	return SUITE("gemm", cases);
}
