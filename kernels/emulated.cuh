/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernels share that multiply on the tensor cores by warpgroups: the order of tiles, whose
 * turn a tile is, sums of chunks of k, and C written from a warpgroup's fragments.
 *
 * The rows of a warpgroup's products lie along n and their columns along m, so that a thread holds
 * neighbours along m, where C is contiguous.
 */
#ifndef SB_EMULATED_CUH
#define SB_EMULATED_CUH

#include "quads.cuh"

struct sb_place {
	int row, column;
};

/*
 * Tile number `index` of rows x columns: groups of `group` rows, down each column of the group
 * before the next one, so that the tiles that are computed at once share operands in the L2 cache.
 */
template <int group> SB_DEVICE sb_place sb_raster(int index, int rows, int columns)
{
	int first = index / (group * columns) * group, left = rows - first;
	int height = left < group ? left : group, within = index - first * columns;

	return {first + within % height, within / height};
}

SB_DEVICE int sb_tiles(int extent, int tile)
{
	return (extent + tile - 1) / tile;
}

/*
 * Into how many parts k is cut, if it is, and which values of k one of them has: [begin, end).
 * Known to the compiler, `cut` costs kernels no registers where k is not.
 */
template <bool cut> SB_DEVICE int sb_parts(const sb_gemm_args &args)
{
	return cut ? sb_tiles(args.k, args.part) : 1;
}

struct sb_range {
	int begin, end;
};

/* Of those the ones of the number-th `length`. */
SB_DEVICE sb_range sb_range_of(const sb_gemm_args &args, int number, int length)
{
	int begin = number * length;

	return {begin, args.k - begin > length ? begin + length : args.k};
}

template <bool cut> SB_DEVICE sb_range sb_part_range(const sb_gemm_args &args, int part)
{
	return cut ? sb_range_of(args, part, args.part) : sb_range{0, args.k};
}

/* A place in a ring of buffers, and the parity of its barriers' phase. */
template <int stages> struct sb_ring {
	int stage;
	unsigned parity;
	bool again; /* the stage has been filled before */

	SB_DEVICE void advance()
	{
		if (++stage == stages) {
			stage = 0;
			parity ^= 1;
			again = true;
		}
	}
};

/* A warpgroup's thread: its first row of a fragment (the other is 8 further) and its first column.
 */
SB_DEVICE int sb_fragment_row()
{
	return sb_warp() % 4 * 16 + sb_thread() % 32 / 4;
}

SB_DEVICE int sb_fragment_column()
{
	return sb_thread() % 4 * 2;
}

/*
 * Adds a chunk's sums to those of the chunks before, in work, from where they come back in `sums`
 * if they are the last. `first` chunks are added to zero. size: the block's floats in work;
 * threads: how many of the block hold sums; part: of so many parts of the tile; batch: how many
 * fours a thread fetches at once.
 */
template <int size, int threads, int batch = 4, int count>
SB_DEVICE void sb_add_chunk(const sb_gemm_args &args, float (&sums)[count], int part, int parts,
			    bool first, bool last)
{
	float *p = args.work +
		   ((int64_t)sb_block() * size + part * (size / parts) + sb_thread_anew() * 4);

	SB_UNROLL
	for (int f = 0; f < count / 4; f += batch) {
		sb_float4 left[batch];

		SB_UNROLL
		for (int u = 0; u < batch; u++) {
			if (first)
				left[u] = {{0.0f, 0.0f, 0.0f, 0.0f}};
			else
				left[u] = sb_load4(p + (f + u) * 4 * threads);
		}
		SB_UNROLL
		for (int u = 0; u < batch; u++) {
			SB_UNROLL
			for (int e = 0; e < 4; e++) {
				float &sum = sums[4 * (f + u) + e];

				sum = left[u].x[e] = sb_add(left[u].x[e], sum);
			}
			if (!last)
				sb_store4(p + (f + u) * 4 * threads, left[u]);
		}
		sb_warp_barrier();
	}
}

/*
 * The same by all of a tile, of which a thread's first `kept` fours wait in shared memory, where no
 * other block is in the way; the others, which come from work, are on their way meanwhile.
 */
