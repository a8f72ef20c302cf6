/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenMP program that multiplies from 16 threads at once, in a loop and in nested regions: the
 * bits of each product are those of the first of its size. Exits 0 if they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas_names.h"

enum { LARGEST = 150, SIZES = 5, CALLS = 400 };
static const int sizes[SIZES] = {3, 31, 64, 100, LARGEST};
static float a[LARGEST * LARGEST], b[LARGEST * LARGEST], first[SIZES][LARGEST * LARGEST];

static int differs(int which)
{
	int n = sizes[which], wrong;
	float *c = malloc(sizeof a);

	if (!c)
		return 1;
	memset(c, 0xff, sizeof a);
	cblas_sgemm(ROW_MAJOR, NO_TRANS, TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
	wrong = memcmp(c, first[which], (size_t)n * (size_t)n * sizeof *c) != 0;
	free(c);
	return wrong;
}

int main(void)
{
	int wrong = 0;

	for (int i = 0; i < LARGEST * LARGEST; i++) {
		a[i] = (float)(i % 1013) / 1013 - 0.5f;
		b[i] = (float)(i % 733) / 733 - 0.5f;
	}
	for (int s = 0; s < SIZES; s++)
		cblas_sgemm(ROW_MAJOR, NO_TRANS, TRANS, sizes[s], sizes[s], sizes[s], 1, a,
			    sizes[s], b, sizes[s], 0, first[s], sizes[s]);
#pragma omp parallel for num_threads(16) schedule(dynamic) reduction(+ : wrong)
	for (int i = 0; i < CALLS; i++)
		wrong += differs(i % SIZES);
#pragma omp parallel num_threads(4) reduction(+ : wrong)
	{
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
		for (int i = 0; i < 40; i++)
			wrong += differs(i % SIZES);
	}
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
