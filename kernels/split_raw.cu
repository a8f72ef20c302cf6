/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits an operand as it lies, whichever of i and k is contiguous, into planes of fp16 for fp16x3
 * (halves.cuh) and writes its canonical panel as well: what a pack kernel and split_fp16 make of it
 * in turn, in one pass, so that each element is read once.
 *
 * A block holds BI rows of one slab of k in registers: a lane has one row, a warp every so manieth
 * k. So it is read where i is contiguous. Where k is, a warp reads along k, and pieces of `piece`
 * values of k change hands in shared memory, through two buffers in turn.
 */
#include "halves.cuh"

template <int BI, int BK, int threads> struct sb_split_raw {
	static constexpr int warps = threads / 32, held = BK / warps;
	static_assert(BK == SB_SPLIT_SLAB && BI == 32 && warps == 8, "");
	static constexpr int piece = 64, pieces = BK / piece;
	/* Values of a thread in a piece: when it reads along k, lines by halves of rows; and after.
	 */
	static constexpr int lines = BI / warps, halves = piece / 32, part = piece / warps;
	static_assert(lines * halves == part && part * pieces == held, "");

	struct shared {
		/* A word longer than rows need be, so that reading across meets no bank twice. */
		float turn[2 * BI][piece + 1];
		int32_t most[warps][BI]; /* the bits of the largest magnitude */
	};

	/* Element s is of the lane's row, and k = k0 + warp + s * warps. */
	SB_DEVICE static void load_along(const sb_split_args &args, int i, int k, float (&x)[held])
	{
		const float *from = args.from + (i * args.from_i + k * args.from_k);
		int left = i < args.extent ? args.depth - k : 0;

		SB_UNROLL
		for (int s = 0; s < held; s++) {
			x[s] = s * warps < left ? sb_load(from) : 0.0f;
			from += warps * args.from_k;
		}
	}

	/* Lines of the warp along k; and then the same. */
	SB_DEVICE static void load_across(const sb_split_args &args, shared &tiles, int i0, int k0,
					  float (&x)[held])
	{
		int lane = sb_thread() % 32, warp = sb_thread() / 32;

		SB_UNROLL
		for (int line = 0; line < lines; line++) {
			int i = i0 + warp + line * warps;
			const float *from = args.from + (i * args.from_i + k0 + lane);
			int left = i < args.extent ? args.depth - (k0 + lane) : 0;

			SB_UNROLL
			for (int s = line; s < held; s += lines)
				x[s] = s / lines * 32 < left ? sb_load(from + s / lines * 32)
							     : 0.0f;
		}
		SB_UNROLL
		for (int p = 0; p < pieces; p++) {
			int row = p % 2 * BI;

			SB_UNROLL
			for (int s = 0; s < part; s++)
				sb_put(tiles.turn, row + warp + s % lines * warps,
				       lane + s / lines * 32, x[p * part + s]);
			sb_barrier();
			SB_UNROLL
			for (int s = 0; s < part; s++)
				x[p * part + s] = sb_get(tiles.turn, row + lane, warp + s * warps);
		}
	}

	/* The bits of the largest magnitude of the lane's row. */
	SB_DEVICE static int32_t find_most(const float (&x)[held], shared &tiles)
	{
		int32_t most = 0;

		SB_UNROLL
		for (int s = 0; s < held; s++)
			most = sb_halves::larger(most, x[s]);
		sb_put_int(tiles.most, sb_thread() / 32, sb_thread() % 32, most);
		sb_barrier();
		SB_UNROLL
		for (int w = 0; w < warps; w++) {
			int32_t other = sb_get_int(tiles.most, w, sb_thread() % 32);

			most = other > most ? other : most;
		}
		return most;
	}

	/*
	 * Two of a thread's elements, `warps` of k apart: to the panel and to the planes, where
	 * their places are a fixed distance apart, since k % 8 is the same.
	 */
	SB_DEVICE static bool store(float x0, float x1, float scale, float *panel, int64_t further,
				    uint16_t *to)
	{
		uint32_t hi, lo;
		bool lost = sb_halves::split(x0, x1, scale, scale, hi, lo);

		sb_store(panel, x0);
		sb_store(panel + further, x1);
		sb_store_half(to, (uint16_t)hi);
		sb_store_half(to + 4096, (uint16_t)lo);
		sb_store_half(to + warps * 64, (uint16_t)(hi >> 16));
		sb_store_half(to + warps * 64 + 4096, (uint16_t)(lo >> 16));
		return lost;
	}

	SB_DEVICE static void run(const sb_split_args &args, shared &tiles)
	{
		unsigned along = (unsigned)args.padded_extent / BI;
		int slab = (int)(sb_block() / along), i0 = (int)(sb_block() % along) * BI;
		int i = i0 + sb_thread() % 32, k0 = slab * BK, warp = sb_thread() / 32;
		bool bad, far;
		float x[held];

		if (args.from_k == 1)
			load_across(args, tiles, i0, k0, x);
		else
			load_along(args, i, k0 + warp, x);
		int32_t word = sb_halves::scale_of(find_most(x, tiles), bad, far);
		float scale = sb_halves::inverse(word);
		float *panel = args.panel + ((k0 + warp) * args.ld + i);

		if (warp == 0)
			sb_store_int(args.exponents + (slab * args.exponents_ld + i), word);
		SB_UNROLL
		for (int p = 0; p < pieces; p++) {
			uint16_t *to = sb_halves::place(args, i, k0 + p * piece + warp);

			if (k0 + p * piece >= args.padded_depth)
				break;
			SB_UNROLL
			for (int s = 0; s < part; s += 2) {
				bad |= store(x[p * part + s], x[p * part + s + 1], scale, panel,
					     warps * args.ld, to + s * warps * 64);
				panel += 2 * warps * args.ld;
			}
		}
		if (sb_warp_any(bad))
			sb_halves::raise_for<1, warps>(args, i, k0 + warp);
		if (warp == 0)
			sb_halves::raise(args, i0, far, SB_FAR_FP16);
	}
};

#define SB_METHOD_split_raw 0, SB_MAKE_SPLIT
#include "instantiate.cuh"
