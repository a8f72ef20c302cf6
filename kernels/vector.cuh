/* SPDX-License-Identifier: BSD-3-Clause */
/* One tile of each operand, moved four floats at a time; see vector and swizzled. */
#ifndef SB_VECTOR_CUH
#define SB_VECTOR_CUH

#include "quads.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, bool swizzled> struct sb_by_fours {
	using fours = sb_fours<BM, BN, BK, threads, TM, TN, swizzled>;
	using shared = typename fours::tile;

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tile)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		bool wide_a = sb_wide_along(a), wide_b = sb_wide_across(b);
		sb_quads<BM, BK, threads> quads_a;
		sb_quads<BN, BK, threads> quads_b;
		sb_sums<TM, TN> sums;

		for (int k0 = 0; k0 < args.k; k0 += BK) {
			quads_a.load_along(a, wide_a, corner.i, k0);
			quads_b.load_across(b, wide_b, corner.j, k0);
			quads_a.put_along(tile.a);
			quads_b.template put_across<swizzled>(tile.b);
			sb_barrier();
			fours::template multiply<BK>(tile, 0, sums);
			sums.step(k0 + BK);
			sb_barrier();
		}
		sums.flush();
		fours::finish(args, corner, sums);
	}
};

#endif
