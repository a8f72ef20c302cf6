/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two tiles of each operand: while one is multiplied the next is on its way, and one barrier a step
 * is enough, since the tile written in a step was last read before the previous barrier. A travels
 * during the first half of the multiplications and B during the second, which halves the registers
 * that hold them.
 */
#ifndef SB_BUFFERED_CUH
#define SB_BUFFERED_CUH

#include "quads.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_buffered {
	static_assert(stages == 2, "one tile to read, one to fill");
	using fours = sb_fours<BM, BN, BK, threads, TM, TN, true>;
	struct shared {
		typename fours::tile tile[stages];
	};

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		bool wide_a = sb_wide_along(a), wide_b = sb_wide_across(b);
		sb_quads<BM, BK, threads> quads_a;
		sb_quads<BN, BK, threads> quads_b;
		sb_sums<TM, TN> sums;
		int now = 0;

		quads_a.load_along(a, wide_a, corner.i, 0);
		quads_b.load_across(b, wide_b, corner.j, 0);
		quads_a.put_along(tiles.tile[0].a);
		quads_b.template put_across<true>(tiles.tile[0].b);
		sb_barrier();
		for (int k0 = 0; k0 < args.k; k0 += BK) {
			bool more = args.k - k0 > BK;

			if (more)
				quads_a.load_along(a, wide_a, corner.i, k0 + BK);
			fours::template multiply<0, BK / 2>(tiles.tile[now], sums);
			if (more) {
				quads_a.put_along(tiles.tile[now ^ 1].a);
				quads_b.load_across(b, wide_b, corner.j, k0 + BK);
			}
			fours::template multiply<BK / 2, BK>(tiles.tile[now], sums);
			if (more)
				quads_b.template put_across<true>(tiles.tile[now ^ 1].b);
			sums.step(k0 + BK);
			sb_barrier();
			now ^= 1;
		}
		sums.flush();
		fours::finish(args, corner, sums);
	}
};

#endif
