/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile read by column: all lanes of a warp, or half of them, want words of one or two banks. */
#include "column.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_column : sb_by_column<BM, BN, BK, threads, 0> {
};

#define SB_METHOD_column 0, SB_MAKE
#include "instantiate.cuh"
