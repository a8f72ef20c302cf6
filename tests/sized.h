/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of which only the sizes matter: it is judged, and nobody computes it. */
#ifndef SIZED_H
#define SIZED_H

#include "call.h"

static inline struct sb_call sized_call(int64_t m, int64_t n, int64_t k)
{
	static float memory[4];

	return (struct sb_call){.m = m,
				.n = n,
				.k = k,
				.lda = m,
				.ldb = k,
				.ldc = m,
				.alpha = 1,
				.a = memory,
				.b = memory,
				.c = memory};
}

static inline struct sb_call sized_square(int64_t n)
{
	return sized_call(n, n, n);
}

#endif
