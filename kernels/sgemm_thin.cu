/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products with a few rows or a few columns of C, which take as long as reading the larger operand
 * takes. A block has one slab of k, and keeps its part of the small operand in shared memory. A
 * thread owns some rows of the large one and all of the few. Where rows are contiguous along k, each
 * warp turns its own in shared memory, since a chain must not be divided among threads. No warp
 * waits for another, so that some load while others multiply.
 */
#include "slab.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_thin {
	static constexpr bool flat = BM < BN;
	static constexpr int rows = flat ? BN : BM, few = flat ? BM : BN;
	static constexpr int own = rows / threads; /* rows of a thread */
	static_assert(own == (flat ? TN : TM) && few == (flat ? TM : TN), "");
	static_assert(own * threads == rows && few % 4 == 0 && stages == 1, "");
	/* Rows of a warp, and fours of them that a thread loads, neighbouring threads along k. */
	static constexpr int rows_warp = 32 * own, across = BK / 4, count = rows_warp * across / 32;

	struct shared {
		alignas(16) float turned[rows][BK + 4];
		alignas(16) float short_one[SB_SLAB][few];
	};

	/* The first of the rows that the warp owns. */
	SB_DEVICE static int warp_row()
	{
		return sb_thread() / 32 * rows_warp;
	}

	SB_DEVICE static int row_of(int r)
	{
		return warp_row() + sb_thread() % 32 + r * 32;
	}

	/* Beyond the edge along k zero; beyond that along i a row that is there, whose sums nobody keeps. */
	SB_DEVICE static float clamped(const float *row, const sb_operand &from, int k)
	{
		bool inside = k < from.depth;
		float value = sb_load(row + (inside ? k : 0) * from.stride_k);

		return inside ? value : 0.0f;
	}

	SB_DEVICE static const float *row_at(const sb_operand &from, int row)
	{
		return sb_at(from, row < from.extent ? row : from.extent - 1, 0);
	}

	SB_DEVICE static void load_across(sb_float4 (&fours)[count], const sb_operand &from, bool wide,
	                                  int row0, int k0)
	{
		SB_UNROLL
		for (int q = 0; q < count; q++) {
			int t = sb_thread() % 32 + q * 32, k = k0 + t % across * 4;
			const float *row = row_at(from, row0 + warp_row() + t / across);

			if (wide && k + 4 <= from.depth) {
				fours[q] = sb_load4(row + k);
			} else {
				SB_UNROLL
				for (int e = 0; e < 4; e++)
					fours[q].x[e] = clamped(row, from, k + e);
			}
		}
	}

	SB_DEVICE static void put_across(shared &tile, const sb_float4 (&fours)[count])
	{
		SB_UNROLL
		for (int q = 0; q < count; q++) {
			int t = sb_thread() % 32 + q * 32;

			sb_put4(tile.turned, warp_row() + t / across, t % across * 4, fours[q]);
		}
	}

	SB_DEVICE static void load_along(float (&values)[BK][own], const sb_operand &from, int row0,
	                                 int k0)
	{
		bool whole = k0 + BK <= from.depth;

		SB_UNROLL
		for (int r = 0; r < own; r++) {
			const float *row = row_at(from, row0 + row_of(r));

			if (whole) {
				row += k0 * from.stride_k;
				SB_UNROLL
				for (int k = 0; k < BK; k++, row += from.stride_k)
					values[k][r] = sb_load(row);
			} else {
				SB_UNROLL
				for (int k = 0; k < BK; k++)
					values[k][r] = clamped(row, from, k0 + k);
			}
		}
	}

	SB_DEVICE static void fill_short(shared &tile, const sb_operand &from, int column0)
	{
		for (int t = sb_thread(); t < SB_SLAB * few; t += threads) {
			int k = from.stride_k == 1 ? t % SB_SLAB : t / few;
			int column = from.stride_k == 1 ? t / SB_SLAB : t % few;

			sb_put(tile.short_one, k, column, sb_element(from, column0 + column, k));
		}
	}

	SB_DEVICE static void multiply(const shared &tile, int k, const float (&value)[own],
	                               float (&chain)[own][few])
	{
		SB_UNROLL
		for (int c = 0; c < few; c += 4) {
			sb_float4 four = sb_get4(tile.short_one, k, c);

			SB_UNROLL
			for (int e = 0; e < 4; e++) {
				SB_UNROLL
				for (int r = 0; r < own; r++)
					chain[r][c + e] = sb_fma(flat ? four.x[e] : value[r],
					                         flat ? value[r] : four.x[e],
					                         chain[r][c + e]);
			}
		}
	}

	SB_DEVICE static void along(const sb_operand &from, int row0, const shared &tile,
	                            float (&chain)[own][few])
	{
		SB_ROLLED
		for (int k0 = 0; k0 < from.depth; k0 += BK) {
			float values[BK][own];

			load_along(values, from, row0, k0);
			SB_UNROLL
			for (int k = 0; k < BK; k++)
				multiply(tile, k0 + k, values[k], chain);
		}
	}

	SB_DEVICE static void turned(const sb_operand &from, int row0, shared &tile,
	                             float (&chain)[own][few])
	{
		bool wide = sb_wide_across(from);

		SB_ROLLED
		for (int k0 = 0; k0 < from.depth; k0 += BK) {
			sb_float4 fours[count];

			load_across(fours, from, wide, row0, k0);
			put_across(tile, fours);
			sb_warp_barrier();
			SB_UNROLL
			for (int k = 0; k < BK; k += 4) {
				sb_float4 four[own];

				SB_UNROLL
				for (int r = 0; r < own; r++)
					four[r] = sb_get4(tile.turned, row_of(r), k);
				SB_UNROLL
				for (int e = 0; e < 4; e++) {
					float value[own];

					SB_UNROLL
					for (int r = 0; r < own; r++)
						value[r] = four[r].x[e];
					multiply(tile, k0 + k + e, value, chain);
				}
			}
			sb_warp_barrier();
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tile)
	{
		sb_part slab = sb_block_part<BM, BN>(args);
		sb_operand a = sb_cut(sb_operand_a(args), slab.k0);
		sb_operand b = sb_cut(sb_operand_b(args), slab.k0);
		const sb_operand &from = flat ? b : a, &other = flat ? a : b;
		int row0 = flat ? slab.corner.j : slab.corner.i;
		float chain[own][few];

		SB_UNROLL
		for (int r = 0; r < own; r++) {
			SB_UNROLL
			for (int c = 0; c < few; c++)
				chain[r][c] = 0.0f;
		}
		fill_short(tile, other, flat ? slab.corner.i : slab.corner.j);
		sb_barrier();
		if (from.stride_i == 1)
			along(from, row0, tile, chain);
		else
			turned(from, row0, tile, chain);
		SB_UNROLL
		for (int c = 0; c < few; c++) {
			SB_UNROLL
			for (int r = 0; r < own; r++) {
				int i = slab.corner.i + (flat ? c : row_of(r));
				int j = slab.corner.j + (flat ? row_of(r) : c);

				sb_finish_chain(args, slab, i, j, chain[r][c]);
			}
		}
	}
};

#define SB_METHOD_thin 0, SB_MAKE
#include "instantiate.cuh"
