/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that compute one element a thread straight from global memory; see naive, coalesced. */
#ifndef SB_SINGLE_CUH
#define SB_SINGLE_CUH

#include "tile.cuh"

struct sb_no_shared {
};

SB_DEVICE void sb_single_element(const sb_gemm_args &args, int i, int j)
{
	if (i >= args.m || j >= args.n)
		return;
	const float *a = args.a + i * args.a_m, *b = args.b + j * args.b_n;
	float total = 0.0f;
	for (int k = 0; k < args.k;) {
		int end = args.k - k > SB_SLAB ? k + SB_SLAB : args.k;
		float chain = 0.0f;
		for (; k < end; k++) {
			float a_ik = sb_load(a + k * args.a_k);
			float b_kj = sb_load(b + k * args.b_k);

			chain = sb_fma(a_ik, b_kj, chain);
		}
		total = sb_add(total, chain);
	}
	sb_finish(args, i, j, total);
}

#endif
