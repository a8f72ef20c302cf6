/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sums of bf16x6, for architectures whose tensor cores are fed by the instructions of a warp. A
 * window is 32 of k as there, its chain one of m16n8k16 products, and the guard the same.
 *
 * The block splits each element once, on its way from a panel in global memory to planes of bf16 in
 * shared memory: fours of floats are fetched into registers, split between the products of the
 * window before, and stored as eight bytes a plane. Rows of a plane are k; the eights of row k
 * change places with k % 8, so that neither these stores nor the transposing reads meet in a bank.
 *
 * A warp multiplies two halves of its rows, one after the other, since the sums and the fragments
 * of all of them would not fit its registers; the fragments of B serve both. Once the last
 * fragments of a window have been read, and the next one has been stored, all warps meet: what the
 * next window begins with is read during the last products of this one.
 *
 * In which order all of this is issued is the compiler's: forced into the order below, by stretches
 * of sixteen products, it was a fifth slower, as it was with floats fetched further ahead.
 */
#include "emulated.cuh"

template <int BM, int BN, int BK, int threads, int cluster, int stages, bool cut>
struct sb_bf16x6sync_any {
	static_assert(stages == 2, "one window to read and one to fill");
	/* A warp's tile of C, in halves along m; the 16 x 8 tiles of an instruction in a half. */
	static constexpr int warp_m = 64, warp_n = 32, halves = 2;
	static constexpr int tiles_m = warp_m / halves / 16, tiles_n = warp_n / 8;
	static constexpr int warps_m = BM / warp_m, warps_n = BN / warp_n,
			     held = warp_m * warp_n / 32;
	static_assert(threads == 32 * warps_m * warps_n, "the warps cover the tile");
	static constexpr int parts = 3, k16s = BK / 16, products = 6;
	/* Of a window a warp fetches each `apart`th row of either panel, a row of 128 at a time. */
	static constexpr int apart = threads / 32, fours = 2 * BK / apart, ahead = 2;
	static_assert(BM == 128 && BN == 128 && BK == 32 && apart == 8 && cluster == 1, "");
	static constexpr int raster = 2048 / BM;

	struct shared {
		alignas(128) uint16_t a[stages * parts * BK][BM];
		alignas(128) uint16_t b[stages * parts * BK][BN];
		int32_t windows[1][1], chunk[1][1]; /* of a chunk, and its values of k */
	};

	/* Fours of a window: those of even number are A's, the others B's. */
	struct source {
		const float *a, *b;
		int64_t row_a, row_b;
		int k, column; /* of the thread's fours in the planes */
		sb_float4 four[ahead];
		uint32_t lost_a, lost_b; /* the lower halves: what the parts could not hold */

		SB_DEVICE source(const sb_gemm_args &args, sb_place at, int k0)
		{
			int thread = sb_thread_anew(), i = thread % 32 * 4;

			k = thread / 32;
			column = i ^ k % 8 * 8;
			a = sb_at(sb_operand_a(args), at.row * BM + i, k0 + k);
			b = sb_at(sb_operand_b(args), at.column * BN + i, k0 + k);
			row_a = apart * args.a_k;
			row_b = apart * args.b_k;
			lost_a = lost_b = 0;
		}

		/* After the last window, when there are no more, the same one comes again. */
		SB_DEVICE void fetch(int f, bool more)
		{
			const float *&from = f % 2 ? b : a;
			int64_t row = f % 2 ? row_b : row_a;

			four[f % ahead] = sb_load4(from);
			from += f + 2 < fours || more ? row : row * (1 - fours / 2);
		}

		/* The parts of number f, into the planes of a stage. */
		SB_DEVICE void split(shared &tiles, int stage, int f)
		{
			int row = stage * parts * BK + f / 2 * apart + k;
			sb_words2 words[parts];

			(f % 2 ? lost_b : lost_a) |= split(four[f % ahead], words);
			SB_UNROLL
			for (int p = 0; p < parts; p++) {
				if (f % 2)
					sb_put_words2(tiles.b, row + p * BK, column, words[p]);
				else
					sb_put_words2(tiles.a, row + p * BK, column, words[p]);
			}
		}

