/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles in shared memory, one element a thread, two barriers a step. A warp reads a row of A's tile
 * and, since its threads lie along m, one or two words of B's: a broadcast, no conflict.
 */
#include "tile.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_tiled {
	static_assert(threads == BM * BN, "one element a thread");
	struct shared {
		float a[BK][BM], b[BN][BK];
	};

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		int i = sb_thread() % BM, j = sb_thread() / BM;
		sb_sums<1, 1> sums;

		for (int k0 = 0; k0 < args.k; k0 += BK) {
			sb_fill_along<threads, BM>(tiles.a, a, corner.i, k0);
			sb_fill_rows<threads, BK>(tiles.b, b, corner.j, k0);
			sb_barrier();
			SB_UNROLL
			for (int k = 0; k < BK; k++) {
				float a_ik[1] = {sb_get(tiles.a, k, i)};
				float b_kj[1] = {sb_get(tiles.b, j, k)};
				sums.multiply(a_ik, b_kj);
			}
			sums.step(k0 + BK);
			sb_barrier();
		}
		sums.flush();
		sb_finish(args, corner.i + i, corner.j + j, sums.total[0][0]);
	}
};

#define SB_METHOD_tiled 0, SB_MAKE
#include "instantiate.cuh"
