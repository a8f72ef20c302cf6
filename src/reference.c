/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include "trace.h"

/* The position of the first illegal argument in SGEMM(TRANSA, TRANSB, M, N, K, ...), or 0. */
static int illegal(const struct sb_call *call)
{
	int64_t rows_a = call->trans_a ? call->k : call->m;
	int64_t rows_b = call->trans_b ? call->n : call->k;

	return call->unknown				 ? 1
	       : call->m < 0				 ? 3
	       : call->n < 0				 ? 4
	       : call->k < 0				 ? 5
	       : call->lda < (rows_a > 1 ? rows_a : 1)	 ? 8
	       : call->ldb < (rows_b > 1 ? rows_b : 1)	 ? 10
	       : call->ldc < (call->m > 1 ? call->m : 1) ? 13
							 : 0;
}

static double dot(const struct sb_call *call, int64_t i, int64_t j)
{
	int64_t a_i = call->trans_a ? call->lda : 1, a_k = call->trans_a ? 1 : call->lda;
	int64_t b_j = call->trans_b ? 1 : call->ldb, b_k = call->trans_b ? call->ldb : 1;
	const float *a = (const float *)call->a + i * a_i;
	const float *b = (const float *)call->b + j * b_j;
	double sum = 0;

	for (int64_t k = 0; k < call->k; k++)
		sum += (double)a[k * a_k] * (double)b[k * b_k];
	return sum;
}

void sb_reference(const struct sb_call *call)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	int position = illegal(call);

	if (position) {
		sb_trace_once(&said, "SGEMM: argument %d has an illegal value", position);
		return;
	}
	for (int64_t j = 0; j < call->n; j++)
		for (int64_t i = 0; i < call->m; i++) {
			float *c = (float *)call->c + i + j * call->ldc;
			double sum = 0;

			if (call->alpha != 0.0f && call->k > 0)
				sum = (double)call->alpha * dot(call, i, j);
			if (call->beta != 0.0f)
				sum += (double)call->beta * (double)*c;
			*c = (float)sum;
		}
}
