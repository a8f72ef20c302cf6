/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FP32-accurate products from three products of fp16 on the tensor cores, of planes that split_fp16
 * made. For an element of C: result = +0, and for each chunk of k (args.h), ascending, result +=
 * total, where
 *     total = +0; for each slab of 512 of the chunk, ascending: cross = +0, and for each window of
 *     32 of the slab, ascending:
 *         temp = a chain of tensor core products hi_a * hi_b from +0 on, 16 of k after 16
 *         cross = its chain goes on: the window's lo_a * hi_b, then its hi_a * lo_b
 *         total = fma(temp, S, total)
 *     and after the slab's windows total = fma(cross, S * 2^-11, total)
 * with S = 2^-(ea + eb), the slab's scales of the row and the column undone. The window is so short
 * because the tensor cores round the sums they add to towards zero; the cross products are a 2048th
 * of the others and may wait for the end of the slab.
 *
 * Two blocks of a cluster work on tiles side by side along m. Each brings its own A and half of B,
 * which both get, BK of k at a time. A warpgroup's one thread asks for it, two warpgroups multiply:
 * 64 columns of C each. While the cores work on one kind of products, the sums of the other are
 * added up.
 */
#include "scales.cuh"

template <int BM, int BN, int BK, int threads, int cluster, int stages, bool cut>
struct sb_fp16x3_any {
	static constexpr int window = 32, windows = BK / window;
	static constexpr int planes = 2, groups = BN / 64, panels = BM / 64;
	static constexpr int consumers = groups * 128, asker = consumers;
	static_assert(threads == consumers + 128 && BK == 64 && cluster == 2 && groups == 2, "");
	static_assert(BM == 64 || BM == 128, "");
	static constexpr int held = BM / 2;
	static constexpr int slab_steps = SB_SPLIT_SLAB / BK;
	/* Copies of slabs' exponents: more than there can be slabs on their way. */
	static constexpr int slots = stages + 1;
	using scales = sb_scales<BM, BN, slots>;
	using scale = typename scales::scale;
	/* Bytes of 64 rows or columns of a step: both planes, as they lie in memory. */
	static constexpr unsigned panel = planes * BK * 128;
	/* Fours of a thread's sums of the chunks before that find room beside the tiles. */
	static constexpr int kept = cut ? 1 : 7;
	/* Rows of tiles that are neighbours in the raster, in pairs. */
	static constexpr int raster = 2048 / BM / cluster;

	struct shared {
		alignas(1024) uint16_t a[stages * panels * planes * BK][64];
		alignas(1024) uint16_t b[stages * groups * planes * BK][64];
		typename scales::copies scale;
		uint64_t full[stages], empty[stages];
		alignas(16) float sums[kept][cut ? 1 : consumers * 4];
	};

	/* Pairs of tiles from this cluster's first on, those passed over that nobody computes;
	 * where k is cut, of each part of it. */
	struct work {
		int index, tiles_m, tiles_n, i, j; /* the block's own tile */
		int begin, end;			   /* its steps of k */
		bool own;			   /* which it computes */
		bool far; /* there are scales far from others, or there may be */

		SB_DEVICE work(const sb_gemm_args &args)
		    : index((int)sb_block() / cluster), tiles_m(sb_tiles(args.m, BM)),
		      tiles_n(sb_tiles(args.n, BN))
		{
		}

		/* Whether there is one. */
		SB_DEVICE bool find(const sb_gemm_args &args, int rank)
		{
			int pairs = (tiles_m + 1) / 2, all = pairs * tiles_n;

			for (; index < all * sb_parts<cut>(args);
			     index += (int)sb_blocks() / cluster) {
				int part = cut ? index / all : 0;
				sb_range range = sb_part_range<cut>(args, part);
				sb_place place =
					sb_raster<raster>(index - part * all, pairs, tiles_n);
				bool wanted[cluster];

				begin = range.begin / BK;
				end = sb_tiles(range.end, BK);

				far = !args.flags_a;
				SB_UNROLL
				for (int r = 0; r < cluster; r++) {
					int row = place.row * cluster + r;

					wanted[r] = row < tiles_m;
					if (wanted[r] && args.flags_a) {
						uint32_t flags = sb_tile_flags(args, row * BM / 128,
									       place.column);

						wanted[r] = !(flags & SB_NOT_FP16);
						far = far || (flags & SB_FAR_FP16);
					}
				}
				i = place.row * cluster + rank;
				j = place.column;
				own = rank == 0 ? wanted[0] : wanted[1];
				if (wanted[0] || wanted[1])
					return true;
			}
			return false;
		}

