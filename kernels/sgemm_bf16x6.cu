/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FP32-accurate products from six products of bf16 on the tensor cores, of canonical panels. An
 * element x is b0 + b1 + b2, b0 = bf16(x), b1 = bf16(x - b0), b2 = bf16(x - b0 - b1), each rounded
 * to nearest; the differences are exact. For an element of C: result = +0, and for each chunk of k
 * (args.h), ascending, result += total, where
 *     total = +0; for each window of 32 of k of the chunk, ascending:
 *         temp = a chain of tensor core products from +0 on: a0*b2, a1*b1, a2*b0, a0*b1, a1*b0,
 *         a0*b0, of each the window's 16s of k in order
 *         total = total + temp
 * The guard is exact: a tile of 128 x 128 that has an element in its rows or columns that is not
 * finite, or not the sum of its parts (tiny ones and those that round to infinity), is not written
 * and its rows' or columns' flag is raised.
 *
 * One warpgroup has bulk copies bring fp32 tiles of BK and turns them into bf16 for the two that
 * multiply, each 64 columns of C. Those take turns: while one adds up the cores work for the other.
 */
#include "thirds.cuh"

template <int BM, int BN, int BK, int threads, int cluster, int stages, bool cut>
struct sb_bf16x6_any {
	static constexpr int window = 2 * BK, parts = 3, panels_a = BM / 64, panels_b = BN / 64;
	static constexpr int consumers = panels_b * 128, splitters = threads - consumers;
	static constexpr int split_warps = splitters / 32;
	static_assert(splitters == 128 && BK == 16 && BN == 128 && cluster == 1, "");
	/* A warpgroup's sums, and those of the half of the columns that it multiplies at a time. */
	static constexpr int halves = BM / 128, held = BM / 2, half = 64;
	using thirds = sb_thirds<BK, window, splitters, consumers>;
	/* Tiles of fp32 on their way, of BK each. */
	static constexpr int raws = 3;
	static constexpr unsigned raw_bytes = (BM + BN) * BK * 4;
	static constexpr unsigned panel = window * 128;
	static constexpr int raster = 2048 / BM;

	struct shared {
		alignas(1024) uint16_t a[stages * parts * panels_a * window][64];
		alignas(1024) uint16_t b[stages * parts * panels_b * window][64];
		alignas(128) float raw_a[raws * BK][BM];
		alignas(128) float raw_b[raws * BK][BN];
		/* What each splitting warp has found in the tile: bit h: rows of half h; above:
		 * columns. */
		int32_t found[stages][split_warps];
		uint64_t full[stages], empty[stages], come[raws], gone[raws];
	};

	/* Tiles from this block's first on, those passed over that nobody computes; where k is cut,
	 * of each part of it. */
	struct work {
		int index, i, j; /* the tile, in tiles */
		int begin, end;	 /* its windows; the last may be half empty */
		unsigned wanted; /* bit h: half h is to be computed */

		SB_DEVICE work() : index((int)sb_block())
		{
		}

