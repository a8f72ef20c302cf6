/* SPDX-License-Identifier: BSD-3-Clause */
/* Two buffers beyond the 48 KB of static shared memory: longer tiles, half the barriers. */
#include "buffered.cuh"

template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
struct sb_dynamic : sb_buffered<BM, BN, BK, threads, TM, TN, stages> {
};

#define SB_METHOD_dynamic 0, SB_MAKE
#include "instantiate.cuh"
