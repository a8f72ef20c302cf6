/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbouring threads walk along n: each touches a row of its own in B and a column of its own in C. */
#include "single.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_naive {
	using shared = sb_no_shared;

	SB_DEVICE static void run(const sb_gemm_args &args, shared &)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		int t = sb_thread();

		sb_single_element(args, corner.i + t / BN, corner.j + t % BN);
	}
};

#define SB_METHOD_naive 0, SB_MAKE
#include "instantiate.cuh"
