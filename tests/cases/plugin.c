/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in that brings a BLAS of its own under names that others use too, as two wheels in one
 * process do. Built twice, with different PLUGIN numbers. `run` calls through the names, so that
 * a preload stands in between; the number that comes back says whose function answered. Weak, since
 * a compiler may take the calls of a strong function in the same file for its own.
 */
#include <stdint.h>

__attribute__((weak)) void sgemm_(const char *trans_a, const char *trans_b, const int *m,
				  const int *n, const int *k, const float *alpha, const float *a,
				  const int *lda, const float *b, const int *ldb, const float *beta,
				  float *c, const int *ldc);
__attribute__((weak)) void scipy_cblas_sgemm64_(int order, int trans_a, int trans_b, int64_t m,
						int64_t n, int64_t k, float alpha, const float *a,
						int64_t lda, const float *b, int64_t ldb,
						float beta, float *c, int64_t ldc);
float run(int spelling);

/* Not a product: what identifies the function that was reached, and its arguments. */
void sgemm_(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
	    const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
	    const float *beta, float *c, const int *ldc)
{
	(void)a;
	(void)b;
	*c = (float)(1000 * PLUGIN + 100 * *m + 10 * *n + *k) + *alpha + *beta;
	if (*trans_a != 'N' || *trans_b != 'T' || *lda != 2 || *ldb != 3 || *ldc != 2)
		*c = -1;
}

void scipy_cblas_sgemm64_(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
			  float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
			  float beta, float *c, int64_t ldc)
{
	(void)a;
	(void)b;
	*c = (float)(10000 * PLUGIN + 100 * m + 10 * n + k) + alpha + beta;
	if (order != 102 || trans_a != 111 || trans_b != 112 || lda != 2 || ldb != 3 || ldc != 2)
		*c = -1;
}

float run(int spelling)
{
	static const int two = 2, three = 3;
	static const float quarter = 0.25F, eighth = 0.125F;
	static const float a[16], b[16];
	float c[8] = {0};

	if (spelling == 0)
		sgemm_("N", "T", &two, &three, &two, &quarter, a, &two, b, &three, &eighth, c,
		       &two);
	else
		scipy_cblas_sgemm64_(102, 111, 112, 2, 3, 2, quarter, a, 2, b, 3, eighth, c, 2);
	return *c;
}
