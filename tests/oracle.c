/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -ffp-contract=off: only the fmaf may be fused. */
#include "oracle.h"
#include "args.h"
#include "unwatched.h"

#include <math.h>
#include <string.h>

SB_OWN_MEMORY static float sum(int64_t k, const float *a, int64_t a_k, const float *b, int64_t b_k)
{
	float total = 0.0f;

	for (int64_t begin = 0; begin < k; begin += SB_SLAB) {
		int64_t end = k - begin > SB_SLAB ? begin + SB_SLAB : k;
		float chain = 0.0f;

		for (int64_t p = begin; p < end; p++)
			chain = fmaf(a[p * a_k], b[p * b_k], chain);
		total += chain;
	}
	return total;
}

SB_OWN_MEMORY void sb_oracle(int64_t m, int64_t n, int64_t k, float alpha, const float *a,
			     int64_t a_m, int64_t a_k, const float *b, int64_t b_n, int64_t b_k,
			     float beta, float *c, int64_t ldc)
{
	for (int64_t j = 0; j < n; j++) {
		for (int64_t i = 0; i < m; i++) {
			float t = alpha * sum(k, a + i * a_m, a_k, b + j * b_n, b_k);

			if (beta != 0.0f) {
				float scaled = beta * c[i + j * ldc];

				t = t + scaled;
			}
			c[i + j * ldc] = t;
		}
	}
}

bool sb_oracle_same(float x, float y)
{
	return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}