		/*
		 * What is left after two parts is the third if its lower half is zero. That of a
		 * NaN, which is left of what is not finite or rounds to an infinity, is not.
		 */
		SB_DEVICE static uint32_t split(const sb_float4 &x, sb_words2 (&to)[parts])
		{
			uint32_t lost = 0;

			SB_UNROLL
			for (int e = 0; e < 4; e += 2) {
				float low = x.x[e], high = x.x[e + 1];

				SB_UNROLL
				for (int p = 0; p < parts - 1; p++) {
					uint32_t pair = sb_bf16_pair(low, high);

					to[p].x[e / 2] = pair;
					low = sb_rest(low, sb_bits_float(pair << 16));
					high = sb_rest(high, sb_bits_float(pair & 0xffff0000u));
				}
				to[parts - 1].x[e / 2] = sb_float_bits(low) >> 16 |
							 (sb_float_bits(high) & 0xffff0000u);
				lost |= sb_float_bits(low) | sb_float_bits(high);
			}
			return lost;
		}
	};

	struct fragments {
		uint32_t a[halves][parts][k16s][tiles_m][4];
		uint32_t b[parts][k16s][tiles_n][2];
	};

	/*
	 * Where the rows of matrices lie that a thread names, as elements of a plane; those of a
	 * tile further along are at the exclusive or with its distance.
	 */
	struct places {
		int a, b;

		SB_DEVICE places()
		{
			int thread = sb_thread_anew(), t = thread % 32, warp = thread / 32;
			int i = warp % warps_m * warp_m + t / 8 % 2 * 8;
			int j = warp / warps_m * warp_n + t / 16 * 8;

			a = (t % 8 + t / 16 * 8) * BM + (i ^ t % 8 * 8);
			b = t % 16 * BN + (j ^ t % 8 * 8);
		}
	};

	/* A part's k16s, as the products want A, and B. */
	SB_DEVICE static void read_a(fragments &to, const shared &tiles, const places &at,
				     int stage, int half, int part, int k16)
	{
		int row = stage * parts * BK;

		SB_UNROLL
		for (int m = 0; m < tiles_m; m++) {
			int place = (row * BM + at.a) ^ (half * tiles_m + m) * 16;

			sb_load_matrix4_across(to.a[half][part][k16][m],
					       tiles.a[part * BK + k16 * 16] + place);
		}
	}

	SB_DEVICE static void read_b(fragments &to, const shared &tiles, const places &at,
				     int stage, int part, int k16)
	{
		int row = stage * parts * BK;

		SB_UNROLL
		for (int n = 0; n < tiles_n; n += 2) {
			int place = (row * BN + at.b) ^ n * 8;
			uint32_t four[4];

			sb_load_matrix4_across(four, tiles.b[part * BK + k16 * 16] + place);
			SB_UNROLL
			for (int e = 0; e < 4; e++)
				to.b[part][k16][n + e / 2][e % 2] = four[e];
		}
	}

	/* Before product p: what the one after it begins to need, and what the next half or window.
	 */
	SB_DEVICE static void read_ahead(fragments &to, const shared &tiles, const places &at,
					 int stage, int half, int p, int k16)
	{
		if (p < 2) {
			read_a(to, tiles, at, stage, half, p + 1, k16);
			if (half == 0)
				read_b(to, tiles, at, stage, 1 - p, k16);
		} else if (p == 3 && half + 1 < halves) {
			read_a(to, tiles, at, stage, half + 1, 0, k16);
		} else if (p == 3) {
			read_a(to, tiles, at, 1 - stage, 0, 0, k16);
			read_b(to, tiles, at, 1 - stage, 2, k16);
		}
	}

