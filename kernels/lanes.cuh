/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the elements of a thread lie in the tile of warps whose threads are 8 along m and 4 along n, in
 * fours that far apart; and how they are read from panels in shared memory. Warps stand along m first.
 */
#ifndef SB_LANES_CUH
#define SB_LANES_CUH

#include "quads.cuh"

/* Of `group` threads (0: all of the block) that hold a whole tile of BM rows, TM x TN elements each. */
template <int BM, int TM, int TN, int group> struct sb_lanes {
	static constexpr int lanes_m = 8, lanes_n = 4;
	static constexpr int warps_m = BM / (lanes_m * TM);

	struct fragment {
		float a[TM], b[TN];
	};

	SB_DEVICE static int warp_of()
	{
		if constexpr (group > 0)
			return sb_thread() % group / 32;
		else
			return sb_thread() / 32;
	}

	SB_DEVICE static int i_of(int r)
	{
		int lane = sb_thread() % 32, warp = warp_of();

		return warp % warps_m * (lanes_m * TM) + lane % lanes_m * 4 + r / 4 * (lanes_m * 4) +
		       r % 4;
	}

	SB_DEVICE static int j_of(int c)
	{
		int lane = sb_thread() % 32, warp = warp_of();

		return warp / warps_m * (lanes_n * TN) + lane / lanes_m * 4 + c / 4 * (lanes_n * 4) +
		       c % 4;
	}

	/* The thread's part of one row of k of both panels. */
	template <int rows, int wide_a, int wide_b>
	SB_DEVICE static void read(fragment &to, const float (&a)[rows][wide_a],
	                           const float (&b)[rows][wide_b], int row)
	{
		SB_UNROLL
		for (int r = 0; r < TM; r += 4) {
			sb_float4 four = sb_get4(a, row, i_of(r));

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				to.a[r + e] = four.x[e];
		}
		SB_UNROLL
		for (int c = 0; c < TN; c += 4) {
			sb_float4 four = sb_get4(b, row, j_of(c));

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				to.b[c + e] = four.x[e];
		}
	}
};

#endif
