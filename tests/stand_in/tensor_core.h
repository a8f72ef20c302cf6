/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a tensor core makes of sixteen products and an accumulator, in integer arithmetic.
 *
 * The products are exact. They and the accumulator are aligned to the largest exponent among them,
 * where a product's exponent is the sum of its factors' and its significand may be as large as 4;
 * bits more than 25 places below the one of that exponent are cut off, of each term's magnitude.
 * The sum of what is left is exact and rounded toward zero to a float. Denormals count, as factors
 * and as sums; zeros have no exponent. A NaN, an infinity times zero and the sum of infinities of
 * both signs give the one NaN 0x7fffffff.
 *
 * That is what an H200 was found to do, for fp16 and bf16 alike, and what is published of the
 * generation (F. A. Khattak, M. Mikaitis: Accurate Models of NVIDIA Tensor Cores, 2025).
 */
#ifndef SB_TENSOR_CORE_H
#define SB_TENSOR_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sb_core_format { SB_CORE_FP16, SB_CORE_BF16 };

#define SB_CORE_DEPTH 16 /* products of one step */
#define SB_CORE_WIDTH 8	 /* dot products that are made side by side */

/* sum + a[0] * b[0] + ... + a[15] * b[15]; a and b hold the format's bits. */
float sb_tensor_core_dot(enum sb_core_format format, const uint16_t *a, const uint16_t *b,
			 float sum);

/* One factor of each product, taken apart once for many uses. */
struct sb_core_row {
	int32_t significand[SB_CORE_DEPTH]; /* signed, ten places after the one */
	int32_t exponent[SB_CORE_DEPTH];
	uint16_t bits[SB_CORE_DEPTH];
	bool finite; /* all of them */
};

/* The other factors of eight dot products. */
struct sb_core_eight {
	int32_t significand[SB_CORE_DEPTH][SB_CORE_WIDTH];
	int32_t exponent[SB_CORE_DEPTH][SB_CORE_WIDTH];
	uint16_t bits[SB_CORE_DEPTH][SB_CORE_WIDTH];
	bool finite;
};

/* All sixteen of a row; number p of each of eight, p = 0 first. */
void sb_core_row_set(struct sb_core_row *row, enum sb_core_format format, const uint16_t *bits);
void sb_core_eight_set(struct sb_core_eight *eight, enum sb_core_format format, int p,
		       const uint16_t *bits);

/* sum[j] = what sb_tensor_core_dot() makes of the row, number j of the eight and sum[j]. */
void sb_tensor_core_dots(enum sb_core_format format, const struct sb_core_row *a,
			 const struct sb_core_eight *b, float *sum);

/* The float next to x in the format (ties to even; 0x7fff for a NaN), and the float that the bits
 * stand for. */
uint16_t sb_core_round(enum sb_core_format format, float x);
float sb_core_value(enum sb_core_format format, uint16_t bits);

/* A float's bits, and the float of bits. */
static inline uint32_t sb_core_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float sb_core_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

#ifdef __cplusplus
}
#endif

#endif
