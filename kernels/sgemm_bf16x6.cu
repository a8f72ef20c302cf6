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
 * One warpgroup has bulk copies bring fp32 tiles and turns those of A into bf16 in shared memory,
 * BK rows of k at a time, for the two that multiply, each 64 columns of C. Those split their
 * columns of B themselves, right into the registers that the products take them from: what goes
 * through the port of the shared memory is what bounds the kernel. They take turns: while one adds
 * up and splits the cores work for the other.
 */
#include "thirds.cuh"
#include "wanted.cuh"

template <int BM, int BN, int BK, int threads, int cluster, int stages, bool cut>
struct sb_bf16x6_any {
	static constexpr int steps = 2, window = steps * BK, parts = 3, panels_a = BM / 64;
	static constexpr int consumers = BN / 64 * 128, splitters = threads - consumers;
	static constexpr int split_warps = splitters / 32;
	static_assert(splitters == 128 && BK == 16 && BN == 128 && cluster == 1, "");
	/* A warpgroup's sums, and those of the half of the columns that it multiplies at a time. */
	static constexpr int halves = BM / 128, half = 64;
	using thirds = sb_thirds<BK, splitters, consumers>;
	/*
	 * Tiles of fp32 on their way, of BK rows of A and of windows of B. The splitters ask for a
	 * window of B in the second half of the one before, when they have seen everybody leave the
	 * stage that this half takes: then nobody needs the floats so many windows back.
	 */
	static constexpr int raws = 3, windows_b = stages / steps + 1;
	static_assert(stages % steps == 1, "");
	static constexpr unsigned raw_bytes = BM * BK * 4, window_bytes = BN * window * 4;
	static constexpr unsigned panel = BK * 128;
	using work = sb_wanted<BM, BN, window, cut>;
	using request = sb_request<work, steps>;
	/* The block has 168 a thread; two halves' sums, those of one, and three parts take 216. */
	static constexpr int consumer_registers = halves > 1 ? 232 : 208;
	static constexpr int splitter_registers =
		(168 * threads - consumers * consumer_registers) / splitters;

	struct shared {
		alignas(1024) uint16_t a[stages * parts * panels_a * BK][64];
		alignas(128) float raw_a[raws * BK][BM];
		alignas(128) float raw_b[windows_b * window][BN];
		/* What each splitting warp has found in the tile's rows: bit h: in half h. */
		int32_t found[stages][split_warps];
		/* What each multiplying warp has found in its columns, of this tile and the one
		 * before. */
		int32_t found_b[2][consumers / 32];
		uint64_t full[stages], empty[stages], come_a[raws], gone_a[raws], come_b[windows_b];
		uint64_t told;
	};

	/*
	 * By one thread: asks for what is next, the rows of A of a step and, if it is a window's
	 * last, that window of B. The place is one that all left a step before. What is beyond the
	 * maps comes as zeros.
	 */
	SB_DEVICE static void ask(const sb_gemm_args &args, shared &tiles, const request &next,
				  unsigned turn_of)
	{
		int slot = (int)(turn_of % raws), b = (int)(turn_of / steps % windows_b);

		if (turn_of >= raws)
			sb_copy_barrier_wait(tiles.gone_a[slot], (turn_of / raws - 1) % 2);
		sb_copy_barrier_expect(tiles.come_a[slot], raw_bytes);
		sb_copy_box(sb_rows<BK>(tiles.raw_a, slot), args.map_a, next.w.i * BM,
			    next.step * BK, tiles.come_a[slot]);
		if (turn_of % steps != steps - 1)
			return;
		sb_copy_barrier_expect(tiles.come_b[b], window_bytes);
		SB_UNROLL
		for (int s = 0; s < steps; s++)
			sb_copy_box(sb_rows<BK>(tiles.raw_b, b * steps + s), args.map_b,
				    next.w.j * BN, (next.step + s + 1 - steps) * BK,
				    tiles.come_b[b]);
	}

	/* BK rows of A. Reads go ahead of stores, which would hold them up. */
	SB_DEVICE static void turn(shared &tiles, int from, int to,
				   const typename thirds::own &mine, uint32_t (&lost)[halves])
	{
		sb_float4 x[2][thirds::fours];

		thirds::take(tiles.raw_a, from, 0, mine, x[0]);
		SB_UNROLL
		for (int p = 0; p < panels_a; p++) {
			if (p + 1 < panels_a)
				thirds::take(tiles.raw_a, from, p + 1, mine, x[(p + 1) % 2]);
			thirds::template give<panels_a>(tiles.a, to, p, mine, x[p % 2],
							lost[p / 2]);
		}
	}