template <int size, int threads, int kept, int count>
SB_DEVICE void sb_add_chunk_kept(const sb_gemm_args &args, float (&here)[kept][threads * 4],
				 float (&sums)[count], bool first, bool last)
{
	constexpr int away = count / 4 - kept;
	const sb_float4 none = {{0.0f, 0.0f, 0.0f, 0.0f}};
	int thread = sb_thread_anew();
	float *p = args.work + ((int64_t)sb_block() * size + thread * 4);
	sb_float4 left[away];

	SB_UNROLL
	for (int u = 0; u < away; u++)
		left[u] = first ? none : sb_load4(p + u * 4 * threads);
	SB_UNROLL
	for (int f = 0; f < count / 4; f++) {
		sb_float4 four = f >= kept ? left[f - kept]
				 : first   ? none
					   : sb_get4(here, f, thread * 4);

		SB_UNROLL
		for (int e = 0; e < 4; e++)
			sums[4 * f + e] = four.x[e] = sb_add(four.x[e], sums[4 * f + e]);
		if (!last && f < kept)
			sb_put4(here, f, thread * 4, four);
		else if (!last)
			sb_store4(p + (f - kept) * 4 * threads, four);
	}
	sb_warp_barrier();
}

/* The sums of the chunks before come first. */
SB_DEVICE void sb_add_left4(const sb_gemm_args &args, bool wide, int i, int j, float (&sums)[4])
{
	sb_float4 left = sb_left4(args, wide, i, j);

	SB_UNROLL
	for (int e = 0; e < 4; e++)
		sums[e] = sb_add(left.x[e], sums[e]);
}

/* The sum of a chunk where k is cut, if the element exists. */
SB_DEVICE void sb_keep(const sb_gemm_args &args, int chunk, int i, int j, float sum)
{
	if (i < args.m && j < args.n)
		sb_store(args.work + ((int64_t)chunk * args.m * args.n + i + (int64_t)j * args.m),
			 sum);
}

/* Of (i..i+3, j). */
SB_DEVICE void sb_keep4(const sb_gemm_args &args, int chunk, int i, int j, const float (&sum)[4])
{
	if (args.m % 4 == 0 && i < args.m && j < args.n) {
		sb_store4(args.work + ((int64_t)chunk * args.m * args.n + i + (int64_t)j * args.m),
			  {{sum[0], sum[1], sum[2], sum[3]}});
	} else {
		SB_UNROLL
		for (int e = 0; e < 4; e++)
			sb_keep(args, chunk, i + e, j, sum[e]);
	}
}

/*
 * C from the sums of 64 rows and 2 * count columns, the warpgroup's first of which are (j, i); or,
 * kept, those of a chunk. Neighbouring lanes exchange halves of two groups of eight columns, so
 * that each has four in a row. Woven, columns are in the order of thirds.cuh.
 */
template <bool kept, bool woven, int count>
SB_DEVICE void sb_store_fragment(const sb_gemm_args &args, int chunk, int i, int j,
				 const float (&sums)[count])
{
	int lane = sb_thread_anew() % 32;
	bool wide = !kept && sb_wide_c(args), odd = lane % 2 == 1;
	int four = woven ? lane % 2 * 4 + lane % 4 / 2 * 32 : lane % 4 * 2 + (odd ? 6 : 0);
	int column = i + four, row = j + sb_warp() % 4 * 16 + lane / 4;

	SB_UNROLL
	for (int c = 0; c < count; c += 8) {
		int at = column + (woven ? c / 32 * 64 + c % 32 : 2 * c);

		SB_UNROLL
		for (int h = 0; h < 2; h++) {
			const float *near = &sums[c + 2 * h], *far = &sums[c + 4 + 2 * h];
			float give0 = odd ? near[0] : far[0], give1 = odd ? near[1] : far[1];
			float take0 = sb_shuffle_xor(give0, 1), take1 = sb_shuffle_xor(give1, 1);
			float sum[4] = {odd ? take0 : near[0], odd ? take1 : near[1],
					odd ? far[0] : take0, odd ? far[1] : take1};

			if (kept) {
				sb_keep4(args, chunk, at, row + 8 * h, sum);
				continue;
			}
			if (args.resume)
				sb_add_left4(args, wide, at, row + 8 * h, sum);
			sb_finish4(args, wide, at, row + 8 * h, sum);
		}
	}
}

template <bool woven = false, int count>
SB_DEVICE void sb_finish_fragment(const sb_gemm_args &args, int i, int j,
				  const float (&sums)[count])
{
	sb_store_fragment<false, woven>(args, 0, i, j, sums);
}

template <bool woven = false, int count>
SB_DEVICE void sb_keep_fragment(const sb_gemm_args &args, int chunk, int i, int j,
				const float (&sums)[count])
{
	sb_store_fragment<true, woven>(args, chunk, i, j, sums);
}

#endif
