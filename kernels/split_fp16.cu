/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits a panel into planes of fp16 for fp16x3, in one pass: a block holds BI rows of one slab of
 * k in registers. With mx the largest |x| of a row in the slab,
 *     e = 14 - floor(log2 mx)    (0 where mx = 0)    y = x * 2^e
 *     hi = fp16(y)               lo = fp16((y - hi) * 2^11)
 * each rounded to nearest, so that y is hi + lo * 2^-11 to 2^-22 of itself. The guard is exact: a
 * row with an element of which that is not true, or that scaling makes zero, or with |e| > 56 or an
 * element that is not finite (then e = 0), raises the flag of its 128 rows. Another flag tells of
 * scales that are far from those of the others can be, for which fp16x3 has a slower way.
 */
#include "tensor.cuh"

template <int BI, int BK, int threads> struct sb_split_fp16 {
	/* A thread holds fours of rows: neighbouring threads along i, then along k. */
	static constexpr int across = BI / 4, depth = threads / across, held = BK / depth;
	static constexpr int warps = threads / 32;
	static_assert(BK == SB_SPLIT_SLAB && 64 % BI == 0 && BI <= threads, "");
	static_assert(held * depth == BK && across <= 32, "");

	struct shared {
		int32_t most[warps][BI]; /* the bits of the largest magnitude */
		int32_t scale[1][BI];	 /* the bits of 2^-e */
	};

	/* Where the four of rows from i on, and k, lies in the high plane. */
	SB_DEVICE static uint16_t *place(const sb_split_args &args, int i, int k)
	{
		int64_t piece = (int64_t)(i / 64) * (args.padded_depth / 64) + k / 64;

		return args.planes +
		       (piece * 2 * 4096 + k % 64 * 64 + ((i % 64 / 8) ^ (k % 8)) * 8 + i % 8);
	}

	SB_DEVICE static sb_float4 load(const sb_split_args &args, int i, int k)
	{
		const float *from = args.from + (k * args.ld + i);
		sb_float4 four;

		if (k < args.depth && i + 4 <= args.extent)
			return sb_load4(from);
		SB_UNROLL
		for (int e = 0; e < 4; e++)
			four.x[e] =
				k < args.depth && i + e < args.extent ? sb_load(from + e) : 0.0f;
		return four;
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

		return gone || sb_magnitude(lost0) > sb_mul(sb_magnitude(y0), 0x1p-22f) ||
		       sb_magnitude(lost1) > sb_mul(sb_magnitude(y1), 0x1p-22f);
	}

	SB_DEVICE static float sb_magnitude(float value)
	{
		return sb_bits_float(sb_float_bits(value) & 0x7fffffffu);
	}

	SB_DEVICE static void find_most(const sb_float4 (&x)[held], shared &tiles, int column)
	{
		SB_UNROLL
		for (int e = 0; e < 4; e++) {
			int32_t most = 0;

			SB_UNROLL
			for (int s = 0; s < held; s++) {
				int32_t bits = (int32_t)(sb_float_bits(x[s].x[e]) & 0x7fffffffu);

				most = bits > most ? bits : most;
			}
			SB_UNROLL
			for (int apart = across; apart < 32; apart *= 2) {
				int32_t other = sb_shuffle_xor(most, apart);

				most = other > most ? other : most;
			}
			if (sb_thread() % 32 < across)
				sb_put_int(tiles.most, sb_thread() / 32, column + e, most);
		}
	}

	SB_DEVICE static void run(const sb_split_args &args, shared &tiles)
	{
		unsigned along = (unsigned)args.padded_extent / BI;
		int slab = (int)(sb_block() / along), i0 = (int)(sb_block() % along) * BI;
		int column = sb_thread() % across * 4, first = slab * BK + sb_thread() / across;
		bool bad = false, far = false;
		sb_float4 x[held];

		SB_UNROLL
		for (int s = 0; s < held; s++)
			x[s] = load(args, i0 + column, first + s * depth);
		find_most(x, tiles, column);
		sb_barrier();
		if (sb_thread() < BI) {
			int32_t most = 0;

			SB_UNROLL
			for (int w = 0; w < warps; w++) {
				int32_t bits = sb_get_int(tiles.most, w, sb_thread());

				most = bits > most ? bits : most;
			}
			int32_t word = scale_of(most, bad, far);

			sb_put_int(tiles.scale, 0, sb_thread(), word);
			sb_store_int(args.exponents + (slab * args.exponents_ld + i0 + sb_thread()),
				     word);
		}
		sb_barrier();
		float scale[4];

		SB_UNROLL
		for (int e = 0; e < 4; e++) {
			uint32_t word = (uint32_t)sb_get_int(tiles.scale, 0, column + e);

			scale[e] = sb_bits_float((254u << 23) - word);
		}
		SB_UNROLL
		for (int s = 0; s < held; s++) {
			int k = first + s * depth;
			uint16_t *to = place(args, i0 + column, k);
			sb_words2 hi, lo;
			bool lost =
				split(x[s].x[0], x[s].x[1], scale[0], scale[1], hi.x[0], lo.x[0]);

			lost |= split(x[s].x[2], x[s].x[3], scale[2], scale[3], hi.x[1], lo.x[1]);
			bad |= lost;
			if (k < args.padded_depth) {
				sb_store_words2(to, hi);
				sb_store_words2(to + 4096, lo);
			}
		}
		if (sb_warp_any(bad) && sb_thread() % 32 == 0)
			sb_raise_flags(args.flags + i0 / 128, SB_NOT_FP16);
		if (sb_warp_any(far) && sb_thread() % 32 == 0)
			sb_raise_flags(args.flags + i0 / 128, SB_FAR_FP16);
	}
};

#define SB_METHOD_split_fp16 0, SB_MAKE_SPLIT
#include "instantiate.cuh"