		SB_DEVICE void advance()
		{
			index += (int)sb_blocks() / cluster;
		}
	};

	SB_DEVICE static int after(int slot)
	{
		return slot + 1 < slots ? slot + 1 : 0;
	}

	/* Where a plane of a stage begins. */
	SB_DEVICE static int row_a(int stage, int panel_of, int plane)
	{
		return ((stage * panels + panel_of) * planes + plane) * BK;
	}

	SB_DEVICE static int row_b(int stage, int panel_of, int plane)
	{
		return ((stage * groups + panel_of) * planes + plane) * BK;
	}

	/* By one thread: all tiles of this block's work, one after the other. */
	SB_DEVICE static void ask(const sb_gemm_args &args, shared &tiles, int rank)
	{
		int steps = sb_tiles(args.k, BK), slot = 0;
		sb_ring<stages> at = {0, 0, false};
		work w(args);

		for (; w.find(args, rank); w.advance()) {
			/* The odd row's last pair has one tile, which both bring. */
			int i = w.i < w.tiles_m ? w.i : w.tiles_m - 1;

			SB_ROLLED
			for (int step = w.begin; step < w.end; step++, at.advance()) {
				bool begins = step % slab_steps == 0;

				if (at.again)
					sb_copy_barrier_wait(tiles.empty[at.stage], at.parity ^ 1);
				sb_copy_barrier_expect(tiles.full[at.stage],
						       (panels + groups) * panel +
							       (begins ? (BM + BN) * 4 : 0));
				bring(args, tiles, i * panels, w.j * groups + rank, steps, step,
				      at.stage, rank);
				if (begins) {
					bring_scales(args, tiles, i, w.j, step / slab_steps, slot,
						     tiles.full[at.stage]);
					slot = after(slot);
				}
			}
		}
	}

	/* From 64 rows on of A, and of B's 64 columns that are this block's to bring. */
	SB_DEVICE static void bring(const sb_gemm_args &args, shared &tiles, int row, int column,
				    int steps, int step, int stage, int rank)
	{
		uint64_t &full = tiles.full[stage];
		const uint16_t *a = args.planes_a + ((int64_t)row * steps + step) * (panel / 2);
		const uint16_t *b = args.planes_b + ((int64_t)column * steps + step) * (panel / 2);

		sb_copy_piece_to_all(tiles.b[row_b(stage, rank, 0)], b, panel, full, 3);
		SB_UNROLL
		for (int p = 0; p < panels; p++)
			sb_copy_piece(tiles.a[row_a(stage, p, 0)],
				      a + (int64_t)p * steps * (panel / 2), panel, full);
	}

	SB_DEVICE static void bring_scales(const sb_gemm_args &args, shared &tiles, int i, int j,
					   int slab, int slot, uint64_t &full)
	{
		sb_copy_piece(tiles.scale.a[slot],
			      args.exponents_a + (slab * args.exponents_a_ld + i * BM), BM * 4,
			      full);
		sb_copy_piece(tiles.scale.b[slot],
			      args.exponents_b + (slab * args.exponents_b_ld + j * BN), BN * 4,
			      full);
	}

	/* A window's products of two planes; they are added to sums, or are their first. */
	SB_DEVICE static void multiply(const shared &tiles, int stage, int w, int group,
				       int plane_a, int plane_b, float (&sums)[held], bool add)
	{
		sb_mma_tile a = sb_mma_at(tiles.a[row_a(stage, 0, plane_a) + w * window], panel);
		sb_mma_tile b =
			sb_mma_at(tiles.b[row_b(stage, group, plane_b) + w * window], panel);

		SB_UNROLL
		for (int s = 0; s < window; s += 16)
			sb_mma_fp16<BM>(sums, sb_mma_further(b, s), sb_mma_further(a, s),
					add || s > 0);
	}

	/* The high parts' products of a window; waits for all before them. */
	SB_DEVICE static void begin(const shared &tiles, int stage, int w, int group,
				    float (&temp)[held])
	{
		sb_mma_fence();
		multiply(tiles, stage, w, group, 0, 0, temp, false);
		sb_mma_commit();
		sb_mma_wait<1>();
	}

	/* Its cross products; waits for all before them. */
	SB_DEVICE static void go_on(const shared &tiles, int stage, int w, int group,
				    float (&cross)[held], bool add)
	{
		multiply(tiles, stage, w, group, 1, 0, cross, add);
		multiply(tiles, stage, w, group, 0, 1, cross, true);
		sb_mma_commit();
		sb_mma_wait<1>();
	}

	/* By a warp, of both blocks: that it has read a stage. */
	SB_DEVICE static void release(shared &tiles, int stage)
	{
		int lane = sb_thread() % 32;

		if (lane < cluster)
			sb_copy_barrier_arrive_at(tiles.empty[stage], lane);
	}

