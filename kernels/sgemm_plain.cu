/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel that serves every shape, stride, alignment and architecture. It loads each operand
 * along whichever direction is contiguous; rows of the tiles are two words longer than they need
 * be, so that both directions fill them without a bank conflict.
 */
#include "tile.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_plain {
	static constexpr int across_m = BM / TM, across_n = BN / TN, pad = 2;
	static_assert(threads == across_m * across_n, "the threads cover the tile");
	struct shared {
		float a[BK][BM + pad], b[BK][BN + pad];
	};

	template <int width>
	SB_DEVICE static void fill(float (&to)[BK][width + pad], const sb_operand &from, int i0, int k0)
	{
		if (from.stride_k == 1)
			sb_fill_across<threads, width>(to, from, i0, k0);
		else
			sb_fill_along<threads, width>(to, from, i0, k0);
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		sb_operand a = sb_operand_a(args), b = sb_operand_b(args);
		int i = sb_thread() % across_m, j = sb_thread() / across_m;
		sb_sums<TM, TN> sums;

		if (args.resume)
			sums.resume(args, corner.i + i, corner.j + j, across_m, across_n);
		for (int k0 = 0; k0 < args.k; k0 += BK) {
			fill<BM>(tiles.a, a, corner.i, k0);
			fill<BN>(tiles.b, b, corner.j, k0);
			sb_barrier();
			SB_UNROLL
			for (int k = 0; k < BK; k++) {
				float a_k[TM], b_k[TN];
				SB_UNROLL
				for (int r = 0; r < TM; r++)
					a_k[r] = sb_get(tiles.a, k, i + r * across_m);
				SB_UNROLL
				for (int c = 0; c < TN; c++)
					b_k[c] = sb_get(tiles.b, k, j + c * across_n);
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

#define SB_METHOD_plain 0, SB_MAKE
#include "instantiate.cuh"
