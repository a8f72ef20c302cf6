/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of small whole numbers, which has the same bits on each side; wrong elements are
 * counted. */
#ifndef WHOLE_PRODUCT_H
#define WHOLE_PRODUCT_H

#include <stdlib.h>

#include "blas_names.h"

enum { N = 260 };

struct operands {
	float a[N * N], b[N * N], c[N * N];
};

static inline int multiply_in(struct operands *o, int n)
{
	int wrong = 0;

	for (int i = 0; i < n * n; i++) {
		o->a[i] = (float)(i % 7 - 3);
		o->b[i] = (float)(i % 5 - 2);
		o->c[i] = (float)(i % 3);
	}
	cblas_sgemm(COLUMN_MAJOR, NO_TRANS, TRANS, n, n, n, 1, o->a, n, o->b, n, 2, o->c, n);
	/* Every seventeenth column is enough to see a block that is missing. */
	for (int j = 0; j < n; j += 17)
		for (int i = 0; i < n; i++) {
			float wanted = 2 * (float)((i + j * n) % 3);

			for (int k = 0; k < n; k++)
				wanted += o->a[i + k * n] * o->b[j + k * n];
			wrong += o->c[i + j * n] != wanted;
		}
	return wrong;
}

static inline int multiply(void)
{
	struct operands *o = malloc(sizeof *o);
	int wrong = o ? multiply_in(o, N) : 1;

	free(o);
	return wrong;
}

#endif
