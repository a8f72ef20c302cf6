/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one-sum result: what every strict kernel, on every device, cut in whatever tiles, must give
 * bit for bit (NaNs equal each other whatever their payload).
 *
 * For i < m, j < n: total = +0; for each slab of SB_SLAB values of k, ascending, total += chain
 * where chain = +0 and, for each k of the slab, ascending, chain = fma(A(i,k), B(k,j), chain); then
 * t = alpha * total and C(i,j) = beta == 0 ? t : t + beta * C(i,j), each operation rounded once.
 *
 *     A(i,k) = a[i * a_m + k * a_k]    B(k,j) = b[j * b_n + k * b_k]    C(i,j) = c[i + j * ldc]
 *
 * Nothing else of C is touched; beta == 0 does not read C. Strides may be anything, also negative
 * or zero. The rounding mode must be to nearest and denormals must not be flushed.
 */
#ifndef SB_ORACLE_H
#define SB_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void sb_oracle(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_m,
	       int64_t a_k, const float *b, int64_t b_n, int64_t b_k, float beta, float *c,
	       int64_t ldc);

/* Equal bits, or both NaN. */
bool sb_oracle_same(float x, float y);

#ifdef __cplusplus
}
#endif

#endif
