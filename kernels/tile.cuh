/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernels share: where a block's tile lies, how a thread's sums are kept, how a tile of an
 * operand comes into shared memory element by element, and how a finished value is written.
 */
#ifndef SB_TILE_CUH
#define SB_TILE_CUH

#include "tensor.cuh"

struct sb_corner {
	int i, j;
};

/* The first row and column of tile number `tile` of C. Neighbours lie along m. */
template <int BM, int BN> SB_DEVICE sb_corner sb_tile_corner(const sb_gemm_args &args, unsigned tile)
{
	unsigned along_m = ((unsigned)args.m + BM - 1) / BM;

	return {(int)(tile % along_m) * BM, (int)(tile / along_m) * BN};
}

/* Of the one that the block owns. */
template <int BM, int BN> SB_DEVICE sb_corner sb_block_corner(const sb_gemm_args &args)
{
	return sb_tile_corner<BM, BN>(args, sb_block());
}

/* The flags of tile (i, j) of 128 x 128; there are some. */
SB_DEVICE uint32_t sb_tile_flags(const sb_gemm_args &args, int i, int j)
{
	return sb_load_flags(args.flags_a + i) | sb_load_flags(args.flags_b + j);
}

/* Whether the tile's flags leave it to kernels on the tensor cores; see args.h. */
template <int BM, int BN> SB_DEVICE bool sb_passed_over(const sb_gemm_args &args, sb_corner corner)
{
	if constexpr ((BM == 128 && BN == 128) || (BM == 32 && BN == 32)) {
		if (args.flags_a)
			return !(sb_tile_flags(args, corner.i / 128, corner.j / 128) & SB_NOT_BF16);
	}
	return false;
}

/* One operand as a matrix of i (or j) by k, beyond whose edges everything is zero. */
struct sb_operand {
	const float *origin;
	int64_t stride_i, stride_k;
	int extent, depth;
};

SB_DEVICE sb_operand sb_operand_a(const sb_gemm_args &args)
{
	return {args.a, args.a_m, args.a_k, args.m, args.k};
}

SB_DEVICE sb_operand sb_operand_b(const sb_gemm_args &args)
{
	return {args.b, args.b_n, args.b_k, args.n, args.k};
}

SB_DEVICE const float *sb_at(const sb_operand &from, int i, int k)
{
	return from.origin + (i * from.stride_i + k * from.stride_k);
}

SB_DEVICE float sb_element(const sb_operand &from, int i, int k)
{
	return i < from.extent && k < from.depth ? sb_load(sb_at(from, i, k)) : 0.0f;
}

/* The total that the launch before has left in C(i, j), if the element exists. */
SB_DEVICE float sb_left(const sb_gemm_args &args, int i, int j)
{
	return i < args.m && j < args.n ? sb_load(args.c + (i + j * args.ldc)) : 0.0f;
}

/* C(i, j) from its finished sum, if the element exists. */
SB_DEVICE void sb_finish(const sb_gemm_args &args, int i, int j, float sum)
{
	if (i >= args.m || j >= args.n)
		return;
	float *c = args.c + (i + j * args.ldc);
	float t = sb_mul(args.alpha, sum);
	if (args.beta != 0.0f)
		t = sb_add(t, sb_mul(args.beta, sb_load(c)));
	sb_store(c, t);
}

/*
 * A thread's TM x TN sums: the running chain of this slab and the total of the slabs before it. A
 * chain that starts at +0 and a total that starts at +0 make a flush of nothing exact, so that the
 * end may flush without asking.
 */
