/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two tiles of each operand: while one is multiplied the next is on its way, and one barrier a step
 * is enough, since the tile written in a step was last read before the previous barrier. The next
 * tile travels in trips of two fours a thread, each during its own part of the multiplications, so
 * that few registers hold it.
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

	/* Two fours of A and two of B a trip. */
	using share_a = sb_quads<BM, BK, threads, 2>;
	using share_b = sb_quads<BN, BK, threads, 2>;
	static constexpr int count = share_a::count, part = BK / count;
	static_assert(share_b::count == count && count % 2 == 0, "the trips move whole tiles");

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		bool wide_a = sb_wide_along(a), wide_b = sb_wide_across(b);
		share_a quads_a;
		share_b quads_b;
		sb_sums<TM, TN> sums;
		int now = 0;

		SB_UNROLL
		for (int first = 0; first < count; first += 2) {
			quads_a.load_along(a, wide_a, corner.i, 0, first);
			quads_b.load_across(b, wide_b, corner.j, 0, first);
			quads_a.put_along(tiles.tile[0].a, first);
			quads_b.template put_across<true>(tiles.tile[0].b, first);
		}
		sb_barrier();
		for (int k0 = 0; k0 < args.k; k0 += BK) {
			bool more = args.k - k0 > BK;

			SB_UNROLL
			for (int first = 0; first < count; first += 2) {
				if (more)
					quads_a.load_along(a, wide_a, corner.i, k0 + BK, first);
				fours::template multiply<part>(tiles.tile[now], first * part, sums);
				if (more) {
					quads_a.put_along(tiles.tile[now ^ 1].a, first);
					quads_b.load_across(b, wide_b, corner.j, k0 + BK, first);
				}
				fours::template multiply<part>(tiles.tile[now], (first + 1) * part, sums);
				if (more)
					quads_b.template put_across<true>(tiles.tile[now ^ 1].b,
					                                  first);
			}
			sums.step(k0 + BK);
			sb_barrier();
			now ^= 1;
		}
		sums.flush();
		fours::finish(args, corner, sums);
	}
};

#endif
