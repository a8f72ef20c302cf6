/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels that split k share: which slab of which tile a block owns, and where a chain goes.
 */
#ifndef SB_SLAB_CUH
#define SB_SLAB_CUH

#include "quads.cuh"

struct sb_part {
	sb_corner corner;
	int number, k0;
};

template <int BM, int BN> SB_DEVICE sb_part sb_block_part(const sb_gemm_args &args)
{
	unsigned along_m = ((unsigned)args.m + BM - 1) / BM, along_n = ((unsigned)args.n + BN - 1) / BN;
	unsigned tiles = along_m * along_n;
	int number = (int)(sb_block() / tiles);

	return {sb_tile_corner<BM, BN>(args, sb_block() % tiles), number, number * SB_SLAB};
}

/* The operand's part in a slab, as a matrix of its own. */
SB_DEVICE sb_operand sb_cut(const sb_operand &from, int k0)
{
	int depth = from.depth - k0;

	return {sb_at(from, 0, k0), from.stride_i, from.stride_k, from.extent,
	        depth < SB_SLAB ? depth : SB_SLAB};
}

/* Where chains go that begin at (i, j), or C where they are alone and `simple`: nothing old is read. */
struct sb_place {
	float *at;
	int64_t ld;
	int rows, columns; /* that exist */
	bool chain, simple;

	SB_DEVICE sb_place(const sb_gemm_args &args, const sb_part &slab, int i, int j)
	{
		chain = args.k > SB_SLAB;
		simple = chain ? args.work_i == 1 : !args.resume && args.beta == 0.0f;
		ld = chain ? args.work_j : args.ldc;
		at = chain ? args.work + (int64_t)slab.number * args.m * args.n : args.c;
		at += i + j * ld;
		rows = args.m - i;
		columns = args.n - j;
	}

	SB_DEVICE float finished(const sb_gemm_args &args, float sum) const
	{
		return chain ? sum : sb_mul(args.alpha, sb_add(0.0f, sum));
	}
};

/* A finished chain, if the element exists: to the others of its sum, or to C if it is alone. */
SB_DEVICE void sb_finish_chain(const sb_gemm_args &args, const sb_part &slab, int i, int j,
                               float chain)
{
	if (i >= args.m || j >= args.n)
		return;
	if (args.k <= SB_SLAB)
		sb_finish(args, i, j, sb_add(args.resume ? sb_left(args, i, j) : 0.0f, chain));
	else
		sb_store(args.work + ((int64_t)slab.number * args.m * args.n + i * args.work_i +
		                      j * args.work_j),
		         chain);
}

/* Four of a column; i is a multiple of four, and so is the part's place if there are so many rows. */
SB_DEVICE void sb_finish_chain4(const sb_gemm_args &args, const sb_part &slab, int i, int j,
                                const float (&chain)[4])
{
	if (args.k > SB_SLAB && args.work_i == 1 && args.m % 4 == 0) {
		if (i < args.m && j < args.n)
			sb_store4(args.work + ((int64_t)slab.number * args.m * args.n + i +
			                       j * args.work_j),
			          {{chain[0], chain[1], chain[2], chain[3]}});
		return;
	}
	SB_UNROLL
	for (int e = 0; e < 4; e++)
		sb_finish_chain(args, slab, i + e, j, chain[e]);
}

#endif
