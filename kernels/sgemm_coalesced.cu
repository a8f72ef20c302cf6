/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbouring threads walk along m: A and C are contiguous for a warp, B is one word. */
#include "single.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages> struct sb_coalesced {
	using shared = sb_no_shared;

	SB_DEVICE static void run(const sb_gemm_args &args, shared &)
	{
		sb_corner corner = sb_block_corner<BM, BN>(args);
		int t = sb_thread();

		sb_single_element(args, corner.i + t % BM, corner.j + t / BM);
	}
};

#define SB_METHOD_coalesced 0, SB_MAKE
#include "instantiate.cuh"