template <int TM, int TN> struct sb_sums {
	float chain[TM][TN], total[TM][TN];

	SB_DEVICE sb_sums()
	{
		SB_UNROLL
		for (int r = 0; r < TM; r++) {
			SB_UNROLL
			for (int c = 0; c < TN; c++)
				chain[r][c] = total[r][c] = 0.0f;
		}
	}

	/* From the totals of elements that begin at (i, j) and lie so far apart. */
	SB_DEVICE void resume(const sb_gemm_args &args, int i, int j, int apart_m, int apart_n)
	{
		SB_UNROLL
		for (int r = 0; r < TM; r++) {
			SB_UNROLL
			for (int c = 0; c < TN; c++)
				total[r][c] = sb_left(args, i + r * apart_m, j + c * apart_n);
		}
	}

	SB_DEVICE void flush()
	{
		SB_UNROLL
		for (int r = 0; r < TM; r++) {
			SB_UNROLL
			for (int c = 0; c < TN; c++) {
				total[r][c] = sb_add(total[r][c], chain[r][c]);
				chain[r][c] = 0.0f;
			}
		}
	}

	/* After the step that ends at k. */
	SB_DEVICE void step(int k)
	{
		if (k % SB_SLAB == 0)
			flush();
	}

	SB_DEVICE void multiply(const float (&a)[TM], const float (&b)[TN])
	{
		if constexpr (TM % 2 == 0)
			if (SB_FMA_PAIRED) {
				multiply_pairs(a, b);
				return;
			}
		multiply_singly(a, b);
	}

	/*
	 * To and fro, so that each FMA shares an operand with the one before it. For kernels that are
	 * short of registers too, of which pairs want those that are side by side.
	 */
	SB_DEVICE void multiply_singly(const float (&a)[TM], const float (&b)[TN])
	{
		SB_UNROLL
		for (int r = 0; r < TM; r++) {
			SB_UNROLL
			for (int s = 0; s < TN; s++) {
				int c = r % 2 == 0 ? s : TN - 1 - s;

				chain[r][c] = sb_fma(a[r], b[c], chain[r][c]);
			}
		}
	}

	/* The same two rows at a time. */
	SB_DEVICE void multiply_pairs(const float (&a)[TM], const float (&b)[TN])
	{
		SB_UNROLL
		for (int r = 0; r < TM; r += 2) {
			SB_UNROLL
			for (int s = 0; s < TN; s++) {
				int c = r % 4 == 0 ? s : TN - 1 - s;
				float two[2] = {chain[r][c], chain[r + 1][c]};

				sb_fma2(two, {a[r], a[r + 1]}, b[c]);
				chain[r][c] = two[0];
				chain[r + 1][c] = two[1];
			}
		}
	}
};

/* Fills to[k][i], element by element, neighbouring threads along i. */
template <int threads, int width, int depth, int row>
SB_DEVICE void sb_fill_along(float (&to)[depth][row], const sb_operand &from, int i0, int k0)
{
	static_assert(width * depth % threads == 0, "the threads share the tile evenly");
	SB_UNROLL
	for (int s = 0; s < width * depth / threads; s++) {
		int t = sb_thread() + s * threads;

		sb_put(to, t / width, t % width, sb_element(from, i0 + t % width, k0 + t / width));
	}
}

/* The same with neighbouring threads along k. */
template <int threads, int width, int depth, int row>
SB_DEVICE void sb_fill_across(float (&to)[depth][row], const sb_operand &from, int i0, int k0)
{
	static_assert(width * depth % threads == 0, "the threads share the tile evenly");
	SB_UNROLL
	for (int s = 0; s < width * depth / threads; s++) {
		int t = sb_thread() + s * threads;

		sb_put(to, t % depth, t / depth, sb_element(from, i0 + t / depth, k0 + t % depth));
	}
}

/* Fills to[i][k], neighbouring threads along k. */
template <int threads, int depth, int width, int row>
SB_DEVICE void sb_fill_rows(float (&to)[width][row], const sb_operand &from, int i0, int k0)
{
	static_assert(width * depth % threads == 0, "the threads share the tile evenly");
	SB_UNROLL
	for (int s = 0; s < width * depth / threads; s++) {
		int t = sb_thread() + s * threads;

		sb_put(to, t / depth, t % depth, sb_element(from, i0 + t / depth, k0 + t % depth));
	}
}

/* Fills to[i][k], neighbouring threads along i. */
template <int threads, int depth, int width, int row>
SB_DEVICE void sb_fill_columns(float (&to)[width][row], const sb_operand &from, int i0, int k0)
{
	static_assert(width * depth % threads == 0, "the threads share the tile evenly");
	SB_UNROLL
	for (int s = 0; s < width * depth / threads; s++) {
		int t = sb_thread() + s * threads;

		sb_put(to, t % width, t / width, sb_element(from, i0 + t % width, k0 + t / width));
	}
}

#endif