	/* Product p of a chain, small ones first, for 16 of k. */
	SB_DEVICE static void multiply(float (&chain)[tiles_m][tiles_n][4], const fragments &from,
				       int half, int p, int k16)
	{
		constexpr int part_a[products] = {0, 1, 2, 0, 1, 0},
			      part_b[products] = {2, 1, 0, 1, 0, 0};

		SB_UNROLL
		for (int m = 0; m < tiles_m; m++) {
			SB_UNROLL
			for (int s = 0; s < tiles_n; s++) {
				int n = m % 2 ? tiles_n - 1 - s : s;

				sb_mma_sync_bf16(chain[m][n], from.a[half][part_a[p]][k16][m],
						 from.b[part_b[p]][k16][n]);
			}
		}
	}

	SB_DEVICE static void window(shared &tiles, const places &at, int stage, bool more,
				     source &from, fragments &now, float (&total)[held])
	{
		SB_UNROLL
		for (int half = 0; half < halves; half++) {
			float chain[tiles_m][tiles_n][4] = {};

			SB_UNROLL
			for (int step = 0; step < products * k16s; step++) {
				int p = step / k16s, k16 = step % k16s,
				    f = half * products + step / 2;

				read_ahead(now, tiles, at, stage, half, p, k16);
				if (step % 2 == 0 && f < fours) {
					from.split(tiles, 1 - stage, f);
					from.fetch((f + ahead) % fours, more);
				}
				multiply(chain, now, half, p, k16);
				if (half + 1 == halves && p == 2 && k16 == 0)
					sb_barrier();
			}
			SB_UNROLL
			for (int e = 0; e < held / halves; e++)
				total[half * (held / halves) + e] =
					sb_add(total[half * (held / halves) + e],
					       chain[e / 4 / tiles_n][e / 4 % tiles_n][e % 4]);
		}
	}

	/* As sb_add_chunk(), but by a four at a time: there are no registers for more. */
	SB_DEVICE static void add_chunk(const sb_gemm_args &args, float (&total)[held], bool first,
					bool last)
	{
		SB_UNROLL
		for (int f = 0; f < held; f += 4) {
			sb_float4 four = {{0.0f, 0.0f, 0.0f, 0.0f}};
			float *p = args.work + ((int64_t)sb_block() * (BM * BN) + f * threads +
						sb_thread() * 4);

			if (!first)
				four = sb_load4(p);
			SB_UNROLL
			for (int e = 0; e < 4; e++)
				total[f + e] = four.x[e] = sb_add(four.x[e], total[f + e]);
			if (!last)
				sb_store4(p, four);
		}
	}

	/* All windows of a tile, or of one of its chunks where k is cut. */
	SB_DEVICE static void add_up(const sb_gemm_args &args, shared &tiles, source &from,
				     sb_range range, float (&total)[held])
	{
		int windows = sb_tiles(range.end - range.begin, BK), chunk = args.chunk / BK;
		places at;
		fragments now;

		SB_UNROLL
		for (int f = 0; f < ahead; f++)
			from.fetch(f, windows > 1);
		SB_UNROLL
		for (int f = 0; f < fours; f++) {
			from.split(tiles, 0, f);
			from.fetch((f + ahead) % fours, windows > 1);
		}
		if (cut && sb_thread() == 0)
			sb_put_int(tiles.windows, 0, 0, windows);
		sb_barrier();
		SB_UNROLL
		for (int k16 = 0; k16 < k16s; k16++) {
			read_a(now, tiles, at, 0, 0, 0, k16);
			read_b(now, tiles, at, 0, 2, k16);
		}
		for (int w = 0; w < all_of(tiles, windows);) {
			int end = !cut && w + chunk < windows ? w + chunk : windows;

			SB_UNROLL
			for (int e = 0; e < held; e++)
				total[e] = 0.0f;
			SB_ROLLED
			for (; w < (cut ? all_of(tiles, windows) : end); w++)
				window(tiles, at, w % 2, w + 2 < all_of(tiles, windows), from, now,
				       total);
			if (!cut)
				add_chunk(args, total, end <= chunk, end == windows);
		}
	}

	/* How many windows there are. In parts of k there is no register for it, nor for chunk. */
	SB_DEVICE static int all_of(const shared &tiles, int windows)
	{
		return cut ? sb_get_int(tiles.windows, 0, 0) : windows;
	}

