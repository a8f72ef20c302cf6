/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tiled kernel with A's tile kept row by row as [i][k]. Neighbouring threads lie along m, so a
 * warp both fills and reads the tile by column; `pad` is how many unused words end each row.
 */
#ifndef SB_COLUMN_CUH
#define SB_COLUMN_CUH

#include "tile.cuh"

template <int BM, int BN, int BK, int threads, int pad> struct sb_by_column {
	static_assert(threads == BM * BN, "one element a thread");
	struct shared {
		float a[BM][BK + pad], b[BN][BK];
	};

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		int i = sb_thread() % BM, j = sb_thread() / BM;
		sb_sums<1, 1> sums;

		for (int k0 = 0; k0 < args.k; k0 += BK) {
			sb_fill_columns<threads, BK>(tiles.a, a, corner.i, k0);
			sb_fill_rows<threads, BK>(tiles.b, b, corner.j, k0);
			sb_barrier();
			SB_UNROLL
			for (int k = 0; k < BK; k++) {
				float a_ik[1] = {sb_get(tiles.a, i, k)};
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

#endif
