/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that was linked with -lshimblas in place of -lcblas. It uses our routine and others
 * that only the full BLAS has; exits 0 when every value is right.
 */
#include <stdio.h>

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
		 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);
int isamax_(const int *n, const float *x, const int *incx);

int main(void)
{
	const float a[] = {1, 2, 3, 4, 5, 6};
	const float b[] = {7, 8, 9, 10, 11, 12};
	float c[4] = {0};
	float y[4] = {1, 1, 1, 1};
	const int four = 4, one = 1;

	cblas_sgemm(101, 111, 111, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
	cblas_saxpy(4, 2, c, 1, y, 1);
	printf("%g %g %g %g | %g %g %g %g | %g %d\n", c[0], c[1], c[2], c[3], y[0], y[1], y[2],
	       y[3], cblas_sdot(4, c, 1, c, 1), isamax_(&four, c, &one));
	return !(c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154 && y[3] == 309 &&
		 isamax_(&four, c, &one) == 4);
}
