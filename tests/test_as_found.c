/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 1: what a call leaves as it found it, for each way a call can go: the first of a process and
 * the next, small and large, a product, nothing to do, and nonsense. SHIMBLAS_MODE says on which
 * side; run it again with SHIMBLAS_MODE=gpu where there is a device.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "distance.h"
#include "suite.h"

enum { N = 192 };
static float a[N * N], b[N * N], c[N * N];

static const struct way {
	const char *name;
	int m, n, k, lda;
	float alpha;
} ways[] = {
	{"a small product", 8, 8, 8, N, 1},
	{"a large product", N, N, N, N, 1},
	{"a large odd product", 191, 129, 187, N, 1},
	{"no columns", N, 0, N, N, 1},
	{"alpha = 0", N, N, N, N, 0},
	{"a short lda", N, N, N, 3, 1},
};
enum { WAYS = sizeof ways / sizeof *ways };

static distance_cblas *gemm;

static void make(const struct way *way)
{
	gemm(COLUMN, NOTRANS, NOTRANS, way->m, way->n, way->k, way->alpha, a, way->lda, b, N, 0, c,
	     N);
}

/* What can be seen of a thread from inside it. */
struct state {
	int error, rounding, cancel_state, cancel_type, descriptor;
	unsigned control;
	sigset_t mask, pending;
	char locale[64];
};

static void look(struct state *state)
{
	const char *mode = getenv("SHIMBLAS_MODE");

	memset(state, 0, sizeof *state);
	state->error = errno;
	state->rounding = fegetround();
#ifdef __SSE__
	/* Masks, rounding, FTZ and DAZ; and the flags, but for the backend's own inexact. */
	state->control = _mm_getcsr() & ~(unsigned)FE_INEXACT;
#endif
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state->cancel_state);
	pthread_setcancelstate(state->cancel_state, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &state->cancel_type);
	pthread_setcanceltype(state->cancel_type, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &state->mask);
	sigpending(&state->pending);
	/* A driver keeps files of its own. */
	if (!mode || strcmp(mode, "gpu") != 0) {
		state->descriptor = open("/dev/null", O_RDONLY);
		close(state->descriptor);
	}
	strncpy(state->locale, setlocale(LC_ALL, NULL), sizeof state->locale - 1);
}

static bool same_state(const struct way *way, const struct state *x, const struct state *y)
{
	if (memcmp(x, y, sizeof *x) == 0)
		return true;
	printf("    %s: errno %d/%d, round %d/%d, control %x/%x, cancel %d/%d, file %d/%d\n",
	       way->name, x->error, y->error, x->rounding, y->rounding, x->control, y->control,
	       x->cancel_state, y->cancel_state, x->descriptor, y->descriptor);
	return false;
}

static bool leaves_all(const struct way *way)
{
	struct state before, after;
	bool same;

	fflush(stdout);
	dlerror();
	errno = 4321;
	look(&before);
	errno = 4321;
	make(way);
	look(&after);
	same = same_state(way, &before, &after);
	return same && !dlerror();
}

static const struct way *first;

static void quiet(void)
{
	/* The backend's word on nonsense is not of interest here. */
	int null = open("/dev/null", O_WRONLY);

	dup2(null, STDERR_FILENO);
	close(null);
}

static void first_and_next(void)
{
	quiet();
	SUITE_EXPECT(leaves_all(first));
	for (int i = 0; i < WAYS; i++)
		SUITE_EXPECT(leaves_all(&ways[i]));
}

static void the_first_call_and_the_next_leave_all_as_found(void)
{
	for (int i = 0; i < WAYS; i++) {
		first = &ways[i];
		SUITE_CHILD_PASSES(first_and_next);
	}
}

static void other_environment(void)
{
	sigset_t set;

	quiet();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	fesetround(FE_UPWARD);
#ifdef __SSE__
	_mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ, DAZ */
#endif
	feraiseexcept(FE_DIVBYZERO);
	first_and_next();
}

static void so_do_calls_from_an_unusual_thread(void)
{
	first = &ways[1];
	SUITE_CHILD_PASSES(other_environment);
}

static void speaking(void)
{
	setenv("SHIMBLAS_VERBOSE", "2", 1);
	first_and_next();
}

static void refused(void)
{
	setenv("SHIMBLAS_MODE", "nonsense", 1);
	setenv("SHIMBLAS_BACKEND", "/nonexistent/libblas.so", 1);
	setenv("SHIMBLAS_DRIVER", "/nonexistent/libcuda.so", 1);
	first_and_next();
}

static void so_do_calls_that_are_told_of(void)
{
	first = &ways[1];
	SUITE_CHILD_PASSES(speaking);
	SUITE_CHILD_PASSES(refused);
}

static void on_zeros(void)
{
	memset(a, 0, sizeof a);
	memset(b, 0, sizeof b);
	feclearexcept(FE_ALL_EXCEPT);
	for (int i = 0; i < 3; i++)
		make(&ways[i]);
	SUITE_EXPECT(!fetestexcept(FE_ALL_EXCEPT));
}

static void clean_data_raises_no_flag(void)
{
	SUITE_CHILD_PASSES(on_zeros);
}

static const struct suite_case cases[] = {
	{"the first call and the next leave all as found",
	 the_first_call_and_the_next_leave_all_as_found},
	{"so do calls from an unusual thread", so_do_calls_from_an_unusual_thread},
	{"so do calls that are told of", so_do_calls_that_are_told_of},
	{"clean data raises no flag", clean_data_raises_no_flag},
};

int main(void)
{
	*(void **)&gemm = suite_symbol("cblas_sgemm");
	suite_fill(a, N * N);
	suite_fill(b, N * N);
	return SUITE("as found", cases);
}
