/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fp16x3 does with the scales of slabs: window sums come into the totals of elements, and
 * totals from one slab's scale into another's. All products by scales are exact.
 */
#ifndef SB_SCALES_CUH
#define SB_SCALES_CUH

#include "emulated.cuh"

/* slots: how many slabs' scales shared memory holds; a thread has `held` elements of BM x BN. */
template <int BM, int BN, int slots> struct sb_scales {
	static constexpr int held = BM / 2;

	/* The bits of each row's and column's scale. */
	struct copies {
		alignas(16) int32_t a[slots][BM];
		alignas(16) int32_t b[slots][BN];
	};

	/* The scales of a slab: its copy's number, and those of the thread's two rows. */
	struct scale {
		int slot;
		float row[2];

		SB_DEVICE void read(const copies &all, int row0)
		{
			SB_UNROLL
			for (int h = 0; h < 2; h++)
				row[h] = sb_bits_float(
					(uint32_t)sb_get_int(all.b, slot, row0 + 8 * h));
		}
	};

	/*
	 * Adds a window's sums times their scale and `down`, a power of two, to the totals. The
	 * first product is exact, so that this is one rounding.
	 */
	SB_DEVICE static void add_scaled(const copies &all, const scale &by, float down,
					 const float (&from)[held], float (&total)[held])
	{
		const float row[2] = {sb_mul(by.row[0], down), sb_mul(by.row[1], down)};

		SB_UNROLL
		for (int c = 0; c < held / 4; c++) {
			sb_words2 column = columns(all, by.slot, c);

			SB_UNROLL
			for (int d = 0; d < 4; d++)
				total[4 * c + d] =
					sb_fma(sb_mul(from[4 * c + d], row[d / 2]),
					       sb_bits_float(column.x[d % 2]), total[4 * c + d]);
		}
	}

	/* The scales of two of the thread's columns. */
	SB_DEVICE static sb_words2 columns(const copies &all, int slot, int c)
	{
		return sb_get_words2(all.a, slot, 8 * c + sb_fragment_column());
	}

	/*
	 * Where no scale is far from the others, the totals may be kept in the slab's own scale:
	 * all that the other way does to them is done to numbers that are larger by one and the
	 * same power of two, and the range that there is left keeps both from over- and underflow.
	 * So the bits are the same. `one` is 1, or 2^-11.
	 */
	template <bool far>
	SB_DEVICE static void promote(const copies &all, const scale &by, float one,
				      const float (&from)[held], float (&total)[held])
	{
		if constexpr (far) {
			add_scaled(all, by, one, from, total);
		} else {
			SB_UNROLL
			for (int d = 0; d < held; d++)
				total[d] = one == 1.0f ? sb_add(total[d], from[d])
						       : sb_fma(from[d], one, total[d]);
		}
	}

	/* Totals in one slab's scale come into another's: exact. */
	SB_DEVICE static void rescale(const copies &all, const scale &from, const scale &to,
				      float (&total)[held])
	{
		float row[2];

		SB_UNROLL
		for (int h = 0; h < 2; h++)
			row[h] = quotient(sb_float_bits(from.row[h]), sb_float_bits(to.row[h]));
		SB_UNROLL
		for (int c = 0; c < held / 4; c++) {
			sb_words2 old = columns(all, from.slot, c), now = columns(all, to.slot, c);

			SB_UNROLL
			for (int d = 0; d < 4; d++)
				total[4 * c + d] = sb_mul(sb_mul(total[4 * c + d], row[d / 2]),
							  quotient(old.x[d % 2], now.x[d % 2]));
		}
	}

	/* Of two powers of two, from their bits. */
	SB_DEVICE static float quotient(uint32_t over, uint32_t under)
	{
		return sb_bits_float(over - under + (127u << 23));
	}

	/* Or into none. */
	SB_DEVICE static void settle(const copies &all, const scale &by, float (&total)[held])
	{
		SB_UNROLL
		for (int c = 0; c < held / 4; c++) {
			sb_words2 column = columns(all, by.slot, c);

			SB_UNROLL
			for (int d = 0; d < 4; d++)
				total[4 * c + d] = sb_mul(sb_mul(total[4 * c + d], by.row[d / 2]),
							  sb_bits_float(column.x[d % 2]));
		}
	}
};

#endif