	SB_DEVICE static void convert(const sb_gemm_args &args, shared &tiles)
	{
		unsigned turn_of = 0; /* how many steps have been split */
		typename thirds::own mine;
		request next(args);
		int ahead = next.more ? next.left() : 0;

		for (unsigned s = 0; s < steps && next.more; s++) {
			if (sb_thread() == consumers)
				ask(args, tiles, next, s);
			next.step++;
		}
		sb_warp_barrier();
		while (ahead > 0) {
			uint32_t lost[halves] = {};

			SB_ROLLED
			for (int left = ahead; left > 0; left--) {
				int from = (int)(turn_of % raws), to = (int)(turn_of % stages);

				if (turn_of >= stages)
					sb_copy_barrier_wait(tiles.empty[to],
							     (turn_of / stages - 1) % 2);
				if (next.find(args)) {
					/* The warps in turn, so that nobody waits long. */
					if (sb_thread() % 32 == 0 &&
					    (unsigned)(sb_thread() - consumers) / 32 ==
						    turn_of % split_warps)
						ask(args, tiles, next, turn_of + steps);
					next.step++;
				}
				sb_warp_barrier();
				sb_copy_barrier_wait(tiles.come_a[from], turn_of / raws % 2);
				turn(tiles, from, to, mine, lost);
				if (left == 1)
					tell(tiles, to, lost);
				sb_tensor_fence();
				sb_warp_barrier();
				if (sb_thread() % 32 == 0) {
					sb_copy_barrier_arrive(tiles.gone_a[from]);
					sb_copy_barrier_arrive(tiles.full[to]);
				}
				turn_of++;
			}
			/* A window of the next tile has been asked for. */
			ahead = next.more ? next.left() + steps : 0;
		}
	}

	/* Of a tile all of whose part of k has been split: says what is lost of its rows to those
	 * that write. */
	SB_DEVICE static void tell(shared &tiles, int stage, const uint32_t (&lost)[halves])
	{
		int32_t found = 0;
		int warp = sb_warp() - consumers / 32;

		SB_UNROLL
		for (int h = 0; h < halves; h++)
			found |= sb_warp_any((lost[h] & 0xffff) != 0) ? 1 << h : 0;
		if (sb_thread() % 32 == 0)
			sb_put_int(tiles.found, stage, warp, found);
	}

	/* The same of a multiplying warp's columns, of its tile number `tile`; and says it to all.
	 */
	SB_DEVICE static void tell_b(const sb_gemm_args &args, shared &tiles, unsigned tile, int j,
				     uint32_t lost)
	{
		bool found = sb_warp_any((lost & 0xffff) != 0);
		int warp = sb_warp();

		if (!args.flags_a || sb_thread() % 32 != 0)
			return;
		if (found)
			sb_raise_flags(args.flags_b + j, SB_NOT_BF16);
		if (cut)
			return;
		sb_put_int(tiles.found_b, (int)(tile % 2), warp, found);
		sb_copy_barrier_arrive(tiles.told);
	}

	/*
	 * Which halves are to be written; says to all what is lost of the tile's rows. What of k
	 * was not in this launch has its flags raised already; flags that others raise meanwhile
	 * are of what was found here as well.
	 */
	SB_DEVICE static unsigned written(const sb_gemm_args &args, shared &tiles, int stage,
					  unsigned tile, const work &w)
	{
		unsigned found = 0, columns = 0;

		if (!args.flags_a)
			return w.wanted;
		SB_UNROLL
		for (int s = 0; s < split_warps; s++)
			found |= (unsigned)sb_get_int(tiles.found, stage, s);
		SB_UNROLL
		for (int h = 0; h < halves; h++)
			if (sb_thread() == 0 && found >> h & 1 && (w.i * halves + h) * 128 < args.m)
				sb_raise_flags(args.flags_a + (w.i * halves + h), SB_NOT_BF16);
		if (cut)
			return 0;
		sb_copy_barrier_wait(tiles.told, tile % 2);
		SB_UNROLL
		for (int c = 0; c < consumers / 32; c++)
			columns |= (unsigned)sb_get_int(tiles.found_b, (int)(tile % 2), c);
		SB_UNROLL
		for (int h = 0; h < halves; h++)
			if (w.wanted >> h & 1 &&
			    sb_tile_flags(args, w.i * halves + h, w.j) & SB_NOT_BF16)
				found |= 1u << h;
		return columns ? 0 : w.wanted & ~found;
	}

	/* Where one that multiplies is in the rings: a window's stages and its floats of B. */
	struct place {
		sb_ring<stages> at[steps];
		sb_ring<windows_b> b;
		unsigned tile; /* how many tiles have been done */
		int column;    /* the first of a thread's two */

		SB_DEVICE place()
		    : at(), b(), tile(0), column(sb_warp() / 4 * 64 + sb_fragment_row())
		{
			at[1].advance();
		}

		SB_DEVICE void advance()
		{
			at[0] = at[1];
			at[0].advance();
			at[1] = at[0];
			at[1].advance();
			b.advance();
		}
	};

