/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles moved four floats at a time: from global memory into a thread's registers, from there into
 * shared memory as [k][i], and a finished sum into C. The natural layouts are i contiguous for A
 * and k contiguous for B; whatever is not aligned, contiguous or inside goes element by element.
 */
#ifndef SB_QUADS_CUH
#define SB_QUADS_CUH

#include "tile.cuh"

SB_DEVICE bool sb_aligned(const void *p)
{
	return (uintptr_t)p % 16 == 0;
}

/* Whether four neighbours along i (along k) may be loaded at once from every fourth of them. */
SB_DEVICE bool sb_wide_along(const sb_operand &from)
{
	return from.stride_i == 1 && from.stride_k % 4 == 0 && sb_aligned(from.origin);
}

SB_DEVICE bool sb_wide_across(const sb_operand &from)
{
	return from.stride_k == 1 && from.stride_i % 4 == 0 && sb_aligned(from.origin);
}

/*
 * A thread's share of a tile of `width` by BK on its way from global to shared memory, or only `held`
 * of its fours, from number `first` on.
 */
template <int width, int BK, int threads, int held = width * BK / 4 / threads> struct sb_quads {
	static constexpr int count = width * BK / 4 / threads;
	static_assert(count * 4 * threads == width * BK, "the threads share the tile evenly");
	sb_float4 quad[held];

	/* Four neighbours along i. */
	SB_DEVICE void load_along(const sb_operand &from, bool wide, int i0, int k0,
	                          int first = 0)
	{
		SB_UNROLL
		for (int q = 0; q < held; q++) {
			int t = sb_thread() + (first + q) * threads;
			int i = i0 + t % (width / 4) * 4, k = k0 + t / (width / 4);

			if (wide && i + 4 <= from.extent && k < from.depth) {
				quad[q] = sb_load4(sb_at(from, i, k));
			} else {
				SB_UNROLL
				for (int e = 0; e < 4; e++)
					quad[q].x[e] = sb_element(from, i + e, k);
			}
		}
	}

	template <bool swizzled = false>
	SB_DEVICE void put_along(float (&to)[BK][width], int first = 0) const
	{
		SB_UNROLL
		for (int q = 0; q < held; q++) {
			int t = sb_thread() + (first + q) * threads;
			int i = t % (width / 4) * 4, k = t / (width / 4);

			sb_put4(to, k, column<swizzled>(i, k), quad[q]);
		}
	}

	/* Across, neighbouring threads take `groups` fours along k before they go on along i. */
	static constexpr int groups = BK / 4 < 4 ? BK / 4 : 4;

	SB_DEVICE static int i_across(int t)
	{
		return t / groups % width;
	}

	SB_DEVICE static int k_across(int t)
	{
		return (t % groups + t / (groups * width) * groups) * 4;
	}

	/* Four neighbours along k. */
	SB_DEVICE void load_across(const sb_operand &from, bool wide, int i0, int k0,
	                          int first = 0)
	{
		SB_UNROLL
		for (int q = 0; q < held; q++) {
			int t = sb_thread() + (first + q) * threads;
			int i = i0 + i_across(t), k = k0 + k_across(t);

			if (wide && i < from.extent && k + 4 <= from.depth) {
				quad[q] = sb_load4(sb_at(from, i, k));
			} else {
				SB_UNROLL
				for (int e = 0; e < 4; e++)
					quad[q].x[e] = sb_element(from, i, k + e);
			}
		}
	}

	/* Transposed: the four go into one column. */
	template <bool swizzled>
	SB_DEVICE void put_across(float (&to)[BK][width], int first = 0) const
	{
		SB_UNROLL
		for (int q = 0; q < held; q++) {
			int t = sb_thread() + (first + q) * threads;
			int i = i_across(t), k = k_across(t);

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				sb_put(to, k + e, column<swizzled>(i, k), quad[q].x[e]);
		}
	}

	/*
	 * Where column i of row k lies. A warp's transposing store covers `groups` groups of four rows
	 * and 32 / groups columns; without the swizzle the groups meet in the same banks. The swizzle
	 * keeps fours of columns together.
	 */
	template <bool swizzled> SB_DEVICE static int column(int i, int k)
	{
		return swizzled ? i ^ (k / 4 % groups * (32 / groups)) : i;
	}
};

