/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs a panel whose source is contiguous along k: a warp reads along k, turns its tile in shared
 * memory and writes along i. Rows are a word longer than they need be, so that neither meets a bank
 * conflict.
 */
#include "device.cuh"

template <int BI, int BK, int threads> struct sb_across {
	struct shared {
		float turn[BI][BK + 1];
	};

	SB_DEVICE static void run(const sb_pack_args &args, shared &tile)
	{
		unsigned along_i = ((unsigned)args.padded_extent + BI - 1) / BI;
		int i0 = (int)(sb_block() % along_i) * BI, k0 = (int)(sb_block() / along_i) * BK;

		SB_UNROLL
		for (int t = sb_thread(); t < BI * BK; t += threads) {
			int i = i0 + t / BK, k = k0 + t % BK;
			float value = 0.0f;

			if (i < args.extent && k < args.depth)
				value = sb_load(args.from + (i * args.from_i + k * args.from_k));
			sb_put(tile.turn, t / BK, t % BK, value);
		}
		sb_barrier();
		SB_UNROLL
		for (int t = sb_thread(); t < BI * BK; t += threads) {
			int i = i0 + t % BI, k = k0 + t / BI;

			if (i < args.padded_extent && k < args.padded_depth)
				sb_store(args.to + (k * args.ld + i),
				         sb_get(tile.turn, t % BI, t / BI));
		}
	}
};

#define SB_METHOD_across 0, SB_MAKE_PACK
#include "instantiate.cuh"
