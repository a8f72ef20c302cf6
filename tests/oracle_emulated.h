/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The oracle of emulated arithmetic: what the tensor-core kernels must give bit for bit (NaNs equal
 * each other whatever their payload), whole and launch by launch. The tensor core itself is
 * stand_in/tensor_core.h's. The rounding mode must be to nearest and denormals must not be flushed.
 *
 * C is taken in tiles of 128 x 128, and each is made in one of three ways:
 *
 * x3, if no element of the tile's rows of A and columns of B is flagged. In a slab of SB_SPLIT_SLAB
 * values of k a row of A (a column of B) is scaled and split:
 *     y = x * 2^e, where the largest |y| lies in [2^14, 2^15); e = 0 for zeros
 *     hi = fp16(y)    lo = fp16((y - hi) * 2^11)
 * The 128 rows are flagged by an element that is not finite, by |e| > 56 (e = 0 then), by one that
 * scaling makes zero and by one that is not hi + lo * 2^-11 to 2^-22 of itself. Then
 *     total = +0; for each slab:
 *         cross = +0; for each 32 values of k:
 *             temp = +0; temp += hi * hi; cross += lo * hi; cross += hi * lo
 *             total = fma(temp, S, total)
 *         total = fma(cross, S * 2^-11, total)
 * where S = 2^-(e of A + e of B) and each sixteen products, k ascending, are a step of the tensor
 * core. k beyond the end counts as zeros up to whole 64s.
 *
 * b6, if the tile is flagged (all of them are where k is below SB_ORACLE_FP16_K) and each element
 * of its operands is finite and the exact sum of
 *     b0 = bf16(x)    b1 = bf16(x - b0)    b2 = bf16(x - b0 - b1)
 * Then
 *     total = +0; for each 32 values of k:
 *         temp = +0; temp += a0 b2; a1 b1; a2 b0; a0 b1; a1 b0; a0 b0, each for all of the 32
 *         total += temp
 *
 * strict otherwise: the one-sum rule (oracle.h).
 *
 * x3 and b6 make the total of each chunk of k apart (sb_split_chunk() values), and result = +0 plus
 * each of them in order. At last t = alpha * result and C = beta == 0 ? t : t + beta * C.
 */
#ifndef SB_ORACLE_EMULATED_H
#define SB_ORACLE_EMULATED_H

#include <stdint.h>

#include "args.h"

#define SB_ORACLE_FP16_K 1024 /* below it x3 is less accurate than one chain of FMAs */

#ifdef __cplusplus
extern "C" {
#endif

/* The whole rule; operands and C as sb_oracle() takes them. */
void sb_oracle_emulated(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_m,
			int64_t a_k, const float *b, int64_t b_n, int64_t b_k, float beta, float *c,
			int64_t ldc);
/* The same with chunks as they would be in a larger product, of which this is a block. */
void sb_oracle_emulated_of(int32_t chunk, int64_t m, int64_t n, int64_t k, float alpha,
			   const float *a, int64_t a_m, int64_t a_k, const float *b, int64_t b_n,
			   int64_t b_k, float beta, float *c, int64_t ldc);

/*
 * One launch each, as kernels.def promises it, on the memory that the arguments point to: the split
 * of a panel into planes, exponents and flags; the tiles that are not flagged; those that are,
 * which flags anew what it cannot do; and of those the strict ones. Without flags all tiles are
 * meant.
 */
void sb_oracle_split(const struct sb_split_args *args);
void sb_oracle_fp16x3(const struct sb_gemm_args *args);
void sb_oracle_bf16x6(const struct sb_gemm_args *args);
void sb_oracle_flagged(const struct sb_gemm_args *args);

/* Where the planes keep an element: an index into them, `depth` being the padded one. */
int64_t sb_oracle_plane(int64_t mn, int64_t k, int plane, int64_t depth);

#ifdef __cplusplus
}
#endif

#endif
