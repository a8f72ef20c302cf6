/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs a panel whose source is contiguous along i: straight through, a warp along i. */
#include "device.cuh"

struct sb_no_tiles {
};

template <int BI, int BK, int threads> struct sb_along {
	using shared = sb_no_tiles;

	SB_DEVICE static void run(const sb_pack_args &args, shared &)
	{
		unsigned along_i = ((unsigned)args.padded_extent + BI - 1) / BI;
		int i0 = (int)(sb_block() % along_i) * BI, k0 = (int)(sb_block() / along_i) * BK;

		SB_UNROLL
		for (int t = sb_thread(); t < BI * BK; t += threads) {
			int i = i0 + t % BI, k = k0 + t / BI;
			float value = 0.0f;

			if (i < args.extent && k < args.depth)
				value = sb_load(args.from + (i * args.from_i + k * args.from_k));
			if (i < args.padded_extent && k < args.padded_depth)
				sb_store(args.to + (k * args.ld + i), value);
		}
	}
};

#define SB_METHOD_along 0, SB_MAKE_PACK
#include "instantiate.cuh"
