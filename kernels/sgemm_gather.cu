/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block for each slab of each tile, as slab, of operands as they lie: whatever their strides and
 * alignment, asynchronous copies gather them into panels in shared memory, words that are zeros
 * beyond the edges, one at a time where they do not come in aligned fours. No register holds what is
 * on its way, and the multiplications are those of panels.
 *
 * Where C is not aligned, or chains are not, each warp turns its sums in shared memory so that
 * neighbours write neighbours. With a few values of k nothing else takes any time.
 */
#include "slab.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_gather {
	/* A warp's threads lie 8 along m and 4 along n, or as many as a narrow tile leaves room for. */
	static constexpr int across_m = BM / TM, across_n = BN / TN;
	static constexpr int lanes_m = across_m < 8 ? across_m : across_n < 4 ? 32 / across_n : 8;
	static constexpr int lanes_n = 32 / lanes_m;
	static constexpr int warps_m = across_m / lanes_m, warps_n = across_n / lanes_n;
	static_assert(threads == 32 * warps_m * warps_n, "the warps cover the tile");
	static_assert(SB_SLAB % BK == 0 && TM % 4 == 0 && TN % 4 == 0 && stages >= 2, "");
	/* Code for more steps of k than this does not stay in the instruction cache. */
	static constexpr int unroll = 8;
	static_assert(BK % unroll == 0 && unroll % 2 == 0, "");
	/* Rows are four words longer than they need be: a store of 8 along k by 4 meets no conflict. */
	static constexpr int gap = 4;
	/* Rows and columns of C of a warp. */
	static constexpr int rows = lanes_m * TM, columns = lanes_n * TN;

	struct panels {
		alignas(16) float a[stages * BK][BM + gap];
		alignas(16) float b[stages * BK][BN + gap];
	};
	struct shared {
		union {
			panels in;
			/* Of each warp, and each of its lanes along n, one column of C. */
			alignas(16) float out[threads / 32 * lanes_n][rows + gap];
		};
	};

	struct fragment {
		float a[TM], b[TN];
	};

	/*
	 * One operand, and what of it the thread copies: of each AK rows of k one, there every AI-th
	 * word or four. Loops that are not unrolled, since what they count would fill the registers.
	 */
	template <int width> struct share {
		using array = float[stages * BK][width + gap];
		static_assert(width % 8 == 0 && threads % 32 == 0 && threads <= 8 * width, "");
		/* Fours along i, if they go round; words along i; 8 words along k. */
		static constexpr bool may_wide = width / 4 <= threads && threads % (width / 4) == 0;
		static constexpr int wide_i = may_wide ? width : 8;
		static constexpr int along_i =
			width % threads == 0 ? threads : threads % width == 0 ? width : 8;
		static constexpr int across_i = threads / 8;
		static_assert(width % across_i == 0, "the threads share a step evenly");
		static_assert((!may_wide || threads * 4 / wide_i <= BK) && threads / along_i <= BK, "");

		const float *at;
		int64_t stride_i, stride_k;
		int i, k;	 /* of the thread's first word in a step */
		int extent, depth; /* what is left of the operand from this tile and step on */
		bool along, wide;

		SB_DEVICE share(const sb_operand &from, int corner)
		{
			int t = sb_thread();

			along = from.stride_i == 1;
			wide = may_wide && sb_wide_along(from);
			i = wide ? t * 4 % wide_i : along ? t % along_i : t / 8;
			k = wide ? t * 4 / wide_i : along ? t / along_i : t % 8;
			at = sb_at(from, corner + i, k);
			stride_i = from.stride_i;
			stride_k = from.stride_k;
			extent = from.extent - corner - i;
			depth = from.depth - k;
		}

		template <int AI, int AK> SB_DEVICE void fetch_words(array &to, int row, int deep)
		{
			SB_ROLLED
			for (int dk = 0; dk < deep; dk += AK) {
				const float *from = at;

				SB_UNROLL_BY(4)
				for (int di = 0; di < width; di += AI) {
					sb_async_fill(to, row + k + dk, i + di, from,
					              di < extent && dk < depth);
					from += AI * stride_i;
				}
				at += AK * stride_k;
			}
		}

		SB_DEVICE void fetch_fours(array &to, int row, int deep)
		{
			constexpr int AK = threads * 4 / wide_i;
			int count = extent < 0 ? 0 : extent < 4 ? extent : 4;

			SB_UNROLL_BY(4)
			for (int dk = 0; dk < deep; dk += AK) {
				sb_async_fill4(to, row + k + dk, i, at, dk < depth ? count : 0);
				at += AK * stride_k;
			}
		}

		/* The next step into the stage at `row`, as far as it is `deep`. */
		SB_DEVICE void fetch(array &to, int row, int deep)
		{
			if (wide)
				fetch_fours(to, row, deep);
			else if (along)
				fetch_words<along_i, threads / along_i>(to, row, deep);
			else
				fetch_words<across_i, 8>(to, row, deep);
			depth -= BK;
		}
	};

	SB_DEVICE static int warp_row()
	{
		return sb_thread() / 32 % warps_m * rows;
	}

	SB_DEVICE static int warp_column()
	{
		return sb_thread() / 32 / warps_m * columns;
	}

	/* Where the lane's elements lie in its warp's part. */
	SB_DEVICE static int i_of(int r)
	{
		return sb_thread() % lanes_m * 4 + r / 4 * (lanes_m * 4) + r % 4;
	}

	SB_DEVICE static int j_of(int lane, int c)
	{
		return lane * 4 + c / 4 * (lanes_n * 4) + c % 4;
	}

	SB_DEVICE static int lane_n()
	{
		return sb_thread() % 32 / lanes_m;
	}

	SB_DEVICE static void read(fragment &to, const panels &tiles, int row)
	{
		SB_UNROLL
		for (int r = 0; r < TM; r += 4) {
			sb_float4 four = sb_get4(tiles.a, row, warp_row() + i_of(r));

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				to.a[r + e] = four.x[e];
		}
		SB_UNROLL
		for (int c = 0; c < TN; c += 4) {
			sb_float4 four = sb_get4(tiles.b, row, warp_column() + j_of(lane_n(), c));

			SB_UNROLL
			for (int e = 0; e < 4; e++)
				to.b[c + e] = four.x[e];
		}
	}

	/* `unroll` steps of k from `row` on; leaves the fragment after them in now[0]. */
	template <bool last>
	SB_DEVICE static void part(const panels &tiles, int row, fragment (&now)[2],
	                           sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < unroll; k++) {
			if (k + 1 < unroll || !last)
				read(now[(k + 1) % 2], tiles, row + k + 1);
			sums.multiply(now[k % 2].a, now[k % 2].b);
		}
	}

	/* How many values of k of the step at k0 there are, in whole turns of the loop. */
	SB_DEVICE static int deep_at(int k0, int depth)
	{
		int left = (depth - k0 + unroll - 1) / unroll * unroll;

		return left < BK ? left : BK;
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_part slab = sb_block_part<BM, BN>(args);
		sb_operand a = sb_cut(sb_operand_a(args), slab.k0);
		sb_operand b = sb_cut(sb_operand_b(args), slab.k0);
		share<BM> share_a(a, slab.corner.i);
		share<BN> share_b(b, slab.corner.j);
		int row = 0, fill = 0;
		sb_sums<TM, TN> sums;

		SB_ROLLED
		for (int k0 = (1 - stages) * BK; k0 < a.depth; k0 += BK) {
			int ahead = k0 + (stages - 1) * BK;

			if (k0 >= 0) {
				sb_async_wait<stages - 2>();
				sb_barrier();
			}
			if (ahead < a.depth) {
				int deep = deep_at(ahead, a.depth);

				share_a.fetch(tiles.in.a, fill, deep);
				share_b.fetch(tiles.in.b, fill, deep);
				fill = fill == (stages - 1) * BK ? 0 : fill + BK;
			}
			sb_async_commit();
			if (k0 >= 0) {
				int end = row + deep_at(k0, a.depth) - unroll;
				fragment now[2];

				read(now[0], tiles.in, row);
				SB_ROLLED
				for (int k = row; k < end; k += unroll)
					part<false>(tiles.in, k, now, sums);
				part<true>(tiles.in, end, now, sums);
				row = row == (stages - 1) * BK ? 0 : row + BK;
			}
		}
		finish(args, tiles, slab, sums);
	}

	/* Where the warp's part of the chains goes, or of C where they are alone. */
	struct place {
		float *at;
		int64_t ld;
		int rows, columns; /* that exist */
		bool chain, simple; /* simple: nothing is read that was there before */

		SB_DEVICE place(const sb_gemm_args &args, const sb_part &slab)
		{
			int i0 = slab.corner.i + warp_row(), j0 = slab.corner.j + warp_column();

			chain = args.k > SB_SLAB;
			simple = chain || (!args.resume && args.beta == 0.0f);
			ld = chain ? args.work_j : args.ldc;
			at = chain ? args.work + (int64_t)slab.number * args.m * args.n : args.c;
			at += i0 + j0 * ld;
			rows = args.m - i0;
			columns = args.n - j0;
		}
	};

	SB_DEVICE static float finished(const sb_gemm_args &args, const place &to, float chain)
	{
		return to.chain ? chain : sb_mul(args.alpha, sb_add(0.0f, chain));
	}

	SB_DEVICE static void finish(const sb_gemm_args &args, shared &tiles, const sb_part &slab,
	                             const sb_sums<TM, TN> &sums)
	{
		place to(args, slab);

		if (to.simple && to.ld % 4 == 0 && args.m % 4 == 0 && sb_aligned(to.at))
			finish_fours(args, to, sums);
		else
			finish_turned(args, tiles, slab, to, sums);
	}

	SB_DEVICE static void finish_fours(const sb_gemm_args &args, const place &to,
	                                   const sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			int j = j_of(lane_n(), c);

			SB_UNROLL
			for (int r = 0; r < TM; r += 4) {
				sb_float4 four;

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					four.x[e] = finished(args, to, sums.chain[r + e][c]);
				if (i_of(r) < to.rows && j < to.columns)
					sb_store4(to.at + (i_of(r) + j * to.ld), four);
			}
		}
	}

	SB_DEVICE static void finish_turned(const sb_gemm_args &args, shared &tiles,
	                                    const sb_part &slab, const place &to,
	                                    const sb_sums<TM, TN> &sums)
	{
		int first = sb_thread() / 32 * lanes_n, lane = sb_thread() % 32;

		sb_barrier();
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r += 4)
				sb_put4(tiles.out, first + lane_n(), i_of(r),
				        {{sums.chain[r][c], sums.chain[r + 1][c], sums.chain[r + 2][c],
				          sums.chain[r + 3][c]}});
			sb_warp_barrier();
			if (to.simple) {
				SB_UNROLL
				for (int s = 0; s < rows * lanes_n / 32; s++) {
					int i = (lane + s * 32) % rows, n = (lane + s * 32) / rows;
					int j = j_of(n, c);

					if (i < to.rows && j < to.columns)
						sb_store(to.at + (i + j * to.ld),
						         finished(args, to,
						                  sb_get(tiles.out, first + n, i)));
				}
			} else {
				SB_ROLLED
				for (int t = lane; t < rows * lanes_n; t += 32)
					sb_finish_chain(args, slab,
					                slab.corner.i + warp_row() + t % rows,
					                slab.corner.j + warp_column() + j_of(t / rows, c),
					                sb_get(tiles.out, first + t / rows, t % rows));
			}
			sb_warp_barrier();
		}
	}
};

#define SB_METHOD_gather 0, SB_MAKE
#include "instantiate.cuh"
