/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns tiles of fp32 in shared memory into three parts of bf16 each, laid out for a warpgroup's
 * products: panels of 64 by `window` rows of k, `parts` after `parts` for each stage.
 */
#ifndef SB_THIRDS_CUH
#define SB_THIRDS_CUH

#include "emulated.cuh"

/* By `splitters` threads, the block's thread number `first_of` and those behind it, BK rows at a
 * time. */
template <int BK, int window, int splitters, int first_of> struct sb_thirds {
	static constexpr int parts = 3;

	/*
	 * Splits `count` fours side by side. What is left of an element after two parts is its
	 * third if the lower half of its bits is zero: a bf16 is the upper half of an fp32. Where
	 * it is not zero, the three do not make the element; neither do they where a part is
	 * infinite, which leaves NaN.
	 */
	template <int count>
	SB_DEVICE static void split(const sb_float4 (&x)[count], sb_words2 (&to)[parts][count],
				    uint32_t &lost)
	{
		float rest[count][4];

		SB_UNROLL
		for (int u = 0; u < count; u++) {
			SB_UNROLL
			for (int e = 0; e < 4; e++)
				rest[u][e] = x[u].x[e];
		}
		SB_UNROLL
		for (int p = 0; p < 2; p++) {
			SB_UNROLL
			for (int u = 0; u < count; u++) {
				SB_UNROLL
				for (int e = 0; e < 4; e += 2) {
					uint32_t pair = sb_bf16_pair(rest[u][e], rest[u][e + 1]);

					to[p][u].x[e / 2] = pair;
					rest[u][e] = sb_add(rest[u][e], -sb_bits_float(pair << 16));
					rest[u][e + 1] = sb_add(rest[u][e + 1],
								-sb_bits_float(pair & 0xffff0000u));
				}
			}
		}
		SB_UNROLL
		for (int u = 0; u < count; u++) {
			SB_UNROLL
			for (int e = 0; e < 4; e += 2) {
				uint32_t low = sb_result_bits(rest[u][e]);
				uint32_t high = sb_result_bits(rest[u][e + 1]);

				lost |= low | high;
				to[2][u].x[e / 2] = sb_upper_halves(low, high);
			}
		}
	}

	/*
	 * A thread's fours: 16 threads have a row of a panel of 64, 8 such rows in turn, so that
	 * the swizzle is the same for all of its fours and they lie at fixed distances.
	 */
	static constexpr int rows_at_once = splitters / 16, batch = BK / rows_at_once;
	static_assert(rows_at_once == 8 && BK % rows_at_once == 0, "");

	struct own {
		int k, column, place;

		SB_DEVICE own()
		{
			unsigned t = (unsigned)sb_thread() - first_of, quad = t % 16, row = t / 16;

			k = (int)row;
			column = (int)quad * 4;
			place = (int)((quad / 2 ^ row % 8) * 8 + quad % 2 * 4);
		}
	};

	/* From a panel of a raw tile. */
	template <int width, int rows>
	SB_DEVICE static void take(const float (&raw)[rows][width], int slot, int panel_of,
				   const own &mine, sb_float4 (&x)[batch])
	{
		SB_UNROLL
		for (int u = 0; u < batch; u++)
			x[u] = sb_get4(raw, slot * BK + mine.k + u * rows_at_once,
				       mine.column + panel_of * 64);
	}

	/* Their parts, to `first` rows into a window; adds to `lost`. */
	template <int panels, int rows>
	SB_DEVICE static void give(uint16_t (&to)[rows][64], int stage, int first, int panel_of,
				   const own &mine, const sb_float4 (&x)[batch], uint32_t &lost)
	{
		sb_words2 words[parts][batch];

		split(x, words, lost);
		SB_UNROLL
		for (int u = 0; u < batch; u++) {
			SB_UNROLL
			for (int p = 0; p < parts; p++) {
				int row = ((stage * parts + p) * panels + panel_of) * window;

				sb_put_words2(to, row + first + mine.k + u * rows_at_once,
					      mine.place, words[p][u]);
			}
		}
	}
};

#endif
