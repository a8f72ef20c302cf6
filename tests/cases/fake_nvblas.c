/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libnvblas.so.13 as far as a program can tell: preloaded, it reads its configuration and hands
 * sgemm_ to the BLAS named there. What it was told is appended to the file FAKE_NVBLAS_LOG.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void (*sgemm)(const char *, const char *, const int *, const int *, const int *,
		     const float *, const float *, const int *, const float *, const int *,
		     const float *, float *, const int *, size_t, size_t);

static __attribute__((constructor)) void start(void)
{
	FILE *in = fopen(getenv("NVBLAS_CONFIG_FILE") ? getenv("NVBLAS_CONFIG_FILE") : "", "r");
	FILE *out = fopen(getenv("FAKE_NVBLAS_LOG") ? getenv("FAKE_NVBLAS_LOG") : "/dev/null", "a");
	char line[4096];

	while (in && out && fgets(line, sizeof line, in)) {
		char path[4096];

		fputs(line, out);
		if (sscanf(line, "NVBLAS_CPU_BLAS_LIB %4095s", path) == 1) {
			void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

			if (library)
				*(void **)&sgemm = dlsym(library, "sgemm_");
		}
	}
	if (out)
		fclose(out);
	if (in)
		fclose(in);
	puts("words that are no row");
}

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
	    const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
	    const float *beta, float *c, const int *ldc, size_t la, size_t lb)
{
	if (sgemm)
		sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, la, lb);
}
