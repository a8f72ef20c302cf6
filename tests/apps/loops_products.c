/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of small whole numbers by both spellings, with each transposition; prints digests. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../cases/blas_names.h"

enum { SIDE = 400 };

static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];

/* All of C, what lies between its columns too. */
static unsigned long digest(void)
{
	unsigned long sum = 5381;

	for (int i = 0; i < SIDE * SIDE; i++) {
		uint32_t bits;

		memcpy(&bits, &c[i], sizeof bits);
		sum = sum * 33 + bits;
	}
	return sum;
}

static void multiply(int t)
{
	const int m = 200 + t, n = 150 + 3 * t, k = t % 4 == 3 ? 1 : 100 + 5 * t, ld = SIDE - t;
	const float alpha = t % 3 ? 1.0f : 0.5f, beta = t % 2 ? 2.0f : 0.0f;

	if (t & 8)
		cblas_sgemm(t & 4 ? ROW_MAJOR : COLUMN_MAJOR, t & 1 ? TRANS : NO_TRANS,
			    t & 2 ? TRANS : NO_TRANS, m, n, k, alpha, a, ld, b, ld, beta, c, ld);
	else
		sgemm_(t & 1 ? "T" : "N", t & 2 ? "T" : "N", &m, &n, &k, &alpha, a, &ld, b, &ld,
		       &beta, c, &ld);
}

int main(void)
{
	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = (float)(i * 31 % 13 - 6);
		b[i] = (float)(i * 37 % 11 - 5);
	}
	for (int t = 0; t < 16; t++) {
		for (int i = 0; i < SIDE * SIDE; i++)
			c[i] = (float)(i % 5);
		multiply(t);
		printf("%d %lx\n", t, digest());
	}
	return 0;
}
