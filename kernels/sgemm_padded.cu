/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tile read by column whose rows are a word (padded) or two words (padded2) longer than they need
 * be, which moves the words of a column into banks of their own.
 */
#include "column.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_padded : sb_by_column<BM, BN, BK, threads, 1> {
};

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_padded2 : sb_by_column<BM, BN, BK, threads, 2> {
};

#define SB_METHOD_padded  0, SB_MAKE
#define SB_METHOD_padded2 0, SB_MAKE
#include "instantiate.cuh"