	/* Of tile number `index` (of each chunk), found anew rather than kept in registers. */
	SB_DEVICE static sb_place place_of(const sb_gemm_args &args, int index)
	{
		int rows = sb_tiles(args.m, BM), columns = sb_tiles(args.n, BN);

		return sb_raster<raster>(cut ? index % (rows * columns) : index, rows, columns);
	}

	SB_DEVICE static int chunk_of(const sb_gemm_args &args, int index)
	{
		return cut ? index / (sb_tiles(args.m, BM) * sb_tiles(args.n, BN)) : 0;
	}

	SB_DEVICE static sb_range range_of(const sb_gemm_args &args, const shared &tiles, int index)
	{
		return cut ? sb_range_of(args, chunk_of(args, index), sb_get_int(tiles.chunk, 0, 0))
			   : sb_range{0, args.k};
	}

	SB_DEVICE static uint32_t flags(const sb_gemm_args &args, int index)
	{
		sb_place at = place_of(args, index);

		return sb_tile_flags(args, at.row, at.column);
	}

	SB_DEVICE static void run_tile(const sb_gemm_args &args, shared &tiles, int index)
	{
		sb_range range = range_of(args, tiles, index);
		source from(args, place_of(args, index), range.begin);
		float total[held];

		add_up(args, tiles, from, range, total);
		sb_place at = place_of(args, index);
		if (args.flags_a && (from.lost_a & 0xffff))
			sb_raise_flags(args.flags_a + at.row, SB_NOT_BF16);
		if (args.flags_a && (from.lost_b & 0xffff))
			sb_raise_flags(args.flags_b + at.column, SB_NOT_BF16);
		/* Also before the planes are filled for another tile. */
		sb_barrier();
		if (cut)
			store<true>(args, chunk_of(args, index), at, total);
		else if (!args.flags_a || !(flags(args, index) & SB_NOT_BF16))
			store<false>(args, 0, at, total);
	}

	template <bool kept> /* the sums of a chunk; or C */
	SB_DEVICE static void store(const sb_gemm_args &args, int number, sb_place at,
				    const float (&total)[held])
	{
		int thread = sb_thread_anew(), t = thread % 32, warp = thread / 32;
		int i = at.row * BM + warp % warps_m * warp_m + t / 4;
		int j = at.column * BN + warp / warps_m * warp_n + t % 4 * 2;

		SB_UNROLL
		for (int m = 0; m < halves * tiles_m; m++) {
			SB_UNROLL
			for (int n = 0; n < tiles_n; n++) {
				SB_UNROLL
				for (int e = 0; e < 4; e++) {
					int row = i + m * 16 + e / 2 * 8, at_n = j + n * 8 + e % 2;
					float sum = total[(m * tiles_n + n) * 4 + e];

					if (!kept && args.resume)
						sum = sb_add(sb_left(args, row, at_n), sum);
					if (kept)
						sb_keep(args, number, row, at_n, sum);
					else
						sb_finish(args, row, at_n, sum);
				}
			}
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		int count = sb_tiles(args.m, BM) * sb_tiles(args.n, BN) *
			    (cut ? sb_tiles(args.k, args.chunk) : 1);

		if (cut && sb_thread() == 0)
			sb_put_int(tiles.chunk, 0, 0, args.chunk);
		if (cut)
			sb_barrier();
		SB_ROLLED
		for (int index = (int)sb_block(); index < count; index += (int)sb_blocks())
			if (!args.flags_a || (flags(args, index) & SB_NOT_FP16))
				run_tile(args, tiles, index);
	}
};

template <int BM, int BN, int BK, int threads, int cluster, int stages>
using sb_bf16x6sync = sb_bf16x6sync_any<BM, BN, BK, threads, cluster, stages, false>;
template <int BM, int BN, int BK, int threads, int cluster, int stages>
using sb_bf16x6synccut = sb_bf16x6sync_any<BM, BN, BK, threads, cluster, stages, true>;

#define SB_METHOD_bf16x6sync	0, SB_MAKE_TENSOR
#define SB_METHOD_bf16x6synccut 0, SB_MAKE_TENSOR
#include "instantiate.cuh"
