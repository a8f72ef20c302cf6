/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns tiles of fp32 in shared memory into three parts of bf16 each for a warpgroup's products:
 * laid out in shared memory, panels of 64 by BK rows of k, `parts` after `parts` for each stage; or
 * in the registers of those that multiply.
 *
 * A panel's columns are woven: its chunk of eight number q has columns 4q..4q+3 and 32+4q..32+4q+3,
 * so that a thread reads fours and stores eights, and in both no lane meets another in a bank.
 */
#ifndef SB_THIRDS_CUH
#define SB_THIRDS_CUH

#include "emulated.cuh"

/*
 * Splits `count` fours side by side; adds to `lost`. What is left of an element after two parts is
 * its third if the lower half of its bits is zero: a bf16 is the upper half of an fp32. Where it is
 * not zero, the three do not make the element; neither do they where a part is infinite, which
 * leaves NaN.
 */
template <int count>
SB_DEVICE void sb_split_thirds(const sb_float4 (&x)[count], sb_words2 (&to)[3][count],
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
				rest[u][e + 1] =
					sb_add(rest[u][e + 1], -sb_bits_float(pair & 0xffff0000u));
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

/* By `splitters` threads, the block's thread number `first_of` and those behind it, a panel of BK
 * rows at a time: each thread has two fours of it. */
template <int BK, int splitters, int first_of> struct sb_thirds {
	static constexpr int parts = 3, fours = 2;
	static_assert(splitters / 8 == BK && BK % 8 == 0, "");

	struct own {
		int k, column, place;

		SB_DEVICE own()
		{
			unsigned t = (unsigned)sb_thread() - first_of, quad = t % 8, row = t / 8;

			k = (int)row;
			column = (int)quad * 4;
			place = (int)(quad ^ row % 8) * 8;
		}
	};

	/* From a panel of a raw tile. */
	template <int width, int rows>
	SB_DEVICE static void take(const float (&raw)[rows][width], int slot, int panel_of,
				   const own &mine, sb_float4 (&x)[fours])
	{
		SB_UNROLL
		for (int u = 0; u < fours; u++)
			x[u] = sb_get4(raw, slot * BK + mine.k,
				       mine.column + panel_of * 64 + u * 32);
	}

	/* Their parts, to a stage; adds to `lost`. */
	template <int panels, int rows>
	SB_DEVICE static void give(uint16_t (&to)[rows][64], int stage, int panel_of,
				   const own &mine, const sb_float4 (&x)[fours], uint32_t &lost)
	{
		sb_words2 words[parts][fours];

		sb_split_thirds(x, words, lost);
		SB_UNROLL
		for (int p = 0; p < parts; p++) {
			int row = ((stage * parts + p) * panels + panel_of) * BK;

			sb_put_words4(to, row + mine.k, mine.place,
				      {{words[p][0].x[0], words[p][0].x[1], words[p][1].x[0],
					words[p][1].x[1]}});
		}
	}
};

/*
 * By a thread of a warpgroup that multiplies: its part of the fragments of 16 * `count` rows of k
 * from `row` on, of `column` and the one 8 further, which lie along the products' rows. Every other
 * lane reads the second one first: rows of 128 floats all lie in the same banks, and so but two
 * lanes meet in one. Adds to `lost`.
 */
template <int count, int rows, int width>
SB_DEVICE void sb_take_thirds(const float (&raw)[rows][width], int row, int column,
			      sb_words4 (&part)[3][count], uint32_t &lost)
{
	int k = row + sb_fragment_column();
	bool odd = sb_thread() % 2 != 0;
	int near = column + (odd ? 8 : 0), far = column + (odd ? 0 : 8);
	sb_float4 x[2 * count];
	sb_words2 words[3][2 * count];

	SB_UNROLL
	for (int u = 0; u < 2 * count; u++) {
		SB_UNROLL
		for (int e = 0; e < 2; e++) {
			float one = sb_get(raw, k + 8 * u + e, near);
			float other = sb_get(raw, k + 8 * u + e, far);

			x[u].x[e] = odd ? other : one;
			x[u].x[2 + e] = odd ? one : other;
		}
	}
	sb_split_thirds(x, words, lost);
	SB_UNROLL
	for (int p = 0; p < 3; p++) {
		SB_UNROLL
		for (int s = 0; s < count; s++)
			part[p][s] = {{words[p][2 * s].x[0], words[p][2 * s].x[1],
				       words[p][2 * s + 1].x[0], words[p][2 * s + 1].x[1]}};
	}
}

#endif
