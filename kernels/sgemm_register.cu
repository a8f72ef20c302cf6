/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TM x TN elements a thread: each word read from shared memory serves TM or TN multiplications. A
 * thread's elements lie BM / TM apart in i and BN / TN in j, so that a warp reads neighbours.
 */
#include "tile.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_register {
	static constexpr int across_m = BM / TM, across_n = BN / TN;
	static_assert(threads == across_m * across_n, "the threads cover the tile");
	struct shared {
		float a[BK][BM], b[BN][BK];
	};

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		int i = sb_thread() % across_m, j = sb_thread() / across_m;
		sb_sums<TM, TN> sums;

		for (int k0 = 0; k0 < args.k; k0 += BK) {
			sb_fill_along<threads, BM>(tiles.a, a, corner.i, k0);
			sb_fill_rows<threads, BK>(tiles.b, b, corner.j, k0);
			sb_barrier();
			SB_UNROLL
			for (int k = 0; k < BK; k++) {
				float a_k[TM], b_k[TN];
				SB_UNROLL
				for (int r = 0; r < TM; r++)
					a_k[r] = sb_get(tiles.a, k, i + r * across_m);
				SB_UNROLL
				for (int c = 0; c < TN; c++)
					b_k[c] = sb_get(tiles.b, j + c * across_n, k);
				sums.multiply(a_k, b_k);
			}
			sums.step(k0 + BK);
			sb_barrier();
		}
		sums.flush();
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r++)
				sb_finish(args, corner.i + i + r * across_m, corner.j + j + c * across_n,
				          sums.total[r][c]);
		}
	}
};

#define SB_METHOD_register 0, SB_MAKE
#include "instantiate.cuh"
