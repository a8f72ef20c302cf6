/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Canonical panels by bulk tensor copies: one thread asks for whole tiles, the copy engine brings
 * them into `stages` buffers, and nearly every instruction left to the threads is an FMA or feeds
 * one. Fragments are double-buffered in registers: those of the next k are read while this k is
 * multiplied.
 *
 * There is no block barrier in the loop. A warp says that it has read the last of a buffer and goes
 * on; the asking thread waits for that most of a step later, so the warps may drift apart and one
 * flushes its sums while another multiplies.
 *
 * With more than 96 elements a thread there is no room in the registers for chains and totals both:
 * most of the totals then live in shared memory, where each thread adds to its own once a slab. Two
 * stages are then the most whose buffer number costs no registers: with three, the code spills.
 */
#include "lanes.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_bulk {
	static constexpr bool totals_shared = TM * TN > 96;
	/* Of a thread's fours, how many have their totals in shared memory. */
	static constexpr int fours = TM * TN / 4, spread = totals_shared ? fours - SB_TOTALS_KEPT : 0;
	/* A warp's threads lie 8 along m and 4 along n, its fours that far apart. */
	static constexpr int lanes_m = 8, lanes_n = 4;
	static constexpr int warps_m = BM / (lanes_m * TM), warps_n = BN / (lanes_n * TN);
	/* Groups of threads that hold a whole tile of sums each, and take turns at the slabs of k. */
	static constexpr int group_threads = 32 * warps_m * warps_n, groups = threads / group_threads;
	static_assert(threads == groups * group_threads, "the warps cover the tile");
	static_assert(groups == 1 || !totals_shared, "the groups hand their sums on in registers");
	static constexpr int slab_steps = SB_SLAB / BK;
	static_assert(SB_SLAB % BK == 0 && TM % 4 == 0 && TN % 4 == 0, "");
	/* Code for more steps of k than this does not stay in the instruction cache. */
	static constexpr int unroll = 8;
	static_assert(BK % unroll == 0 && BK >= 3 * unroll && unroll % 2 == 0, "");
	static constexpr unsigned stage_bytes = (BM + BN) * BK * 4;

	struct shared {
		alignas(128) float a[groups * stages][BK][BM];
		alignas(128) float b[groups * stages][BK][BN];
		alignas(16) float totals[totals_shared ? spread : 1][totals_shared ? threads * 4 : 4];
		/* The chains of the groups after the first, on their way to its totals. */
		alignas(16) float chains[groups > 1 ? (groups - 1) * fours : 1]
		                        [groups > 1 ? group_threads * 4 : 4];
		uint64_t full[groups * stages], empty[groups * stages];
		uint64_t given[groups], taken[groups];
	};

	using lanes = sb_lanes<BM, TM, TN, group_threads>;
	using fragment = typename lanes::fragment;

	SB_DEVICE static int i_of(int r)
	{
		return lanes::i_of(r);
	}

	SB_DEVICE static int j_of(int c)
	{
		return lanes::j_of(c);
	}

	SB_DEVICE static void read(fragment &to, const shared &tiles, int stage, int k)
	{
		lanes::read(to, tiles.a[stage], tiles.b[stage], k);
	}

	SB_DEVICE static int group()
	{
		return groups == 1 ? 0 : sb_thread() / group_threads;
	}

	/* The buffer of the group's step number `step`, and that step's place in all of k. */
	SB_DEVICE static int buffer(int step)
	{
		return group() * stages + step % stages;
	}

	SB_DEVICE static int place(int step)
	{
		if (groups == 1)
			return step;
		return (step / slab_steps * groups + group()) * slab_steps + step % slab_steps;
	}

	/* How many of all steps are the group's. */
	SB_DEVICE static int own_steps(int steps)
	{
		if (groups == 1)
			return steps;
		int round = groups * slab_steps, rest = steps % round - group() * slab_steps;

		return steps / round * slab_steps + (rest < 0 ? 0 : rest < slab_steps ? rest : slab_steps);
	}

	/* By one thread of the group: the tile of its step `step` into its buffer. */
	SB_DEVICE static void fetch(const sb_gemm_args &args, shared &tiles, sb_corner corner, int step)
	{
		int to = buffer(step), k = place(step) * BK;

		sb_copy_barrier_expect(tiles.full[to], stage_bytes);
		sb_copy_box(tiles.a[to], args.map_a, corner.i, k, tiles.full[to]);
		sb_copy_box(tiles.b[to], args.map_b, corner.j, k, tiles.full[to]);
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
				sums.total[f / TN * 4 + e][f % TN] = total.x[e];
				chain = 0.0f;
			}
			if (f < spread)
				sb_put4(tiles.totals, f, sb_thread() * 4, total);
		}
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

	/* Gives this slab's chains to the first group, whose totals they are added to, and clears them. */
	SB_DEVICE static void give(shared &tiles, sb_sums<TM, TN> &sums, int round)
	{
		if (round > 0)
			sb_copy_barrier_wait(tiles.taken[group()], (round - 1) % 2);
		SB_UNROLL
		for (int f = 0; f < fours; f++) {
			sb_float4 four;

			SB_UNROLL
			for (int e = 0; e < 4; e++) {
				float &chain = sums.chain[f / TN * 4 + e][f % TN];

				four.x[e] = chain;
				chain = 0.0f;
			}
			sb_put4(tiles.chains, (group() - 1) * fours + f, sb_thread() % group_threads * 4,
			        four);
		}
		sb_copy_barrier_arrive(tiles.given[group()]);
	}

	/* Adds what the other groups give, in the order of their slabs. */
	SB_DEVICE static void take(shared &tiles, sb_sums<TM, TN> &sums, int round, int slabs)
	{
		for (int from = 1; from < groups && round * groups + from < slabs; from++) {
			sb_copy_barrier_wait(tiles.given[from], round % 2);
			SB_UNROLL
			for (int f = 0; f < fours; f++) {
				sb_float4 four = sb_get4(tiles.chains, (from - 1) * fours + f,
				                         sb_thread() % group_threads * 4);

				SB_UNROLL
				for (int e = 0; e < 4; e++) {
					float &total = sums.total[f / TN * 4 + e][f % TN];

					total = sb_add(total, four.x[e]);
				}
			}
			sb_copy_barrier_arrive(tiles.taken[from]);
		}
	}

	/* `unroll` steps of k from k0 on; leaves the fragment after them in now[0]. */
	template <bool last>
	SB_DEVICE static void part(shared &tiles, int step, int steps, int k0, fragment (&now)[2],
	                            sb_sums<TM, TN> &sums)
	{
		int stage = buffer(step), next = step + 1;

		SB_UNROLL
		for (int k = 0; k < unroll; k++) {
			if (k + 1 < unroll || !last) {
				read(now[(k + 1) % 2], tiles, stage, k0 + k + 1);
			} else {
				sb_warp_barrier();
				if (sb_thread() % 32 == 0)
					sb_copy_barrier_arrive(tiles.empty[stage]);
				if (next < steps) {
					sb_copy_barrier_wait(tiles.full[buffer(next)], next / stages % 2);
					read(now[0], tiles, buffer(next), 0);
				}
			}
			sums.multiply(now[k % 2].a, now[k % 2].b);
		}
	}

	/* One step of BK; now[0] holds its first fragment and then that of the next step. */
	SB_DEVICE static void advance(const sb_gemm_args &args, shared &tiles, sb_corner corner,
	                              int step, int steps, fragment (&now)[2], sb_sums<TM, TN> &sums)
	{
		/*
		 * The step whose buffer is asked for anew, once the slowest warp has had time to leave it;
		 * not within the loop, where even a branch that is not taken costs 4 % of the whole.
		 */
		int done = step - 1;
		bool ask = sb_thread() % group_threads == 0 && done >= 0 && done + stages < steps;

		SB_ROLLED
		for (int k0 = 0; k0 < BK - unroll; k0 += unroll) {
			part<false>(tiles, step, steps, k0, now, sums);
		}
		if (ask) {
			sb_copy_barrier_wait(tiles.empty[buffer(done)], done / stages % 2);
			fetch(args, tiles, corner, done + stages);
		}
		part<true>(tiles, step, steps, BK - unroll, now, sums);
	}

	/* The first group's totals from what the launch before has left of them. */
	SB_DEVICE static void resume(const sb_gemm_args &args, shared &tiles, sb_corner corner,
	                             sb_sums<TM, TN> &sums)
	{
		bool wide = sb_wide_c(args);

		SB_ROLLED
		for (int f = 0; f < spread; f++)
			sb_put4(tiles.totals, f, sb_thread() * 4,
			        sb_left4(args, wide, corner.i + i_of(f / TN * 4), corner.j + j_of(f % TN)));
		SB_UNROLL
		for (int f = spread; f < fours; f++) {
			int r = f / TN * 4, c = f % TN;
			sb_float4 left = sb_left4(args, wide, corner.i + i_of(r), corner.j + j_of(c));

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				sums.total[r + e][c] = left.x[e];
		}
	}

	/* By the first thread, before any other needs them. */
	SB_DEVICE static void init(shared &tiles)
	{
		SB_UNROLL
		for (int s = 0; s < groups * stages; s++) {
			sb_copy_barrier_init(tiles.full[s], 1);
			sb_copy_barrier_init(tiles.empty[s], group_threads / 32);
		}
		SB_UNROLL
		for (int g = 1; g < groups; g++) {
			sb_copy_barrier_init(tiles.given[g], group_threads);
			sb_copy_barrier_init(tiles.taken[g], group_threads);
		}
		sb_copy_barrier_publish();
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		int all_steps = (args.k + BK - 1) / BK, steps = own_steps(all_steps);
		int slabs = (all_steps + slab_steps - 1) / slab_steps;
		sb_sums<TM, TN> sums;
		fragment now[2];

		if (sb_passed_over<BM, BN>(args, corner))
			return;
		if (sb_thread() == 0)
			init(tiles);
		if (groups > 1)
			sb_barrier();
		if (sb_thread() % group_threads == 0)
			for (int s = 0; s < stages && s < steps; s++)
				fetch(args, tiles, corner, s);
		SB_UNROLL
		for (int f = 0; f < spread; f++)
			sb_put4(tiles.totals, f, sb_thread() * 4, {{0.0f, 0.0f, 0.0f, 0.0f}});
		if (args.resume && group() == 0)
			resume(args, tiles, corner, sums);
		if (groups == 1)
			sb_barrier();
		else if (steps == 0)
			return;
		sb_copy_barrier_wait(tiles.full[buffer(0)], 0);
		read(now[0], tiles, buffer(0), 0);
		for (int step = 0, round = 0; step < steps; round++) {
			int slab = step + slab_steps < steps ? step + slab_steps : steps;

			for (; step < slab; step++)
				advance(args, tiles, corner, step, steps, now, sums);
			if (group() > 0) {
				give(tiles, sums, round);
			} else {
				flush(tiles, sums);
				take(tiles, sums, round, slabs);
			}
		}
		if (group() == 0)
			finish(args, tiles, corner, sums);
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, shared &tiles, sb_corner corner,
	                             const sb_sums<TM, TN> &sums)
	{
		bool wide = sb_wide_c(args);

		if (!wide && groups == 1) {
			finish_turned(args, tiles, corner, sums);
			return;
		}
		SB_UNROLL
		for (int f = 0; f < fours; f++) {
			int r = f / TN * 4, c = f % TN;
			sb_float4 total = read_total(tiles, sums, f);

			sb_finish4(args, wide, corner.i + i_of(r), corner.j + j_of(c), total.x);
		}
	}

	/*
	 * Where C is not aligned: each warp turns its totals in a buffer that nobody reads any more, four
	 * columns at a time, so that neighbours write neighbours.
	 */
	SB_DEVICE static void finish_turned(const sb_gemm_args &args, shared &tiles, sb_corner corner,
	                                    const sb_sums<TM, TN> &sums)
	{
		int lane = sb_thread() % 32, first = sb_thread() / 32 * lanes_n;
		int i0 = corner.i + sb_thread() / 32 % warps_m * (lanes_m * TM);

		sb_barrier();
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			int j0 = corner.j + sb_thread() / 32 / warps_m * (lanes_n * TN) +
			         c / 4 * (lanes_n * 4) + c % 4;

			SB_UNROLL
			for (int r = 0; r < TM; r += 4)
				sb_put4(tiles.a[0], first + lane / lanes_m,
				        lane % lanes_m * 4 + r * lanes_m,
				        read_total(tiles, sums, r / 4 * TN + c));
			sb_warp_barrier();
			SB_ROLLED
			for (int n = 0; n < lanes_n; n++) {
				SB_UNROLL
				for (int i = lane; i < lanes_m * TM; i += 32)
					sb_finish(args, i0 + i, j0 + n * 4, sb_get(tiles.a[0], first + n, i));
			}
			sb_warp_barrier();
		}
	}
};

#define SB_METHOD_bulk 0, SB_MAKE
#include "instantiate.cuh"
