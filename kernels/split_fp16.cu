/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits a canonical panel into planes of fp16 for fp16x3 (halves.cuh), in one pass: a block holds
 * BI rows of one slab of k in registers.
 */
#include "halves.cuh"

template <int BI, int BK, int threads> struct sb_split_fp16 {
	/* A thread holds fours of rows: neighbouring threads along i, then along k. */
	static constexpr int across = BI / 4, depth = threads / across, held = BK / depth;
	static constexpr int warps = threads / 32;
	static_assert(BK == SB_SPLIT_SLAB && 64 % BI == 0 && BI <= threads, "");
	static_assert(held * depth == BK && across <= 32, "");

	struct shared {
		int32_t most[warps][BI]; /* the bits of the largest magnitude */
		/* The bits of 2^-e, of which the last says that the row is not held. */
		int32_t scale[1][BI];
	};

	SB_DEVICE static sb_float4 load(const sb_split_args &args, int i, int k)
	{
		const float *from = args.from + (k * args.from_k + i);
		sb_float4 four;

		if (k < args.depth && i + 4 <= args.extent)
			return sb_load4(from);
		SB_UNROLL
		for (int e = 0; e < 4; e++)
			four.x[e] =
				k < args.depth && i + e < args.extent ? sb_load(from + e) : 0.0f;
		return four;
	}

	SB_DEVICE static void find_most(const sb_float4 (&x)[held], shared &tiles, int column)
	{
		SB_UNROLL
		for (int e = 0; e < 4; e++) {
			int32_t most = 0;

			SB_UNROLL
			for (int s = 0; s < held; s++)
				most = sb_halves::larger(most, x[s].x[e]);
			SB_UNROLL
			for (int apart = across; apart < 32; apart *= 2) {
				int32_t other = sb_shuffle_xor(most, apart);

				most = other > most ? other : most;
			}
			if (sb_thread() % 32 < across)
				sb_put_int(tiles.most, sb_thread() / 32, column + e, most);
		}
	}

	/* By the first BI threads; whether the scale is far from others. */
	SB_DEVICE static bool find_scale(const sb_split_args &args, shared &tiles, int slab, int i0)
	{
		int32_t most = 0;
		bool bad, far;

		SB_UNROLL
		for (int w = 0; w < warps; w++) {
			int32_t bits = sb_get_int(tiles.most, w, sb_thread());

			most = bits > most ? bits : most;
		}
		int32_t word = sb_halves::scale_of(most, bad, far);

		sb_put_int(tiles.scale, 0, sb_thread(), word | bad);
		if (args.planes)
			sb_store_int(args.exponents + (slab * args.exponents_ld + i0 + sb_thread()),
				     word);
		return far;
	}

	SB_DEVICE static void run(const sb_split_args &args, shared &tiles)
	{
		unsigned along = (unsigned)args.padded_extent / BI;
		int slab = (int)(sb_block() / along), i0 = (int)(sb_block() % along) * BI;
		int column = sb_thread() % across * 4, first = slab * BK + sb_thread() / across;
		bool bad = false, far = false;
		sb_float4 x[held];
		float scale[4];

		SB_UNROLL
		for (int s = 0; s < held; s++)
			x[s] = load(args, i0 + column, first + s * depth);
		find_most(x, tiles, column);
		sb_barrier();
		if (sb_thread() < BI)
			far = find_scale(args, tiles, slab, i0);
		sb_barrier();
		SB_UNROLL
		for (int e = 0; e < 4; e++) {
			int32_t word = sb_get_int(tiles.scale, 0, column + e);

			bad |= word & 1;
			scale[e] = sb_halves::inverse(word & ~1);
		}
		SB_UNROLL
		for (int s = 0; s < held; s++) {
			int k = first + s * depth;
			uint16_t *to = sb_halves::place(args, i0 + column, k);
			sb_words2 hi, lo;

			bad |= sb_halves::split(x[s].x[0], x[s].x[1], scale[0], scale[1], hi.x[0],
						lo.x[0]);
			bad |= sb_halves::split(x[s].x[2], x[s].x[3], scale[2], scale[3], hi.x[1],
						lo.x[1]);
			if (k < args.padded_depth && args.planes) {
				sb_store_words2(to, hi);
				sb_store_words2(to + 4096, lo);
			}
		}
		if (sb_warp_any(bad))
			sb_halves::raise_for<4, depth>(args, i0 + column, first);
		sb_halves::raise(args, i0, far, SB_FAR_FP16);
	}
};

#define SB_METHOD_split_fp16 0, SB_MAKE_SPLIT
#include "instantiate.cuh"
