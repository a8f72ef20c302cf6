/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 20 threads x 500 calls of sizes from 4 to 160, then 4 threads each with another transpose
 * variant at k = 128. All of one size get the same operands, so every result must have the bits of
 * the first. Prints how many had not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas_names.h"

enum { THREADS = 20, CALLS = 500, LARGEST = 160 };
static const int sizes[] = {4, 17, 32, 64, 100, 160};
enum { SIZES = sizeof sizes / sizeof *sizes };

static float a[LARGEST * LARGEST], b[LARGEST * LARGEST], first[SIZES][LARGEST * LARGEST];
static atomic_int wrong;

static void *many(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument;
	float *c = malloc(sizeof a);

	for (int i = 0; c && i < CALLS; i++) {
		unsigned size = (seed + (unsigned)i) % SIZES;
		int n = sizes[size];

		/* The largest is a twentieth of the calls, or it would be all of the time. */
		if (n == LARGEST && i % 4)
			continue;
		memset(c, 0xff, sizeof a);
		cblas_sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
		if (memcmp(c, first[size], (size_t)n * (size_t)n * sizeof *c))
			atomic_fetch_add(&wrong, 1);
	}
	free(c);
	return NULL;
}

static void *variant(void *argument)
{
	enum { K = 128 };
	size_t which = (size_t)argument;
	float *c = malloc(K * K * sizeof *c), *ones = malloc(K * K * sizeof *ones);

	for (int i = 0; c && ones && i < K * K; i++)
		ones[i] = 1;
	for (int round = 0; c && ones && round < 50; round++) {
		cblas_sgemm(COLUMN_MAJOR, which & 1 ? TRANS : NO_TRANS,
			    which & 2 ? TRANS : NO_TRANS, K, K, K, 1, ones, K, ones, K, 0, c, K);
		for (int i = 0; i < K * K; i++)
			if (c[i] != K)
				atomic_fetch_add(&wrong, 1);
	}
	free(c);
	free(ones);
	return NULL;
}

static void run(int threads, void *(*body)(void *))
{
	pthread_t thread[THREADS];

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, body, (void *)(size_t)i))
			abort();
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	unsigned state = 1;

	for (int i = 0; i < LARGEST * LARGEST; i++) {
		state = state * 1664525 + 1013904223;
		a[i] = (float)(int)(state >> 8) / 8388608 - 1;
		state = state * 1664525 + 1013904223;
		b[i] = (float)(int)(state >> 8) / 8388608 - 1;
	}
	for (int size = 0; size < SIZES; size++)
		cblas_sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, sizes[size], sizes[size], sizes[size], 1,
			    a, sizes[size], b, sizes[size], 0, first[size], sizes[size]);
	run(THREADS, many);
	run(4, variant);
	printf("%d wrong\n", atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}
