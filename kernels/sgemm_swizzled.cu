/* SPDX-License-Identifier: BSD-3-Clause */
/* The vector kernel with B's columns permuted so that the transposing stores meet no conflict. */
#include "vector.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_swizzled : sb_by_fours<BM, BN, BK, threads, TM, TN, true> {
};

#define SB_METHOD_swizzled 0, SB_MAKE
#include "instantiate.cuh"