	/* By a warp: that it has read a window. */
	SB_DEVICE static void release(shared &tiles, const place &now)
	{
		sb_warp_barrier();
		if (sb_thread() % 32 == 0) {
			SB_UNROLL
			for (int s = 0; s < steps; s++)
				sb_copy_barrier_arrive(tiles.empty[now.at[s].stage]);
		}
	}

	/* A window's products of one half into `temp`. */
	SB_DEVICE static void multiply(const shared &tiles, const place &now, int h,
				       const sb_words4 (&part)[parts][steps], float (&temp)[half])
	{
		constexpr int order_a[6] = {0, 1, 2, 0, 1, 0}, order_b[6] = {2, 1, 0, 1, 0, 0};

		SB_UNROLL
		for (int p = 0; p < 6; p++) {
			SB_UNROLL
			for (int s = 0; s < steps; s++) {
				int row = now.at[s].stage * parts + order_a[p];

				sb_mma_bf16<128>(
					temp, part[order_b[p]][s],
					sb_mma_at(tiles.a[(row * panels_a + h * 2) * BK], panel),
					p > 0 || s > 0);
			}
		}
	}

	/* The sums of a chunk of so many windows, the tile's last ones perhaps; leaves its last one
	 * to be released. */
	SB_DEVICE static void add_up(const sb_gemm_args &args, shared &tiles, place &now, int count,
				     bool last, int j, uint32_t &lost, float (&total)[halves][half])
	{
		SB_UNROLL
		for (int h = 0; h < halves; h++) {
			SB_UNROLL
			for (int d = 0; d < half; d++)
				total[h][d] = 0.0f;
		}
		SB_ROLLED
		for (int step = 0; step < count; step++) {
			sb_words4 part[parts][steps];

			if (step > 0)
				now.advance();
			sb_copy_barrier_wait(tiles.come_b[now.b.stage], now.b.parity);
			sb_take_thirds(tiles.raw_b, now.b.stage * window, now.column, part, lost);
			if (last && step + 1 == count)
				tell_b(args, tiles, now.tile, j, lost);
			SB_UNROLL
			for (int s = 0; s < steps; s++)
				sb_copy_barrier_wait(tiles.full[now.at[s].stage], now.at[s].parity);
			SB_UNROLL
			for (int h = 0; h < halves; h++) {
				float temp[half];

				sb_mma_fence();
				multiply(tiles, now, h, part, temp);
				sb_mma_commit();
				sb_mma_wait<0>();
				sb_mma_hold(temp);
				if (h + 1 == halves && step + 1 < count)
					release(tiles, now);
				SB_UNROLL
				for (int d = 0; d < half; d++)
					total[h][d] = sb_add(total[h][d], temp[d]);
			}
		}
	}

	SB_DEVICE static void compute(const sb_gemm_args &args, shared &tiles)
	{
		int group = sb_warp() / 4, chunk_windows = args.chunk / window;
		place now;
		work w;

		for (; w.find(args); w.advance()) {
			float total[halves][half];
			uint32_t lost = 0;
			unsigned write = 0;

			SB_ROLLED
			for (int begin = w.begin; begin < w.end; begin += chunk_windows) {
				int left = w.end - begin;
				bool last = left <= chunk_windows;

				add_up(args, tiles, now, last ? left : chunk_windows, last, w.j,
				       lost, total);
				/* What has been found in the tile came with its last window. */
				if (last)
					write = written(args, tiles, now.at[steps - 1].stage,
							now.tile, w);
				release(tiles, now);
				now.advance();
				SB_UNROLL
				for (int h = 0; h < halves; h++) {
					if (!cut)
						sb_add_chunk<BM * BN, consumers, 8>(
							args, total[h], h, halves, begin == 0,
							last);
					else if (w.wanted >> h & 1)
						sb_keep_fragment<true>(args, begin / chunk_windows,
								       w.i * BM + h * 128,
								       w.j * BN + group * 64,
								       total[h]);
				}
			}
			now.tile++;
			SB_UNROLL
			for (int h = 0; h < halves; h++)
				if (!cut && write >> h & 1)
					sb_finish_fragment<true>(args, w.i * BM + h * 128,
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
				sb_copy_barrier_init(tiles.come_a[r], 1);
				sb_copy_barrier_init(tiles.gone_a[r], split_warps);
			}
			SB_UNROLL
			for (int r = 0; r < windows_b; r++)
				sb_copy_barrier_init(tiles.come_b[r], 1);
			sb_copy_barrier_init(tiles.told, consumers / 32);
			sb_copy_barrier_publish();
		}
		sb_barrier();
		if (sb_warp() < consumers / 32) {
			sb_registers_more<consumer_registers>();
			compute(args, tiles);
		} else {
			sb_registers_less<splitter_registers>();
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
