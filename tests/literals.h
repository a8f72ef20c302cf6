/* SPDX-License-Identifier: BSD-3-Clause */
/* Small products that other libraries got wrong, each with its report, and what they are. */
#ifndef SB_LITERALS_H
#define SB_LITERALS_H

#include <math.h>
#include <stdbool.h>

#include "distance.h"

#define NONE -12345.0f
static const struct literal {
	const char *report;
	int layout, trans_a, trans_b, m, n, k, lda, ldb, ldc;
	float alpha, beta;
	float a[8], b[8], c[8], wanted[8];
	bool product;	/* for either side, not a quick return */
	float emulated; /* what C begins with then: another order of additions, and truncated; or
			   NONE */
} literals[] = {
/* clang-format off */
#define INF INFINITY
#define N2 NOTRANS, NOTRANS, 2, 2
#define ABC {1, 2, 3, 4}, {5, 6, 7, 8}
	{"OpenBLAS#2914", ROW, NOTRANS, NOTRANS, 1, 1, 0, 2, 1, 2, 1, 0,
	 {0}, {0}, {.266733f, 5}, {0, 5}, false, NONE},
	{"OpenBLAS#620", ROW, N2, 3, 3, 2, 2, 1, 0,
	 {1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, {0}, {58, 64, 139, 154}, true, NONE},
	{"BLASX", ROW, TRANS, NOTRANS, 2, 2, 2, 2, 2, 2, 1, 0, ABC, {0}, {26, 30, 38, 44}, true, NONE},
	{"BLASX", COLUMN, TRANS, NOTRANS, 2, 2, 2, 2, 2, 2, 1, 0, ABC, {0}, {17, 39, 23, 53}, true, NONE},
	{"beta = 0 overwrites NaN", ROW, N2, 2, 2, 2, 2, 1, 0,
	 ABC, {NAN, INF, -INF, NAN}, {19, 22, 43, 50}, true, NONE},
	{"beta = -0 overwrites NaN", ROW, N2, 2, 2, 2, 2, 1, -0.0f,
	 ABC, {NAN, INF, -INF, NAN}, {19, 22, 43, 50}, true, NONE},
	{"alpha = 0 does not read A and B", ROW, N2, 2, 2, 2, 2, 0, 2,
	 {NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}, {1, 2, 3, 4}, {2, 4, 6, 8}, false, NONE},
	{"alpha = 0, NaN in C stays", ROW, N2, 2, 2, 2, 2, 0, 2,
	 {1}, {1}, {NAN, 2, 3, 4}, {NAN, 4, 6, 8}, false, NONE},
	{"alpha = 0, beta = 0", ROW, N2, 2, 2, 2, 2, 0, 0,
	 {NAN, NAN, NAN, NAN}, {1}, {NAN, 2, 3, 4}, {0, 0, 0, 0}, false, NONE},
	{"alpha = NaN", ROW, N2, 2, 2, 2, 2, NAN, 0, ABC, {1, 2, 3, 4}, {NAN, NAN, NAN, NAN}, true, NONE},
	{"beta = NaN", ROW, N2, 2, 2, 2, 2, 1, NAN, ABC, {1, 2, 3, 4}, {NAN, NAN, NAN, NAN}, true, NONE},
	{"0 * Inf", ROW, N2, 2, 2, 2, 2, 1, 0,
	 {0, 0, 1, 1}, {INF, 1, 1, 1}, {0}, {NAN, 0, INF, 2}, true, NONE},
	{"0 * NaN", ROW, N2, 2, 2, 2, 2, 1, 0,
	 {0, 0, 1, 1}, {NAN, 1, 1, 1}, {0}, {NAN, 0, NAN, 2}, true, NONE},
	{"k = 0 scales C", ROW, N2, 0, 1, 2, 2, 1, 3, {0}, {0}, {1, 2, 3, 4}, {3, 6, 9, 12}, false, NONE},
	/* Fused and in this order on every machine not older than 2013; netlib gives NaN. */
	{"an overflow inside the sum", ROW, NOTRANS, NOTRANS, 1, 1, 2, 2, 1, 1, 1, 0,
	 {3e38f, -3e38f}, {10, 10}, {0}, {INF}, true, 0},
	{"alpha after the sum", ROW, NOTRANS, NOTRANS, 1, 1, 1, 1, 1, 1, .01f, 0,
	 {3e38f}, {10}, {0}, {INF}, true, NONE},
	{"a denormal survives", ROW, NOTRANS, NOTRANS, 1, 1, 1, 1, 1, 1, 1, 0,
	 {1e-30f}, {1e-12f}, {0}, {1e-42f}, true, 1e-42f - 0x1p-149f},
	{"conjugate is transpose", COLUMN, CONJTRANS, CONJTRANS, 2, 2, 2, 2, 2, 2, 1, 0,
	 ABC, {0}, {19, 43, 22, 50}, true, NONE},
	{"pytorch#53635", ROW, NOTRANS, NOTRANS, 1, 1, 1, 1, 1, 1, 1, 0,
	 {1024.5f}, {1}, {0}, {1024.5f}, true, NONE},
	/* clang-format on */
};

#endif