		SB_DEVICE bool find(const sb_gemm_args &args)
		{
			int tiles_m = sb_tiles(args.m, BM), tiles_n = sb_tiles(args.n, BN);
			int all = tiles_m * tiles_n;

			for (; index < all * sb_parts<cut>(args); advance()) {
				int part = cut ? index / all : 0;
				sb_range range = sb_part_range<cut>(args, part);
				sb_place place =
					sb_raster<raster>(index - part * all, tiles_m, tiles_n);

				begin = range.begin / window;
				end = sb_tiles(range.end, window);
				i = place.row;
				j = place.column;
				wanted = 0;
				SB_UNROLL
				for (int h = 0; h < halves; h++) {
					int row = i * halves + h;

					if (row * 128 < args.m &&
					    (!args.flags_a ||
					     (sb_tile_flags(args, row, j) & SB_NOT_FP16)))
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

	SB_DEVICE static int row_a(int stage, int part, int panel_of)
	{
		return ((stage * parts + part) * panels_a + panel_of) * window;
	}

	SB_DEVICE static int row_b(int stage, int part, int panel_of)
	{
		return ((stage * parts + part) * panels_b + panel_of) * window;
	}

	/* By one thread: asks for BK of a tile from k on. What is beyond the maps comes as zeros.
	 */
	SB_DEVICE static void ask(const sb_gemm_args &args, shared &tiles, int slot, int i, int j,
				  int k)
	{
		uint64_t &come = tiles.come[slot];

		sb_copy_barrier_expect(come, raw_bytes);
		sb_copy_box(sb_rows<BK>(tiles.raw_a, slot), args.map_a, i * BM, k, come);
		sb_copy_box(sb_rows<BK>(tiles.raw_b, slot), args.map_b, j * BN, k, come);
	}

	/*
	 * The same BK one window further than turn number `turn_of`, of this tile or of the next,
	 * by the first thread of each splitting warp in turn: into the place that all left a turn
	 * ago, so that nobody waits long.
	 */
	SB_DEVICE static void ask_ahead(const sb_gemm_args &args, shared &tiles, unsigned turn_of,
					int i, int j, int k)
	{
		unsigned to = turn_of + window / BK, slot = to % raws;

		if (sb_thread() % 32 != 0 ||
		    (unsigned)(sb_thread() - consumers) / 32 != turn_of % split_warps)
			return;
		if (to >= raws)
			sb_copy_barrier_wait(tiles.gone[slot], (to / raws - 1) % 2);
		ask(args, tiles, (int)slot, i, j, k);
	}

	/* BK rows of both tiles. Reads go ahead of stores, which would hold them up. */
	SB_DEVICE static void turn(shared &tiles, int slot, int stage, int first,
				   const typename thirds::own &mine, uint32_t (&lost_a)[halves],
				   uint32_t &lost_b)
	{
		sb_float4 x[2][thirds::batch];

		thirds::take(tiles.raw_a, slot, 0, mine, x[0]);
		SB_UNROLL
		for (int p = 0; p < panels_a + panels_b; p++) {
			if (p + 1 < panels_a)
				thirds::take(tiles.raw_a, slot, p + 1, mine, x[(p + 1) % 2]);
			else if (p + 1 < panels_a + panels_b)
				thirds::take(tiles.raw_b, slot, p + 1 - panels_a, mine,
					     x[(p + 1) % 2]);
			if (p < panels_a)
				thirds::template give<panels_a>(tiles.a, stage, first, p, mine,
								x[p % 2], lost_a[p / 2 % halves]);
			else
				thirds::template give<panels_b>(tiles.b, stage, first, p - panels_a,
								mine, x[p % 2], lost_b);
		}
		sb_warp_barrier();
		if (sb_thread() % 32 == 0)
			sb_copy_barrier_arrive(tiles.gone[slot]);
	}

	SB_DEVICE static void convert(const sb_gemm_args &args, shared &tiles)
	{
		int warp = sb_warp() - consumers / 32;
		unsigned turn_of = 0; /* how many BK have been split */
		typename thirds::own mine;
		work w;
		bool more = w.find(args);

		if (more && sb_thread() == consumers)
			for (int r = 0; r * BK < window; r++)
				ask(args, tiles, r, w.i, w.j, w.begin * window + r * BK);
		sb_warp_barrier();
		while (more) {
			uint32_t lost_a[halves] = {}, lost_b = 0;
			int i = w.i, j = w.j, end = w.end, step = w.begin;

			w.advance();
			more = w.find(args);
			SB_ROLLED
			for (; step < end; step++) {
				unsigned now = turn_of / (window / BK);

				int stage = (int)(now % stages);

				if (now >= stages)
					sb_copy_barrier_wait(tiles.empty[stage],
							     (now / stages - 1) % 2);
				SB_UNROLL
				for (int first = 0; first < window; first += BK) {
					if (step + 1 < end)
						ask_ahead(args, tiles, turn_of, i, j,
							  (step + 1) * window + first);
					else if (more)
						ask_ahead(args, tiles, turn_of, w.i, w.j,
							  w.begin * window + first);
					sb_warp_barrier();
					sb_copy_barrier_wait(tiles.come[turn_of % raws],
							     turn_of / raws % 2);
					turn(tiles, (int)(turn_of % raws), stage, first, mine,
					     lost_a, lost_b);
					turn_of++;
				}
				if (step + 1 == end)
					tell(args, tiles, stage, warp, i, j, lost_a, lost_b);
				sb_tensor_fence();
				sb_warp_barrier();
				if (sb_thread() % 32 == 0)
					sb_copy_barrier_arrive(tiles.full[stage]);
			}
		}
	}

	/* Of a tile all of whose part of k has been split: says what is lost to those that write,
	 * and to all. */
	SB_DEVICE static void tell(const sb_gemm_args &args, shared &tiles, int stage, int warp,
				   int i, int j, const uint32_t (&lost_a)[halves], uint32_t lost_b)
	{
		int32_t found = sb_warp_any((lost_b & 0xffff) != 0) ? 1 << halves : 0;
		bool tells = sb_thread() % 32 == 0;

		SB_UNROLL
		for (int h = 0; h < halves; h++)
			found |= sb_warp_any((lost_a[h] & 0xffff) != 0) ? 1 << h : 0;
		if (tells)
			sb_put_int(tiles.found, stage, warp, found);
		if (!tells || !found || !args.flags_a)
			return;
		SB_UNROLL
		for (int h = 0; h < halves; h++)
			if (found >> h & 1 && (i * halves + h) * 128 < args.m)
				sb_raise_flags(args.flags_a + (i * halves + h), SB_NOT_BF16);
		if (found >> halves)
			sb_raise_flags(args.flags_b + j, SB_NOT_BF16);
	}

	/*
	 * Which halves are to be written. What of k was not in this launch has its flags raised
	 * already; flags that others raise meanwhile are of what was found here as well.
	 */
	SB_DEVICE static unsigned written(const sb_gemm_args &args, const shared &tiles, int stage,
					  const work &w)
	{
		unsigned found = 0;

		if (!args.flags_a)
			return w.wanted;
		SB_UNROLL
		for (int s = 0; s < split_warps; s++)
			found |= (unsigned)sb_get_int(tiles.found, stage, s);
		SB_UNROLL
		for (int h = 0; h < halves; h++)
			if (w.wanted >> h & 1 &&
			    sb_tile_flags(args, w.i * halves + h, w.j) & SB_NOT_BF16)
				found |= 1u << h;
		return found >> halves ? 0 : w.wanted & ~found;
	}

	/* By a warp: that it has read a window. */
	SB_DEVICE static void release(shared &tiles, int stage)
	{
		sb_warp_barrier();
		if (sb_thread() % 32 == 0)
			sb_copy_barrier_arrive(tiles.empty[stage]);
	}

	/* A window's products of one half into `temp`. */
	SB_DEVICE static void multiply(const shared &tiles, int stage, int group, int h,
				       float (&temp)[half])
	{
		constexpr int order_a[6] = {0, 1, 2, 0, 1, 0}, order_b[6] = {2, 1, 0, 1, 0, 0};

		SB_UNROLL
		for (int p = 0; p < 6; p++) {
			sb_mma_tile a = sb_mma_at(tiles.a[row_a(stage, order_a[p], h * 2)], panel);
			sb_mma_tile b = sb_mma_at(tiles.b[row_b(stage, order_b[p], group)], panel);

			SB_UNROLL
			for (int k = 0; k < window; k += 16)
				sb_mma_bf16<128>(temp, sb_mma_further(b, k), sb_mma_further(a, k),
						 p > 0 || k > 0);
		}
	}

	/* The sums of a chunk of so many windows; leaves its last one to be released. */
	SB_DEVICE static void add_up(shared &tiles, sb_ring<stages> &at, int count, int group,
				     float (&total)[halves][half])
	{
		SB_UNROLL
		for (int h = 0; h < halves; h++) {
			SB_UNROLL
			for (int d = 0; d < half; d++)
				total[h][d] = 0.0f;
		}
		SB_ROLLED
		for (int step = 0; step < count; step++) {
			if (step > 0)
				at.advance();
			sb_copy_barrier_wait(tiles.full[at.stage], at.parity);
			SB_UNROLL
			for (int h = 0; h < halves; h++) {
				float temp[half];

				sb_mma_fence();
				multiply(tiles, at.stage, group, h, temp);
				sb_mma_commit();
				sb_mma_wait<0>();
				sb_mma_hold(temp);
				if (h + 1 == halves && step + 1 < count)
					release(tiles, at.stage);
				SB_UNROLL
				for (int d = 0; d < half; d++)
					total[h][d] = sb_add(total[h][d], temp[d]);
			}
		}
	}

	SB_DEVICE static void compute(const sb_gemm_args &args, shared &tiles)
	{
		int group = sb_warp() / 4, chunk_windows = args.chunk / window;
		sb_ring<stages> at = {0, 0, false};
		work w;

		for (; w.find(args); w.advance()) {
			float total[halves][half];
			unsigned write = 0;

			SB_ROLLED
			for (int begin = w.begin; begin < w.end; begin += chunk_windows) {
				int left = w.end - begin;
				bool last = left <= chunk_windows;

				add_up(tiles, at, last ? left : chunk_windows, group, total);
				/* What has been found in the tile came with its last window. */
				if (last && !cut)
					write = written(args, tiles, at.stage, w);
				release(tiles, at.stage);
				at.advance();
				SB_UNROLL
				for (int h = 0; h < halves; h++) {
					if (!cut)
						sb_add_chunk<BM * BN, consumers, 8>(
							args, total[h], h, halves, begin == 0,
							last);
					else if (w.wanted >> h & 1)
						sb_keep_fragment(args, begin / chunk_windows,
								 w.i * BM + h * 128,
								 w.j * BN + group * 64, total[h]);
				}
			}
			SB_UNROLL
			for (int h = 0; h < halves; h++)
				if (write >> h & 1)
					sb_finish_fragment(args, w.i * BM + h * 128,
							   w.j * BN + group * 64, total[h]);
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		if (sb_thread() == 0) {
			SB_UNROLL
			for (int s = 0; s < stages; s++) {
				sb_copy_barrier_init(tiles.full[s], split_warps);
				sb_copy_barrier_init(tiles.empty[s], consumers / 32);
			}
			SB_UNROLL
			for (int r = 0; r < raws; r++) {
				sb_copy_barrier_init(tiles.come[r], 1);
				sb_copy_barrier_init(tiles.gone[r], split_warps);
			}
			sb_copy_barrier_publish();
		}
		sb_barrier();
		if (sb_warp() < consumers / 32) {
			sb_registers_more<224>();
			compute(args, tiles);
		} else {
			sb_registers_less<56>();
			convert(args, tiles);
		}
	}
};

template <int BM, int BN, int BK, int threads, int cluster, int stages>
using sb_bf16x6 = sb_bf16x6_any<BM, BN, BK, threads, cluster, stages, false>;

/* The same where k is cut. */
template <int BM, int BN, int BK, int threads, int cluster, int stages>
using sb_bf16x6cut = sb_bf16x6_any<BM, BN, BK, threads, cluster, stages, true>;

#define SB_METHOD_bf16x6    0, SB_MAKE_TENSOR
#define SB_METHOD_bf16x6cut 0, SB_MAKE_TENSOR
#include "instantiate.cuh"
