/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an operand becomes two planes of fp16: what the split kernels share. With mx the largest |x|
 * of a row in a slab of k,
 *     e = 14 - floor(log2 mx)    (0 where mx = 0)    y = x * 2^e
 *     hi = fp16(y)               lo = fp16((y - hi) * 2^11)
 * each rounded to nearest, so that y is hi + lo * 2^-11 to 2^-22 of itself. The guard is exact: a
 * row with an element of which that is not true, or that scaling makes zero, or with |e| > 56 or an
 * element that is not finite (then e = 0), raises the flag of its 128 rows; and another one if that
 * element is not the sum of three bf16 either. A third flag tells of scales that are far from those
 * of the others can be, for which fp16x3 has a slower way.
 */
#ifndef SB_HALVES_CUH
#define SB_HALVES_CUH

#include "tensor.cuh"

struct sb_halves {
	/* Where element (i, k) lies in the high plane. */
	SB_DEVICE static uint16_t *place(const sb_split_args &args, int i, int k)
	{
		int64_t piece = (int64_t)(i / 64) * (args.padded_depth / 64) + k / 64;

		return args.planes +
		       (piece * 2 * 4096 + k % 64 * 64 + ((i % 64 / 8) ^ (k % 8)) * 8 + i % 8);
	}

	/* The bits of 2^-e for a largest magnitude of these bits. */
	SB_DEVICE static int32_t scale_of(int32_t most, bool &bad, bool &far)
	{
		int e = most == 0 ? 0 : 141 - (most >> 23);

		bad = e < -56 || e > 56;
		if (bad)
			e = 0;
		far = e < SB_NEAR_LEAST || e > SB_NEAR_MOST;
		return (127 - e) << 23;
	}

	/* 2^e from the bits of 2^-e. */
	SB_DEVICE static float inverse(int32_t scale)
	{
		return sb_bits_float((254u << 23) - (uint32_t)scale);
	}

	SB_DEVICE static float magnitude(float value)
	{
		return sb_bits_float(sb_float_bits(value) & 0x7fffffffu);
	}

	/* The larger of a magnitude's bits and a value's. */
	SB_DEVICE static int32_t larger(int32_t most, float value)
	{
		int32_t bits = (int32_t)(sb_float_bits(value) & 0x7fffffffu);

		return bits > most ? bits : most;
	}

	/* Splits two elements; returns whether they are not held. */
	SB_DEVICE static bool split(float x0, float x1, float scale0, float scale1, uint32_t &hi,
				    uint32_t &lo)
	{
		float y0 = sb_mul(x0, scale0), y1 = sb_mul(x1, scale1);

		hi = sb_half_pair(y0, y1);
		float rest0 = sb_add(y0, -sb_half_value((uint16_t)hi));
		float rest1 = sb_add(y1, -sb_half_value((uint16_t)(hi >> 16)));

		lo = sb_half_pair(sb_mul(rest0, 0x1p11f), sb_mul(rest1, 0x1p11f));
		float lost0 = sb_fma(sb_half_value((uint16_t)lo), -0x1p-11f, rest0);
		float lost1 = sb_fma(sb_half_value((uint16_t)(lo >> 16)), -0x1p-11f, rest1);
		bool gone = (y0 == 0.0f && x0 != 0.0f) || (y1 == 0.0f && x1 != 0.0f);

		return gone || magnitude(lost0) > sb_mul(magnitude(y0), 0x1p-22f) ||
		       magnitude(lost1) > sb_mul(magnitude(y1), 0x1p-22f);
	}

	/* Whether an element is not the sum of three bf16. What is infinite leaves NaN. */
	SB_DEVICE static bool exceeds_thirds(float x)
	{
		SB_UNROLL
		for (int p = 0; p < 2; p++)
			x = sb_add(x, -sb_bf16_value(sb_bf16_bits(x)));
		return (sb_result_bits(x) & 0xffff) != 0;
	}

	/*
	 * By a warp that has found elements which are not held, each thread of its own: `rows` from
	 * row i on, and every apart-th of the slab's k from k on. They are read again, so that
	 * nobody else keeps them.
	 */
	template <int rows, int apart>
	SB_DEVICE static void raise_for(const sb_split_args &args, int i, int k)
	{
		bool found = false;

		SB_ROLLED
		for (int end = k / SB_SPLIT_SLAB * SB_SPLIT_SLAB + SB_SPLIT_SLAB; k < end;
		     k += apart) {
			SB_UNROLL
			for (int r = 0; r < rows; r++)
				if (i + r < args.extent && k < args.depth)
					found |= exceeds_thirds(
						sb_load(args.from +
							((i + r) * args.from_i + k * args.from_k)));
		}
		raise(args, i, true, SB_NOT_FP16);
		raise(args, i, found, SB_NOT_BF16);
	}

	/* By a warp, each thread of which says what it has found; i0: a row of its 128. */
	SB_DEVICE static void raise(const sb_split_args &args, int i0, bool said, uint32_t bits)
	{
		if (sb_warp_any(said) && sb_thread() % 32 == 0)
			sb_raise_flags(args.flags + (args.middle + i0) / 128, bits);
	}
};

#endif
