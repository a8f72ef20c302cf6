/* SPDX-License-Identifier: BSD-3-Clause */
/* A BLAS of three loops, for machines that no other is at hand for. */
#include <stdbool.h>
#include <stdint.h>

#include "../cases/blas_names.h"

struct operand {
	const float *at;
	int64_t ld;
	bool turned;
};

static float element(const struct operand *x, int64_t i, int64_t j)
{
	return x->turned ? x->at[j + i * x->ld] : x->at[i + j * x->ld];
}

static void multiply(int m, int n, int k, float alpha, struct operand a, struct operand b,
		     float beta, float *c, int64_t ldc)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			float sum = 0, *to = &c[i + j * ldc];

			for (int64_t p = 0; p < k; p++)
				sum += element(&a, i, p) * element(&b, p, j);
			*to = alpha * sum + (beta != 0 ? beta * *to : 0);
		}
}

void sgemm_(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
	    const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
	    const float *beta, float *c, const int *ldc)
{
	multiply(*m, *n, *k, *alpha, (struct operand){a, *lda, *trans_a != 'N'},
		 (struct operand){b, *ldb, *trans_b != 'N'}, *beta, c, *ldc);
}

void cblas_sgemm(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
		 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
	const struct operand x = {a, lda, trans_a != NO_TRANS}, y = {b, ldb, trans_b != NO_TRANS};

	if (layout == COLUMN_MAJOR)
		multiply(m, n, k, alpha, x, y, beta, c, ldc);
	else
		multiply(n, m, k, alpha, y, x, beta, c, ldc);
}
