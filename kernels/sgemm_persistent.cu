/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As bulk (bulk tensor copies, fragments double-buffered in registers, no block barrier in the
 * loop), by as many blocks as there are multiprocessors, each of which goes from tile to tile: the
 * next tile's operands are on their way while this one's C is written.
 *
 * All blocks take whole tiles until between one and two for each are left. Those are shared out
 * evenly, cut on borders of slabs: a block that gets the first slabs of a tile computes them before
 * anything else of its share and leaves the totals in `work`; the next block, which has the others,
 * computes them last and goes on from those totals, so that the order of the sum is kept and nobody
 * waits. A block waits for one with a lower number only, so it does not matter how many run at once.
 */
#include "lanes.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_persistent {
	static constexpr int warps = threads / 32;
	static constexpr unsigned stage_bytes = (BM + BN) * BK * 4;
	/* Of a thread's fours, how many have their totals in shared memory: as in bulk. */
	static constexpr int fours = TM * TN / 4, spread = fours > 24 ? fours - SB_TOTALS_KEPT : 0;
	/* A warp's threads lie 8 along m and 4 along n, its fours that far apart. */
	static constexpr int lanes_m = 8, lanes_n = 4;
	static constexpr int warps_m = BM / (lanes_m * TM), warps_n = BN / (lanes_n * TN);
	static_assert(warps == warps_m * warps_n && warps * 32 == threads, "the warps cover the tile");
	static constexpr int slab_steps = SB_SLAB / BK;
	static_assert(SB_SLAB % BK == 0 && TM % 4 == 0 && TN % 4 == 0, "");
	/* Code for more steps of k than this does not stay in the instruction cache. */
	static constexpr int unroll = 8;
	static_assert(BK % unroll == 0 &&  unroll % 2 == 0, "");

	/* Steps [begin, end) of the tile at (i, j); none if it begins at -1. */
	struct piece {
		int i, j, begin, end;
	};
	struct shared {
		alignas(128) float a[stages * BK][BM];
		alignas(128) float b[stages * BK][BN];
		alignas(16) float totals[spread ? spread : 1][spread ? threads * 4 : 4];
		uint64_t full[stages], empty[stages];
	};

	using lanes = sb_lanes<BM, TM, TN, 0>;
	using fragment = typename lanes::fragment;

	SB_DEVICE static int i_of(int r)
	{
		return lanes::i_of(r);
	}

	SB_DEVICE static int j_of(int c)
	{
		return lanes::j_of(c);
	}

	SB_DEVICE static void read(fragment &to, const shared &tiles, int row)
	{
		lanes::read(to, tiles.a, tiles.b, row);
	}

	SB_DEVICE static int all_steps(const sb_gemm_args &args)
	{
		return (args.k + BK - 1) / BK;
	}

	SB_DEVICE static piece piece_at(const sb_gemm_args &args, int tile, int begin, int end)
	{
		sb_corner corner = sb_tile_corner<BM, BN>(args, (unsigned)tile);

		return {corner.i, corner.j, begin, end};
	}

	/* Piece number `index` of this block. */
	SB_DEVICE static piece piece_of(const sb_gemm_args &args, int index)
	{
		unsigned tiles = (((unsigned)args.m + BM - 1) / BM) * (((unsigned)args.n + BN - 1) / BN);
		int blocks = (int)sb_blocks(), steps = all_steps(args);
		int slabs = (steps + slab_steps - 1) / slab_steps;
		int waves = (int)(tiles / (unsigned)blocks) - 1;

		if (index < waves)
			return piece_at(args, index * blocks + (int)sb_block(), 0, steps);
		index -= waves;
		int64_t units = (int64_t)((int)tiles - waves * blocks) * slabs;
		int64_t begin = units * sb_block() / blocks, end = units * (sb_block() + 1) / blocks;
		int first = (int)((begin + slabs - 1) / slabs), last = (int)(end / slabs);
		int head = (int)(end % slabs), tail = (int)(begin % slabs);

		if (head > 0 && index-- == 0)
			return piece_at(args, waves * blocks + last, 0, head * slab_steps);
		if (index < last - first)
			return piece_at(args, waves * blocks + first + index, 0, steps);
		if (tail > 0 && index == last - first)
			return piece_at(args, waves * blocks + first - 1, tail * slab_steps, steps);
		return {0, 0, -1, 0};
	}

	SB_DEVICE static sb_float4 read_total(const shared &tiles, const sb_sums<TM, TN> &sums, int f)
	{
		sb_float4 total;

		if (f < spread)
			return sb_get4(tiles.totals, f, sb_thread() * 4);
		SB_UNROLL
		for (int e = 0; e < 4; e++)
			total.x[e] = sums.total[f / TN * 4 + e][f % TN];
		return total;
	}

	SB_DEVICE static void write_total(shared &tiles, sb_sums<TM, TN> &sums, int f,
	                                  const sb_float4 &total)
	{
		SB_UNROLL
		for (int e = 0; e < 4; e++)
			sums.total[f / TN * 4 + e][f % TN] = total.x[e];
		if (f < spread)
			sb_put4(tiles.totals, f, sb_thread() * 4, total);
	}

	/* Adds this slab's chains to the totals and clears them. */
	SB_DEVICE static void flush(shared &tiles, sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int f = 0; f < fours; f++) {
			sb_float4 total = read_total(tiles, sums, f);

			SB_UNROLL
			for (int e = 0; e < 4; e++) {
				float &chain = sums.chain[f / TN * 4 + e][f % TN];

				total.x[e] = sb_add(total.x[e], chain);
				chain = 0.0f;
			}
			write_total(tiles, sums, f, total);
		}
	}

	/* Where a block leaves the totals of a tile's first slabs, and each of its warps a flag. */
	SB_DEVICE static float *left_by(const sb_gemm_args &args, unsigned block)
	{
		return args.work + ((int64_t)block * (BM * BN) + sb_thread() * 4);
	}

	SB_DEVICE static unsigned *flag_of(const sb_gemm_args &args, unsigned block)
	{
		return reinterpret_cast<unsigned *>(args.work + (int64_t)sb_blocks() * (BM * BN)) +
		       block * warps + sb_thread() / 32;
	}

	/* By the block before, or by the launch before. */
	SB_DEVICE static sb_float4 left_total(const sb_gemm_args &args, bool wide, const piece &p, int f)
	{
		if (p.begin > 0)
			return sb_load4(left_by(args, sb_block() - 1) + f * threads * 4);
		if (args.resume)
			return sb_left4(args, wide, p.i + i_of(f / TN * 4), p.j + j_of(f % TN));
		return {{0.0f, 0.0f, 0.0f, 0.0f}};
	}

	/* Rolled up where the totals are in shared memory, so that few registers are wanted at once. */
	SB_DEVICE static void begin(const sb_gemm_args &args, shared &tiles, const piece &p,
	                            sb_sums<TM, TN> &sums)
	{
		bool wide = sb_wide_c(args);

		if (p.begin > 0)
			sb_flag_await(flag_of(args, sb_block() - 1));
		SB_ROLLED
		for (int f = 0; f < spread; f++)
			sb_put4(tiles.totals, f, sb_thread() * 4, left_total(args, wide, p, f));
		SB_UNROLL
		for (int f = spread; f < fours; f++)
			write_total(tiles, sums, f, left_total(args, wide, p, f));
	}

	SB_DEVICE static void leave_four(const sb_gemm_args &args, int f, const sb_float4 &total)
	{
		sb_store4(left_by(args, sb_block()) + f * threads * 4, total);
	}

	SB_DEVICE static void leave(const sb_gemm_args &args, const shared &tiles,
	                            const sb_sums<TM, TN> &sums)
	{
		SB_ROLLED
		for (int f = 0; f < spread; f++)
			leave_four(args, f, sb_get4(tiles.totals, f, sb_thread() * 4));
		SB_UNROLL
		for (int f = spread; f < fours; f++)
			leave_four(args, f, read_total(tiles, sums, f));
		sb_flag_raise(flag_of(args, sb_block()));
	}

	SB_DEVICE static void finish_four(const sb_gemm_args &args, bool wide, const piece &p, int f,
	                                  const sb_float4 &total)
	{
		sb_finish4(args, wide, p.i + i_of(f / TN * 4), p.j + j_of(f % TN), total.x);
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, const shared &tiles, const piece &p,
	                             const sb_sums<TM, TN> &sums)
	{
		bool wide = sb_wide_c(args);

		SB_ROLLED
		for (int f = 0; f < spread; f++)
			finish_four(args, wide, p, f, sb_get4(tiles.totals, f, sb_thread() * 4));
		SB_UNROLL
		for (int f = spread; f < fours; f++)
			finish_four(args, wide, p, f, read_total(tiles, sums, f));
	}

	/* The buffer that is read, and the parity of its barriers' phase. */
	struct place {
		int stage;
		unsigned parity;

		SB_DEVICE void advance()
		{
			if (++stage == stages) {
				stage = 0;
				parity ^= 1;
			}
		}
	};

	/* By one thread: the tiles of step `step`, counted from the piece's own, into a buffer. */
	SB_DEVICE static void fetch(const sb_gemm_args &args, shared &tiles, int stage, int step,
	                            const piece &p, const piece &next)
	{
		bool here = step < p.end;
		int i = here ? p.i : next.i, j = here ? p.j : next.j;
		uint64_t &full = tiles.full[stage];

		if (!here) {
			step += next.begin - p.end;
			if (next.begin < 0 || step >= next.end)
				return;
		}
		sb_copy_barrier_expect(full, stage_bytes);
		sb_copy_box(sb_rows<BK>(tiles.a, stage), args.map_a, i, step * BK, full);
		sb_copy_box(sb_rows<BK>(tiles.b, stage), args.map_b, j, step * BK, full);
	}

	/*
	 * `unroll` steps of k from `row` on; leaves the fragment after them in now[0], that of the next
	 * step of BK if there is `more`.
	 */
	template <bool last>
	SB_DEVICE static void part(shared &tiles, int row, place &at, bool more, fragment (&now)[2],
	                           sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < unroll; k++) {
			if (k + 1 < unroll || !last) {
				read(now[(k + 1) % 2], tiles, row + k + 1);
			} else {
				sb_warp_barrier();
				if (sb_thread() % 32 == 0)
					sb_copy_barrier_arrive(tiles.empty[at.stage]);
				at.advance();
				if (more) {
					sb_copy_barrier_wait(tiles.full[at.stage], at.parity);
					read(now[0], tiles, at.stage * BK);
				}
			}
			sums.multiply(now[k % 2].a, now[k % 2].b);
		}
	}

	/* One step of BK; now[0] holds its first fragment and then that of the next step. */
	SB_DEVICE static void multiply(const sb_gemm_args &args, shared &tiles, place &at, int step,
	                               const piece &p, const piece &next, fragment (&now)[2],
	                               sb_sums<TM, TN> &sums)
	{
		int row = at.stage * BK;

		SB_ROLLED
		for (int k0 = 0; k0 < BK - unroll; k0 += unroll)
			part<false>(tiles, row + k0, at, true, now, sums);
		/* The buffer before, which the slowest warp has had time to leave. */
		if (sb_thread() == 0) {
			int before = at.stage == 0 ? stages - 1 : at.stage - 1;

			sb_copy_barrier_wait(tiles.empty[before],
			                     at.stage == 0 ? at.parity ^ 1 : at.parity);
			fetch(args, tiles, before, step + stages - 1, p, next);
		}
		part<true>(tiles, row + BK - unroll, at, step + 1 < p.end, now, sums);
	}

	SB_DEVICE static void work(const sb_gemm_args &args, shared &tiles)
	{
		place at = {0, 0};
		piece p = piece_of(args, 0), next;

		if (sb_thread() == 0)
			for (int s = 0; s < stages - 1; s++)
				fetch(args, tiles, s, p.begin + s, p, piece_of(args, 1));
		SB_ROLLED
		for (int index = 1; p.begin >= 0; p = next, index++) {
			sb_sums<TM, TN> sums;
			fragment now[2];

			next = piece_of(args, index);
			begin(args, tiles, p, sums);
			sb_copy_barrier_wait(tiles.full[at.stage], at.parity);
			read(now[0], tiles, at.stage * BK);
			for (int step = p.begin; step < p.end;) {
				int slab = step + slab_steps < p.end ? step + slab_steps : p.end;

				for (; step < slab; step++)
					multiply(args, tiles, at, step, p, next, now, sums);
				flush(tiles, sums);
			}
			if (p.end < all_steps(args))
				leave(args, tiles, sums);
			else
				finish(args, tiles, p, sums);
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		if (sb_thread() == 0) {
			SB_UNROLL
			for (int s = 0; s < stages; s++) {
				sb_copy_barrier_init(tiles.full[s], 1);
				sb_copy_barrier_init(tiles.empty[s], warps);
			}
			sb_copy_barrier_publish();
		}
		sb_barrier();
		work(args, tiles);
	}
};

#define SB_METHOD_persistent 0, SB_MAKE
#include "instantiate.cuh"
