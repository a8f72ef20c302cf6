/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Canonical panels by asynchronous copies that every thread makes for itself, 16 bytes at a time,
 * straight into shared memory: no register holds what is on its way, so there may be several tiles
 * of it. While one is multiplied, `stages` - 1 are fetched; one barrier a step both shows everyone
 * the next tile and says that the last one may be overwritten. The panels reach to whole tiles, so
 * that no copy needs to look at an edge.
 *
 * Fragments are double-buffered in registers: those of the next k are read while this k is
 * multiplied, across the barrier too.
 */
#include "lanes.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_multistage {
	static_assert(stages >= 3, "one tile to read, others on their way");
	/* A warp's threads lie 8 along m and 4 along n, its fours that far apart. */
	static constexpr int lanes_m = 8, lanes_n = 4;
	static constexpr int warps_m = BM / (lanes_m * TM), warps_n = BN / (lanes_n * TN);
	static_assert(threads == 32 * warps_m * warps_n, "the warps cover the tile");
	static constexpr int slab_steps = SB_SLAB / BK;
	static_assert(SB_SLAB % BK == 0 && TM % 4 == 0 && TN % 4 == 0, "");
	/* Code for more steps of k than this does not stay in the instruction cache. */
	static constexpr int unroll = 8;
	static_assert(BK % unroll == 0 && BK >= 2 * unroll && unroll % 2 == 0, "");
	/* A row of a tile is copied by a few neighbouring threads, each every so many fours of it. */
	static constexpr int row_threads = threads / BK, row_step = 4 * row_threads;
	static constexpr int copies = BM / row_step;
	static_assert(threads % BK == 0 && BM == BN && BM % row_step == 0 && copies % 2 == 0, "");

	/* The stages one after the other: a ring of rows. */
	struct shared {
		alignas(16) float a[stages * BK][BM];
		alignas(16) float b[stages * BK][BN];
	};

	/* The first four of each operand that the thread copies next. */
	struct source {
		const float *a, *b;
		int64_t stride_a, stride_b;

		SB_DEVICE source(const sb_gemm_args &args, sb_corner corner)
		{
			int k = sb_thread() / row_threads, i = sb_thread() % row_threads * 4;

			a = sb_at(sb_operand_a(args), corner.i + i, k);
			b = sb_at(sb_operand_b(args), corner.j + i, k);
			stride_a = BK * args.a_k;
			stride_b = BK * args.b_k;
		}

		/* The `count` of a step from number `first` on, into the stage at `row`, if `asked`. */
		template <int count> SB_DEVICE void copy(shared &tiles, int row, int first, bool asked) const
		{
			int k = row + sb_thread() / row_threads, i = sb_thread() % row_threads * 4;

			SB_UNROLL
			for (int f = first; f < first + count; f++) {
				sb_async_copy4(tiles.a, k, i + f * row_step, a + f * row_step, asked);
				sb_async_copy4(tiles.b, k, i + f * row_step, b + f * row_step, asked);
			}
		}

		SB_DEVICE void advance()
		{
			a += stride_a;
			b += stride_b;
		}
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

	/* The first row of the stage after that which begins at `row`. */
	SB_DEVICE static int after(int row)
	{
		return row == (stages - 1) * BK ? 0 : row + BK;
	}

	/* What was asked for `stages` - 1 steps ago has come, for all threads. */
	SB_DEVICE static void meet()
	{
		sb_async_wait<stages - 2>();
		sb_barrier();
	}

	/* `unroll` steps of k of the stage at `row`; leaves the fragment after them in now[0]. */
	SB_DEVICE static void part(const shared &tiles, int row, fragment (&now)[2],
	                           sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < unroll; k++) {
			read(now[(k + 1) % 2], tiles, row + k + 1);
			sums.multiply(now[k % 2].a, now[k % 2].b);
		}
	}

	/*
	 * The last of a step; its copies are here and not in the loop over the others, of whose
	 * instructions they would be a part.
	 */
	SB_DEVICE static void last_part(shared &tiles, const source &from, int row, int fill, bool more,
	                                int next, fragment (&now)[2], sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < unroll; k++) {
			if (k + 1 < unroll) {
				read(now[(k + 1) % 2], tiles, row + k + 1);
			} else {
				sb_async_commit();
				meet();
				if (next >= 0)
					read(now[0], tiles, next);
			}
			if (k % (unroll / 2) == 0)
				from.template copy<copies / 2>(tiles, fill, k / (unroll / 2) * (copies / 2),
				                               more);
			sums.multiply(now[k % 2].a, now[k % 2].b);
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		int steps = (args.k + BK - 1) / BK, row = 0, fill = (stages - 1) * BK;
		source from(args, corner);
		sb_sums<TM, TN> sums;
		fragment now[2];

		if (sb_passed_over<BM, BN>(args, corner))
			return;
		if (args.resume)
			resume(args, corner, sums);
		SB_ROLLED
		for (int s = 0; s < stages - 1; s++) {
			from.template copy<copies>(tiles, s * BK, 0, s < steps);
			from.advance();
			sb_async_commit();
		}
		meet();
		read(now[0], tiles, 0);
		for (int step = 0; step < steps;) {
			int slab = step + slab_steps < steps ? step + slab_steps : steps;

			for (; step < slab; step++) {
				int next = after(row);

				SB_ROLLED
				for (int k0 = 0; k0 < BK - unroll; k0 += unroll)
					part(tiles, row + k0, now, sums);
				last_part(tiles, from, row + BK - unroll, fill, step + stages - 1 < steps,
				          step + 1 < steps ? next : -1, now, sums);
				from.advance();
				fill = row;
				row = next;
			}
			sums.flush();
		}
		finish(args, corner, sums);
	}

	SB_DEVICE static void resume(const sb_gemm_args &args, sb_corner corner, sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r++)
				sums.total[r][c] = sb_left(args, corner.i + i_of(r), corner.j + j_of(c));
		}
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, sb_corner corner,
	                             const sb_sums<TM, TN> &sums)
	{
		bool wide = sb_wide_c(args);

		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r += 4) {
				const float sum[4] = {sums.total[r][c], sums.total[r + 1][c],
				                      sums.total[r + 2][c], sums.total[r + 3][c]};

				sb_finish4(args, wide, corner.i + i_of(r), corner.j + j_of(c), sum);
			}
		}
	}
};

#define SB_METHOD_multistage 0, SB_MAKE
#include "instantiate.cuh"
