/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with a plain `sgemm` of its own that takes values, as vendors' C interfaces do. */
void sgemm(char trans_a, char trans_b, int m, int n, int k, float alpha, const float *a, int lda,
	   const float *b, int ldb, float beta, float *c, int ldc);

void sgemm(char trans_a, char trans_b, int m, int n, int k, float alpha, const float *a, int lda,
	   const float *b, int ldb, float beta, float *c, int ldc)
{
	(void)trans_a;
	(void)trans_b;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			float sum = 0;

			for (int p = 0; p < k; p++)
				sum += a[i + p * lda] * b[p + j * ldb];
			c[i + j * ldc] = alpha * sum + (beta != 0 ? beta * c[i + j * ldc] : 0);
		}
}
