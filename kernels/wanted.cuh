/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which tiles a block of a persistent grid computes, one after the other, and what is to be asked
 * for ahead of them.
 */
#ifndef SB_WANTED_CUH
#define SB_WANTED_CUH

#include "emulated.cuh"

/*
 * Tiles from this block's first on, those passed over that nobody computes; where k is cut, of each
 * part of it.
 */
template <int BM, int BN, int window, bool cut> struct sb_wanted {
	static constexpr int halves = BM / 128, raster = 2048 / BM;

	int index, i, j; /* the tile, in tiles */
	int begin, end;	 /* its windows; the last may be half empty */
	unsigned wanted; /* bit h: half h is to be computed */

	SB_DEVICE sb_wanted() : index((int)sb_block())
	{
	}

	SB_DEVICE bool find(const sb_gemm_args &args)
	{
		int tiles_m = sb_tiles(args.m, BM), tiles_n = sb_tiles(args.n, BN);
		int all = tiles_m * tiles_n;

		for (; index < all * sb_parts<cut>(args); advance()) {
			int part = cut ? index / all : 0;
			sb_range range = sb_part_range<cut>(args, part);
			sb_place place = sb_raster<raster>(index - part * all, tiles_m, tiles_n);

			begin = range.begin / window;
			end = sb_tiles(range.end, window);
			i = place.row;
			j = place.column;
			wanted = 0;
			SB_UNROLL
			for (int h = 0; h < halves; h++) {
				int row = i * halves + h;

				if (row * 128 < args.m &&
				    (!args.flags_a || (sb_tile_flags(args, row, j) & SB_NOT_FP16)))
					wanted |= 1u << h;
			}
			if (wanted)
				return true;
		}
		return false;
	}

	SB_DEVICE void advance()
	{
		index += (int)sb_blocks();
	}
};

/* What comes next of those tiles: a step, of which a window has so many. */
template <typename work, int steps> struct sb_request {
	work w;
	int step;
	bool more;

	SB_DEVICE sb_request(const sb_gemm_args &args)
	{
		begin(args);
	}

	SB_DEVICE void begin(const sb_gemm_args &args)
	{
		more = w.find(args);
		step = w.begin * steps;
	}

	/* Whether there is one. A tile's step being the last, the next tile is not looked for
	 * before this is called. */
	SB_DEVICE bool find(const sb_gemm_args &args)
	{
		if (step == w.end * steps) {
			w.advance();
			begin(args);
		}
		return more;
	}

	/* Of the tile. */
	SB_DEVICE int left() const
	{
		return w.end * steps - step;
	}
};

#endif
