/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block for each slab of each tile, so that a long sum of few elements occupies the whole device.
 * Each operand is loaded along whichever direction is contiguous. Two tiles of each: the next one
 * is on its way during the multiplications.
 */
#include "slab.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_split {
	static_assert(stages == 2, "one tile to read, one to fill");
	using fours = sb_fours<BM, BN, BK, threads, TM, TN, true, true>;
	struct shared {
		typename fours::tile tile[stages];
	};

	/* A thread's share of the next tile of one operand. */
	template <int width> struct share {
		sb_quads<width, BK, threads> quads;
		bool along, wide;

		SB_DEVICE share(const sb_operand &from)
		{
			along = from.stride_i == 1;
			wide = along ? sb_wide_along(from) : sb_wide_across(from);
		}

		SB_DEVICE void load(const sb_operand &from, int i0, int k0)
		{
			if (along)
				quads.load_along(from, wide, i0, k0);
			else
				quads.load_across(from, wide, i0, k0);
		}

		SB_DEVICE void put(float (&to)[BK][width]) const
		{
			if (along)
				quads.template put_along<true>(to);
			else
				quads.template put_across<true>(to);
		}
	};

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_part slab = sb_block_part<BM, BN>(args);
		sb_operand a = sb_cut(sb_operand_a(args), slab.k0);
		sb_operand b = sb_cut(sb_operand_b(args), slab.k0);
		share<BM> share_a(a);
		share<BN> share_b(b);
		sb_sums<TM, TN> sums;
		int now = 0;

		share_a.load(a, slab.corner.i, 0);
		share_b.load(b, slab.corner.j, 0);
		share_a.put(tiles.tile[0].a);
		share_b.put(tiles.tile[0].b);
		sb_barrier();
		for (int k0 = 0; k0 < a.depth; k0 += BK) {
			bool more = a.depth - k0 > BK;

			if (more) {
				share_a.load(a, slab.corner.i, k0 + BK);
				share_b.load(b, slab.corner.j, k0 + BK);
			}
			fours::template multiply<BK>(tiles.tile[now], 0, sums);
			if (more) {
				share_a.put(tiles.tile[now ^ 1].a);
				share_b.put(tiles.tile[now ^ 1].b);
			}
			sb_barrier();
			now ^= 1;
		}
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r += 4)
				sb_finish_chain4(args, slab, slab.corner.i + fours::i_of(r),
				                 slab.corner.j + fours::j_of(c),
				                 {sums.chain[r][c], sums.chain[r + 1][c],
				                  sums.chain[r + 2][c], sums.chain[r + 3][c]});
		}
	}
};

#define SB_METHOD_split 0, SB_MAKE
#include "instantiate.cuh"
