/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BLAS names that the programs in this folder call, as any BLAS declares them. Our own header
 * is not used: these programs know nothing of us. Return types that differ between libraries are
 * of no account here.
 */
#ifndef BLAS_NAMES_H
#define BLAS_NAMES_H

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };
enum { NO_TRANS = 111, TRANS = 112, CONJ_TRANS = 113 };

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
		 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void sgemm_(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
	    const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
	    const float *beta, float *c, const int *ldc);

#endif
