/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block for each slab of each tile, as split, with the bulk copies of bulk: canonical panels. A
 * thread keeps chains only, so that two blocks find room and one computes while another begins.
 */
#include "slab.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_slab {
	/* A warp's threads lie 8 along m and 4 along n, its fours that far apart; fewer along a short m. */
	static constexpr int lanes_m = BM / TM < 8 ? BM / TM : 8, lanes_n = 32 / lanes_m;
	static constexpr int warps_m = BM / (lanes_m * TM), warps_n = BN / (lanes_n * TN);
	static_assert(threads == 32 * warps_m * warps_n, "the warps cover the tile");
	static_assert(SB_SLAB % BK == 0 && TM % 4 == 0 && TN % 4 == 0, "");
	static constexpr unsigned stage_bytes = (BM + BN) * BK * 4;

	struct shared {
		alignas(128) float a[stages * BK][BM];
		alignas(128) float b[stages * BK][BN];
		uint64_t full[stages], empty[stages];
	};

	SB_DEVICE static int i_of(int r)
	{
		int lane = sb_thread() % 32, warp = sb_thread() / 32;

		return warp % warps_m * (lanes_m * TM) + lane % lanes_m * 4 + r / 4 * (lanes_m * 4) + r % 4;
	}

	SB_DEVICE static int j_of(int c)
	{
		int lane = sb_thread() % 32, warp = sb_thread() / 32;

		return warp / warps_m * (lanes_n * TN) + lane / lanes_m * 4 + c / 4 * (lanes_n * 4) + c % 4;
	}

	/* By the first thread. */
	SB_DEVICE static void fetch(const sb_gemm_args &args, shared &tiles, const sb_part &slab, int step)
	{
		int to = step % stages, k = slab.k0 + step * BK;

		sb_copy_barrier_expect(tiles.full[to], stage_bytes);
		sb_copy_box(sb_rows<BK>(tiles.a, to), args.map_a, slab.corner.i, k, tiles.full[to]);
		sb_copy_box(sb_rows<BK>(tiles.b, to), args.map_b, slab.corner.j, k, tiles.full[to]);
	}

	SB_DEVICE static void multiply(const shared &tiles, int row, sb_sums<TM, TN> &sums)
	{
		SB_UNROLL
		for (int k = 0; k < BK; k++) {
			float a_k[TM], b_k[TN];

			SB_UNROLL
			for (int r = 0; r < TM; r += 4) {
				sb_float4 four = sb_get4(tiles.a, row + k, i_of(r));

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					a_k[r + e] = four.x[e];
			}
			SB_UNROLL
			for (int c = 0; c < TN; c += 4) {
				sb_float4 four = sb_get4(tiles.b, row + k, j_of(c));

				SB_UNROLL
				for (int e = 0; e < 4; e++)
					b_k[c + e] = four.x[e];
			}
			sums.multiply(a_k, b_k);
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles)
	{
		sb_part slab = sb_block_part<BM, BN>(args);
		int depth = args.k - slab.k0 < SB_SLAB ? args.k - slab.k0 : SB_SLAB;
		int steps = (depth + BK - 1) / BK;
		sb_sums<TM, TN> sums;

		if (sb_thread() == 0) {
			SB_UNROLL
			for (int s = 0; s < stages; s++) {
				sb_copy_barrier_init(tiles.full[s], 1);
				sb_copy_barrier_init(tiles.empty[s], threads / 32);
			}
			sb_copy_barrier_publish();
			for (int s = 0; s < stages && s < steps; s++)
				fetch(args, tiles, slab, s);
		}
		sb_barrier();
		SB_ROLLED
		for (int step = 0; step < steps; step++) {
			int stage = step % stages, before = step - 1;

			if (sb_thread() == 0 && step > 0 && before + stages < steps) {
				sb_copy_barrier_wait(tiles.empty[before % stages], before / stages % 2);
				fetch(args, tiles, slab, before + stages);
			}
			sb_copy_barrier_wait(tiles.full[stage], step / stages % 2);
			multiply(tiles, stage * BK, sums);
			sb_warp_barrier();
			if (sb_thread() % 32 == 0)
				sb_copy_barrier_arrive(tiles.empty[stage]);
		}
		SB_UNROLL
		for (int c = 0; c < TN; c++) {
			SB_UNROLL
			for (int r = 0; r < TM; r += 4)
				sb_finish_chain4(args, slab, slab.corner.i + i_of(r), slab.corner.j + j_of(c),
				                 {sums.chain[r][c], sums.chain[r + 1][c],
				                  sums.chain[r + 2][c], sums.chain[r + 3][c]});
		}
	}
};

#define SB_METHOD_slab 0, SB_MAKE
#include "instantiate.cuh"