	/*
	 * The sums of a chunk of `steps`. Those of the cross products are read at the end of a slab
	 * with nothing on its way: else the compiler would have every product waited for.
	 */
	template <bool far>
	SB_DEVICE static void add_up(shared &tiles, sb_ring<stages> &at, int steps, int &slot,
				     int group, float (&total)[held])
	{
		scale by = {slot, {0.0f, 0.0f}};

		SB_UNROLL
		for (int d = 0; d < held; d++)
			total[d] = 0.0f;
		SB_ROLLED
		for (int slab = 0; slab < steps; slab += slab_steps) {
			int end = slab + slab_steps < steps ? slab + slab_steps : steps, before = 0;
			scale old = by;
			float temp[held], cross[held];

			by.slot = after(by.slot);
			sb_copy_barrier_wait(tiles.full[at.stage], at.parity);
			by.read(tiles.scale, group * 64 + sb_fragment_row());
			if (!far && slab > 0)
				scales::rescale(tiles.scale, old, by, total);
			SB_ROLLED
			for (int step = slab; step < end; step++) {
				if (step > slab)
					sb_copy_barrier_wait(tiles.full[at.stage], at.parity);
				SB_UNROLL
				for (int w = 0; w < windows; w++) {
					begin(tiles, at.stage, w, group, temp);
					if (w == 0 && step > slab)
						release(tiles, before);
					go_on(tiles, at.stage, w, group, cross,
					      step > slab || w > 0);
					sb_mma_hold(temp);
					scales::template promote<far>(tiles.scale, by, 1.0f, temp,
								      total);
				}
				before = at.stage;
				at.advance();
			}
			sb_mma_wait<0>();
			sb_mma_hold(cross);
			/* All lanes have read the old slab's scales. */
			sb_warp_barrier();
			release(tiles, before);
			scales::template promote<far>(tiles.scale, by, 0x1p-11f, cross, total);
		}
		if (!far)
			scales::settle(tiles.scale, by, total);
		slot = by.slot;
	}

	SB_DEVICE static void compute(const sb_gemm_args &args, shared &tiles, int rank)
	{
		int group = sb_warp() / 4, slot = slots - 1, chunk_steps = args.chunk / BK;
		sb_ring<stages> at = {0, 0, false};
		work w(args);

		for (; w.find(args, rank); w.advance()) {
			float total[held];

			SB_ROLLED
			for (int begin = w.begin; begin < w.end; begin += chunk_steps) {
				int left = w.end - begin,
				    chunk = left < chunk_steps ? left : chunk_steps;

				if (w.far)
					add_up<true>(tiles, at, chunk, slot, group, total);
				else
					add_up<false>(tiles, at, chunk, slot, group, total);
				if constexpr (!cut)
					sb_add_chunk_kept<BM * BN, consumers>(
						args, tiles.sums, total, begin == w.begin,
						left <= chunk_steps);
				else if (w.own)
					sb_keep_fragment(args, begin / chunk_steps, w.i * BM,
							 w.j * BN + group * 64, total);
			}
			if (!cut && w.own)
				sb_finish_fragment(args, w.i * BM, w.j * BN + group * 64, total);
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		int rank = sb_cluster_rank();

		if (sb_thread() == 0) {
			SB_UNROLL
			for (int s = 0; s < stages; s++) {
				sb_copy_barrier_init(tiles.full[s], 1);
				sb_copy_barrier_init(tiles.empty[s], cluster * consumers / 32);
			}
			sb_copy_barrier_publish();
		}
		sb_cluster_barrier();
		if (sb_warp() < consumers / 32) {
			sb_registers_more<232>();
			compute(args, tiles, rank);
		} else {
			sb_registers_less<40>();
			if (sb_thread() == asker)
				ask(args, tiles, rank);
			sb_warp_barrier();
		}
		/* Nobody leaves while the other may still send to it. */
		sb_cluster_barrier();
	}
};

template <int BM, int BN, int BK, int threads, int cluster, int stages>
using sb_fp16x3 = sb_fp16x3_any<BM, BN, BK, threads, cluster, stages, false>;

/* The same where k is cut. */
template <int BM, int BN, int BK, int threads, int cluster, int stages>
using sb_fp16x3cut = sb_fp16x3_any<BM, BN, BK, threads, cluster, stages, true>;

#define SB_METHOD_fp16x3    0, SB_MAKE_TENSOR
#define SB_METHOD_fp16x3cut 0, SB_MAKE_TENSOR
#include "instantiate.cuh"
