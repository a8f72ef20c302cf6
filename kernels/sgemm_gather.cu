/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block for each slab of each tile, as slab, of operands as they lie: whatever their strides and
 * alignment, asynchronous copies gather them into panels in shared memory, words that are zeros
 * beyond the edges, one at a time where they do not come in aligned fours. No register holds what
 * is on its way, and the multiplications are those of panels. An operand whose fours lie along k
 * may stay so in shared memory: a thread of few rows then reads four values of k of each.
 *
 * Where C is not aligned, or chains are not, each warp turns its sums in shared memory so that
 * neighbours write neighbours. With a few values of k nothing else takes any time.
 */
#include "gather.cuh"
#include "slab.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_gather {
	/* A warp's threads lie 8 along m and 4 along n, or as many as a narrow tile leaves room
	 * for. */
	static constexpr int across_m = BM / TM, across_n = BN / TN;
	static constexpr int lanes_m = across_m < 8 ? across_m : across_n < 4 ? 32 / across_n : 8;
	static constexpr int lanes_n = 32 / lanes_m;
	static constexpr int warps_m = across_m / lanes_m, warps_n = across_n / lanes_n;
	static_assert(threads == 32 * warps_m * warps_n, "the warps cover the tile");
	static_assert(SB_SLAB % BK == 0 && TM % 4 == 0 && TN % 4 == 0 && stages >= 2, "");
	/* Code for more steps of k than this does not stay in the instruction cache. */
	static constexpr int unroll = BM * BN < 128 * 128 ? 8 : SB_GATHER_STEPS;
	static_assert(BK % unroll == 0 && unroll % 2 == 0, "");
	/* Rows and columns of C of a warp. */
	static constexpr int rows = lanes_m * TM, columns = lanes_n * TN;
	/* Where registers hold four values of k of all a thread's rows of A, or columns of B. */
	static constexpr bool turns_a = TM <= 8 && TM * TN <= 32;
	static constexpr bool turns_b = TN <= 4 || (TN <= 8 && TM * TN <= 32);

	using gathered_a = sb_gathered<BM, BK, threads, stages, turns_a>;
	using gathered_b = sb_gathered<BN, BK, threads, stages, turns_b>;
	struct panels {
		typename gathered_a::panel a;
		typename gathered_b::panel b;
	};
	struct shared {
		union {
			panels in;
			/* Of each warp, and each of its lanes along n, one column of C. */
			alignas(16) float out[threads / 32 * lanes_n][rows + 4];
		};
	};

	SB_DEVICE static int warp_row()
	{
		return sb_thread() / 32 % warps_m * rows;
	}

	SB_DEVICE static int warp_column()
	{
		return sb_thread() / 32 / warps_m * columns;
	}

	SB_DEVICE static int lane_m()
	{
		return sb_thread() % lanes_m;
	}

	SB_DEVICE static int lane_n()
	{
		return sb_thread() % 32 / lanes_m;
	}

	/*
	 * Where a lane's elements lie in its warp's part: in fours, or, of an operand that is
	 * turned, so that neighbours read neighbouring rows of it.
	 */
	SB_DEVICE static int i_of(bool turned, int r)
	{
		return turned ? lane_m() + r * lanes_m
			      : lane_m() * 4 + r / 4 * (lanes_m * 4) + r % 4;
	}

	SB_DEVICE static int j_of(bool turned, int lane, int c)
	{
		return turned ? lane + c * lanes_n : lane * 4 + c / 4 * (lanes_n * 4) + c % 4;
	}

	template <int count, typename tile_type>
	SB_DEVICE static void read(float (&to)[count], const tile_type &tile, int row, int first,
				   int apart)
	{
		SB_UNROLL
		for (int r = 0; r < count; r += 4) {
			sb_float4 four = sb_get4(tile.along, row, first + r / 4 * apart);

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				to[r + e] = four.x[e];
		}
	}

	SB_DEVICE static void read_a(float (&to)[TM], const panels &tiles, int row)
	{
		read(to, tiles.a, row, warp_row() + lane_m() * 4, lanes_m * 4);
	}

	SB_DEVICE static void read_b(float (&to)[TN], const panels &tiles, int row)
	{
		read(to, tiles.b, row, warp_column() + lane_n() * 4, lanes_n * 4);
	}

	struct fragment {
		float a[TM], b[TN];
	};

	/* `unroll` steps of k from `row` on; leaves the fragment after them in now[0]. */
	template <bool last>
	SB_DEVICE static void part(const panels &tiles, int row, fragment (&now)[2],
				   sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < unroll; k++) {
			if (k + 1 < unroll || !last) {
				read_a(now[(k + 1) % 2].a, tiles, row + k + 1);
				read_b(now[(k + 1) % 2].b, tiles, row + k + 1);
			}
			sums.multiply_singly(now[k % 2].a, now[k % 2].b);
		}
	}

	SB_DEVICE static void multiply(const panels &tiles, int stage, int deep,
				       sb_sums<TM, TN> &sums)
	{
		int row = stage * BK, end = row + deep - unroll;
		fragment now[2];

		read_a(now[0].a, tiles, row);
		read_b(now[0].b, tiles, row);
		SB_ROLLED
		for (; row < end; row += unroll)
			part<false>(tiles, row, now, sums);
		part<true>(tiles, end, now, sums);
	}

	/* Four values of k, of a panel that is turned or not. */
	template <int width, bool turned, int count, typename tile_type>
	SB_DEVICE static void read_four(float (&to)[4][count], const tile_type &tile, int stage,
					int k, int first, int lane, int lanes)
	{
		if (turned) {
			SB_UNROLL
			for (int r = 0; r < count; r++) {
				sb_float4 four = sb_get4(
					tile.across, stage * width + first + lane + r * lanes, k);

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					to[e][r] = four.x[e];
			}
		} else {
			SB_UNROLL
			for (int e = 0; e < 4; e++)
				read(to[e], tile, stage * BK + k + e, first + lane * 4, lanes * 4);
		}
	}

	/* A whole step, one of whose panels is turned at least. */
	template <bool turned_a, bool turned_b>
	SB_DEVICE static void multiply_turned(const panels &tiles, int stage, sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < BK; k += 4) {
			float a[4][TM], b[4][TN];

			read_four<BM, turned_a>(a, tiles.a, stage, k, warp_row(), lane_m(),
						lanes_m);
			read_four<BN, turned_b>(b, tiles.b, stage, k, warp_column(), lane_n(),
						lanes_n);
			SB_UNROLL
			for (int e = 0; e < 4; e++)
				sums.multiply_singly(a[e], b[e]);
		}
	}

	/* How many values of k of the step at k0 there are, in whole turns of the loop. */
	SB_DEVICE static int deep_at(int k0, int depth, bool turned)
	{
		int left = (depth - k0 + unroll - 1) / unroll * unroll;

		return left < BK && !turned ? left : BK;
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_part slab = sb_block_part<BM, BN>(args);
		sb_operand a = sb_cut(sb_operand_a(args), slab.k0);
		sb_operand b = sb_cut(sb_operand_b(args), slab.k0);
		gathered_a share_a(a, slab.corner.i);
		gathered_b share_b(b, slab.corner.j);
		bool turned = share_a.turned || share_b.turned;
		int stage = 0, fill = 0;
		sb_sums<TM, TN> sums;

		SB_ROLLED
		for (int k0 = (1 - stages) * BK; k0 < a.depth; k0 += BK) {
			int ahead = k0 + (stages - 1) * BK;

			if (k0 >= 0) {
				sb_async_wait<stages - 2>();
				sb_barrier();
			}
			if (ahead < a.depth) {
				int deep = deep_at(ahead, a.depth, turned);

				share_a.fetch(tiles.in.a, fill, deep);
				share_b.fetch(tiles.in.b, fill, deep);
				fill = fill == stages - 1 ? 0 : fill + 1;
			}
			sb_async_commit();
			if (k0 < 0)
				continue;
			if (!turned)
				multiply(tiles.in, stage, deep_at(k0, a.depth, false), sums);
			else if (turns_a && turns_b && share_a.turned && share_b.turned)
				multiply_turned<turns_a, turns_b>(tiles.in, stage, sums);
			else if (turns_a && share_a.turned)
				multiply_turned<turns_a, false>(tiles.in, stage, sums);
			else
				multiply_turned<false, turns_b>(tiles.in, stage, sums);
			stage = stage == stages - 1 ? 0 : stage + 1;
		}
		finish(args, tiles, slab, share_a.turned, share_b.turned, sums);
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, shared &tiles, const sb_part &slab,
				     bool turned_a, bool turned_b, const sb_sums<TM, TN> &sums)
	{
		sb_place to(args, slab, slab.corner.i + warp_row(), slab.corner.j + warp_column());

		if (to.simple && !turned_a && to.ld % 4 == 0 && args.m % 4 == 0 &&
		    sb_aligned(to.at))
			finish_fours(args, to, turned_b, sums);
		else
			finish_turned(args, tiles, slab, to, turned_a, turned_b, sums);
	}

	SB_DEVICE static void finish_fours(const sb_gemm_args &args, const sb_place &to,
					   bool turned_b, const sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			int j = j_of(turned_b, lane_n(), c);
			float *at = to.at + (lane_m() * 4 + j * to.ld);

			SB_UNROLL
			for (int r = 0; r < TM; r += 4) {
				sb_float4 four;

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					four.x[e] = to.finished(args, sums.chain[r + e][c]);
				if (i_of(false, r) < to.rows && j < to.columns)
					sb_store4(at + r * lanes_m, four);
			}
		}
	}

	/* A thread's column, where the others of its warp find it. */
	SB_DEVICE static void put_column(shared &tiles, int row, bool turned_a, int c,
					 const sb_sums<TM, TN> &sums)
	{
		if (turned_a) {
			SB_UNROLL
			for (int r = 0; r < TM; r++)
				sb_put(tiles.out, row, i_of(true, r), sums.chain[r][c]);
			return;
		}
		SB_UNROLL
		for (int r = 0; r < TM; r += 4)
			sb_put4(tiles.out, row, i_of(false, r),
				{{sums.chain[r][c], sums.chain[r + 1][c], sums.chain[r + 2][c],
				  sums.chain[r + 3][c]}});
	}

	SB_DEVICE static void finish_turned(const sb_gemm_args &args, shared &tiles,
					    const sb_part &slab, const sb_place &to, bool turned_a,
					    bool turned_b, const sb_sums<TM, TN> &sums)
	{
		/* Neighbours of a row of `out`, and rows of it at once. */
		constexpr int together = rows < 32 ? rows : 32, at_once = 32 / together;
		static_assert(32 % together == 0, "");
		int first = sb_thread() / 32 * lanes_n, lane = sb_thread() % 32;
		int i = lane % together, n0 = lane / together;
		int apart = turned_b ? 1 : 4;
		int64_t step = (int64_t)(apart * at_once) * to.ld;

		sb_barrier();
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			int j = j_of(turned_b, n0, c);
			float *at = to.at + (i + j * to.ld);

			put_column(tiles, first + lane_n(), turned_a, c, sums);
			sb_warp_barrier();
			SB_UNROLL_BY(4)
			for (int n = n0; n < lanes_n && to.simple; n += at_once) {
				SB_UNROLL
				for (int di = 0; di < rows; di += together)
					if (i + di < to.rows && j < to.columns &&
					    (rows % together == 0 || i + di < rows))
						sb_store(at + di,
							 to.finished(args,
								     sb_get(tiles.out, first + n,
									    i + di)));
				at += step;
				j += apart * at_once;
			}
			SB_ROLLED
			for (int t = lane; t < rows * lanes_n && !to.simple; t += 32)
				sb_finish_chain(args, slab, slab.corner.i + warp_row() + t % rows,
						slab.corner.j + warp_column() +
							j_of(turned_b, t / rows, c),
						sb_get(tiles.out, first + t / rows, t % rows));
			sb_warp_barrier();
		}
	}
};

#define SB_METHOD_gather 0, SB_MAKE
#include "instantiate.cuh"
