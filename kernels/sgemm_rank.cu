/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products with few values of k, which take as long as writing C takes. A block has one slab of k;
 * a thread owns one row of 32 and all columns of its warp, so that a warp writes neighbours of a
 * column whatever the alignment, straight from its registers. No warp has much to do before that,
 * and many blocks find room, so that some write while others load. Operands are taken as they lie.
 */
#include "slab.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_rank {
	static constexpr int warps = threads / 32;
	static_assert(TM * 32 == BM && TN * warps == BN && TN % 4 == 0 && stages == 1, "");
	static_assert(BM % (threads / 8) == 0 && BN % (threads / 8) == 0 && SB_SLAB % BK == 0, "");
	/* Rows are four words longer than they need be: a store of 8 along k by 4 meets no
	 * conflict. */
	struct shared {
		alignas(16) float a[BK][BM + 4];
		alignas(16) float b[BK][BN + 4];
	};

	/* The `deep` values of k from k0 on: a warp a row, or 8 neighbours along k and others along
	 * i. */
	template <int width>
	SB_DEVICE static void fill(float (&to)[BK][width + 4], const sb_operand &from, int i0,
				   int k0, int deep)
	{
		if (from.stride_i == 1) {
			SB_ROLLED
			for (int k = sb_thread() / 32; k < deep; k += warps) {
				SB_UNROLL
				for (int i = sb_thread() % 32; i < width; i += 32)
					sb_put(to, k, i, sb_element(from, i0 + i, k0 + k));
			}
		} else {
			SB_ROLLED
			for (int k = sb_thread() % 8; k < deep; k += 8) {
				SB_UNROLL
				for (int i = sb_thread() / 8; i < width; i += threads / 8)
					sb_put(to, k, i, sb_element(from, i0 + i, k0 + k));
			}
		}
	}

	SB_DEVICE static void multiply(const shared &tile, int deep, sb_sums<TM, TN> &sums)
	{
		SB_UNROLL_BY(4)
		for (int k = 0; k < deep; k++) {
			float a[TM], b[TN];

			SB_UNROLL
			for (int r = 0; r < TM; r++)
				a[r] = sb_get(tile.a, k, sb_thread() % 32 + r * 32);
			SB_UNROLL
			for (int c = 0; c < TN; c += 4) {
				sb_float4 four = sb_get4(tile.b, k, sb_thread() / 32 * TN + c);

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					b[c + e] = four.x[e];
			}
			sums.multiply_singly(a, b);
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tile)
	{
		sb_part slab = sb_block_part<BM, BN>(args);
		sb_operand a = sb_cut(sb_operand_a(args), slab.k0);
		sb_operand b = sb_cut(sb_operand_b(args), slab.k0);
		int i0 = slab.corner.i + sb_thread() % 32,
		    j0 = slab.corner.j + sb_thread() / 32 * TN;
		sb_sums<TM, TN> sums;

		SB_ROLLED
		for (int k0 = 0; k0 < a.depth; k0 += BK) {
			int deep = a.depth - k0 < BK ? a.depth - k0 : BK;

			if (k0 > 0)
				sb_barrier();
			fill<BM>(tile.a, a, slab.corner.i, k0, deep);
			fill<BN>(tile.b, b, slab.corner.j, k0, deep);
			sb_barrier();
			multiply(tile, deep, sums);
		}
		finish(args, slab, i0, j0, sums);
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, const sb_part &slab, int i0, int j0,
				     const sb_sums<TM, TN> &sums)
	{
		sb_place to(args, slab, i0, j0);
		float *at = to.at;

		SB_UNROLL
		for (int c = 0; c < TN; c++, at += to.ld) {
			SB_UNROLL
			for (int r = 0; r < TM; r++) {
				if (!to.simple)
					sb_finish_chain(args, slab, i0 + r * 32, j0 + c,
							sums.chain[r][c]);
				else if (r * 32 < to.rows && c < to.columns)
					sb_store(at + r * 32, to.finished(args, sums.chain[r][c]));
			}
		}
	}
};

#define SB_METHOD_rank 0, SB_MAKE
/* No slabs that are added up; and the compiler makes loops of it that take twice as long. */
#define SB_ALONE
#include "instantiate.cuh"
