/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the plain, by-value `sgemm` of by_value_library.so: a preloaded one would crash it. */
#include <stdio.h>

void sgemm(char trans_a, char trans_b, int m, int n, int k, float alpha, const float *a, int lda,
	   const float *b, int ldb, float beta, float *c, int ldc);

int main(void)
{
	static const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
	float c[4];

	sgemm('N', 'N', 2, 2, 3, 1, b, 2, a, 3, 0, c, 2);
	printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
	return !(c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154);
}
