/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call costs over the backend's own function: 100,000 calls of each a round, in turns of
 * 1,000, and the median turn of either side. The smallest difference of several rounds counts: the
 * rest is the machine's other work. Prints nanoseconds a call; exits 1 above the bound. Arguments:
 * the bound in nanoseconds, the backend's file, and "warm" where the shim is to have answered a
 * product on the GPU before.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blas_names.h"
#include "shimblas.h"

enum { TURNS = 100, CALLS = 1000, ROUNDS = 7, MOST_ROUNDS = 300 };

typedef void gemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
		  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

static float a[10000], b[10000], c[10000];

static const int shapes[][3] = {{4, 4, 4},   {20, 2, 2},  {64, 2, 2},
				{100, 4, 4}, {600, 3, 3}, {1, 90, 90}};

static double turn(gemm *call, int m, int n, int k)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < CALLS; i++)
		call(COLUMN_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, a, m, b, k, 0, c, m);
	clock_gettime(CLOCK_MONOTONIC, &after);
	return ((double)(after.tv_sec - before.tv_sec) * 1e9 +
		(double)(after.tv_nsec - before.tv_nsec)) /
	       CALLS;
}

/* Has the GPU answered this? */
static int warm_up(gemm *shim)
{
	enum { N = 700 };
	float *big = calloc((size_t)3 * N * N, sizeof *big);
	struct shimblas_decision last = {.size = sizeof last};
	__typeof__(&shimblas_last_decision) last_decision;
	int done;

	*(void **)&last_decision = dlsym(RTLD_DEFAULT, "shimblas_last_decision");
	if (!big || !last_decision)
		return 0;
	shim(COLUMN_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 1, big, N, big + N * N, N, 0,
	     big + 2 * N * N, N);
	done = !last_decision(&last) && strcmp(last.side, "gpu") == 0;
	free(big);
	return done;
}

static int ascending(const void *left, const void *right)
{
	double x = *(const double *)left, y = *(const double *)right;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof *values, ascending);
	return values[TURNS / 2];
}

/*
 * The least that the shim's median lies above the backend's, over all rounds: other work only ever
 * adds to it, so a busy machine is given more rounds to show a quiet moment.
 */
static double cost(gemm *shim, gemm *backend, int m, int n, int k, double bound)
{
	double least = 1e9;

	for (int round = 0; round < ROUNDS || (least > bound && round < MOST_ROUNDS); round++) {
		double with[TURNS], without[TURNS], over;

		for (int i = 0; i < TURNS; i++) {
			without[i] = turn(backend, m, n, k);
			with[i] = turn(shim, m, n, k);
		}
		over = median(with) - median(without);
		printf("%dx%dx%d: %.1f ns over %.1f\n", m, n, k, over, median(without));
		least = over < least ? over : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	void *library = argc >= 3 ? dlopen(argv[2], RTLD_NOW) : NULL;
	gemm *backend, *shim;
	double bound, most = 0;

	if (!library)
		return 2;
	*(void **)&backend = dlsym(library, "cblas_sgemm");
	*(void **)&shim = dlsym(RTLD_DEFAULT, "cblas_sgemm");
	if (!backend || shim == backend) {
		puts("nothing stands before the backend");
		return 2;
	}
	if (argc > 3 && !warm_up(shim)) {
		puts("the GPU has not answered");
		return 2;
	}
	bound = atof(argv[1]);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const int *at = shapes[i];
		double least = cost(shim, backend, at[0], at[1], at[2], bound);

		printf("%dx%dx%d, least: %.1f ns\n", at[0], at[1], at[2], least);
		most = least > most ? least : most;
	}
	return most > bound;
}