/* C(i..i+3, j) from their finished sums. */
SB_DEVICE void sb_finish4(const sb_gemm_args &args, bool wide, int i, int j, const float (&sum)[4])
{
	if (wide && i + 4 <= args.m && j < args.n) {
		float *c = args.c + (i + j * args.ldc);
		sb_float4 t;

		SB_UNROLL
		for (int e = 0; e < 4; e++)
			t.x[e] = sb_mul(args.alpha, sum[e]);
		if (args.beta != 0.0f) {
			sb_float4 old = sb_load4(c);

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				t.x[e] = sb_add(t.x[e], sb_mul(args.beta, old.x[e]));
		}
		sb_store4(c, t);
	} else {
		SB_UNROLL
		for (int e = 0; e < 4; e++)
			sb_finish(args, i + e, j, sum[e]);
	}
}

SB_DEVICE bool sb_wide_c(const sb_gemm_args &args)
{
	return args.ldc % 4 == 0 && sb_aligned(args.c);
}

/* What the launch before has left in C(i..i+3, j). */
SB_DEVICE sb_float4 sb_left4(const sb_gemm_args &args, bool wide, int i, int j)
{
	sb_float4 left;

	if (wide && i + 4 <= args.m && j < args.n)
		return sb_load4(args.c + (i + j * args.ldc));
	SB_UNROLL
	for (int e = 0; e < 4; e++)
		left.x[e] = sb_left(args, i + e, j);
	return left;
}

/*
 * A block whose threads hold TM x TN elements each, in fours: a thread's fours lie BM / (TM / 4)
 * apart in i and likewise in j, so that the threads of a warp read neighbouring fours.
 */
template <int BM, int BN, int BK, int threads, int TM, int TN, bool swizzled,
          bool swizzled_a = false>
struct sb_fours {
	static constexpr int across_m = BM / TM, across_n = BN / TN;
	static_assert(threads == across_m * across_n, "the threads cover the tile");
	static_assert(TM % 4 == 0 && TN % 4 == 0, "in fours");
	struct tile {
		alignas(16) float a[BK][BM];
		alignas(16) float b[BK][BN];
	};

	SB_DEVICE static int i_of(int r)
	{
		return sb_thread() % across_m * 4 + r / 4 * (BM / (TM / 4)) + r % 4;
	}

	SB_DEVICE static int j_of(int c)
	{
		return sb_thread() / across_m * 4 + c / 4 * (BN / (TN / 4)) + c % 4;
	}

	template <int count>
	SB_DEVICE static void multiply(const tile &from, int begin, sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = begin; k < begin + count; k++) {
			float a_k[TM], b_k[TN];

			SB_UNROLL
			for (int r = 0; r < TM; r += 4) {
				int i = sb_quads<BM, BK, threads>::template column<swizzled_a>(i_of(r), k);
				sb_float4 four = sb_get4(from.a, k, i);

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					a_k[r + e] = four.x[e];
			}
			SB_UNROLL
			for (int c = 0; c < TN; c += 4) {
				int j = sb_quads<BN, BK, threads>::template column<swizzled>(j_of(c), k);
				sb_float4 four = sb_get4(from.b, k, j);

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					b_k[c + e] = four.x[e];
			}
			sums.multiply(a_k, b_k);
		}
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, sb_corner corner,
	                             const sb_sums<TM, TN> &sums)
	{
		bool wide = sb_wide_c(args);

		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r += 4) {
				const float sum[4] = {sums.total[r][c], sums.total[r + 1][c],
				                      sums.total[r + 2][c], sums.total[r + 3][c]};

				sb_finish4(args, wide, corner.i + i_of(r), corner.j + j_of(c), sum);
			}
		}
	}
};

#endif
