/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_blas.h"

typedef FAKE_INTEGER integer;

extern struct fake_seen fake_seen;
struct fake_seen fake_seen;

void sgemm_(const char *trans_a, const char *trans_b, const integer *m, const integer *n,
	    const integer *k, const float *alpha, const float *a, const integer *lda,
	    const float *b, const integer *ldb, const float *beta, float *c, const integer *ldc,
	    size_t length_a, size_t length_b);
void sgemm_(const char *trans_a, const char *trans_b, const integer *m, const integer *n,
	    const integer *k, const float *alpha, const float *a, const integer *lda,
	    const float *b, const integer *ldb, const float *beta, float *c, const integer *ldc,
	    size_t length_a, size_t length_b)
{
	const void *const pointers[] = {trans_a, trans_b, m,   n,    k, alpha, a,
					lda,	 b,	  ldb, beta, c, ldc};

	fake_seen.calls++;
	for (int i = 0; i < 13; i++)
		fake_seen.pointer[i] = pointers[i];
	fake_seen.length[0] = length_a;
	fake_seen.length[1] = length_b;
	fake_seen.word[3] = *m;
	if (*m > 0 && *n > 0)
		*c = FAKE_NUMBER;
}

void cblas_sgemm(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
		 float alpha, const void *a, int64_t lda, const void *b, int64_t ldb, float beta,
		 void *c, int64_t ldc);
void cblas_sgemm(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,
		 float alpha, const void *a, int64_t lda, const void *b, int64_t ldb, float beta,
		 void *c, int64_t ldc)
{
	const int64_t words[] = {layout, trans_a, trans_b, m, n, k, lda, ldb, ldc};

	fake_seen.calls++;
	for (int i = 0; i < 9; i++)
		fake_seen.word[i] = words[i];
	fake_seen.alpha = alpha;
	fake_seen.beta = beta;
	fake_seen.a = a;
	fake_seen.b = b;
	fake_seen.c = c;
	if ((integer)m > 0 && (integer)n > 0)
		*(float *)c = FAKE_NUMBER;
}

integer isamax_(const integer *n, const float *x, const integer *step);
integer isamax_(const integer *n, const float *x, const integer *step)
{
	integer best = 0;

	for (integer i = 0; i < *n; i++)
		if (best == 0 || x[i * *step] > x[(best - 1) * *step])
			best = i + 1;
	return best;
}
