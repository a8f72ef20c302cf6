/* SPDX-License-Identifier: BSD-3-Clause */
/* 16 bytes a load; B, whose k is contiguous, is transposed on its way into shared memory. */
#include "vector.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_vector : sb_by_fours<BM, BN, BK, threads, TM, TN, false> {
};

#define SB_METHOD_vector 0, SB_MAKE
#include "instantiate.cuh"
