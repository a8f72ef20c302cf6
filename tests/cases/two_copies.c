/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program linked with a BLAS opens a second copy of one, RTLD_LOCAL, and uses both by turns; the
 * two must not bind into each other. Argument: the copy. Exits 0 when every value is right.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "blas_names.h"

enum { N = 96, ROUNDS = 20 };

static float a[N * N], c[N * N], d[N * N];

int main(int argc, char **argv)
{
	void (*copy)(int, int, int, int, int, int, float, const float *, int, const float *, int,
		     float, float *, int);
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int wrong = 0;

	if (!library)
		return 2;
	*(void **)&copy = dlsym(library, "cblas_sgemm");
	for (int i = 0; i < N * N; i++)
		a[i] = 1;
	for (int round = 0; round < ROUNDS; round++) {
		cblas_sgemm(ROW_MAJOR, NO_TRANS, TRANS, N, N, N, 1, a, N, a, N, 0, c, N);
		copy(ROW_MAJOR, NO_TRANS, TRANS, N, N, N, 2, a, N, a, N, 0, d, N);
		for (int i = 0; i < N * N; i++)
			wrong += c[i] != N || d[i] != 2 * N;
	}
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
