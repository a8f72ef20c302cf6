/* SPDX-License-Identifier: BSD-3-Clause */
/* The next tile is fetched from global memory during the multiplications of this one. */
#include "buffered.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_double : sb_buffered<BM, BN, BK, threads, TM, TN, stages> {
};

#define SB_METHOD_double 0, SB_MAKE
#include "instantiate.cuh"
