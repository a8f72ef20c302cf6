/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick engine: what kernels/args.h promises, as one loop. It checks what the launch may touch
 * first and reports a violation and false if it may not; it gives the bits of the one-sum rule. The
 * canonical panels' zeros are checked for the kernels that rely on them.
 */
#ifndef SB_QUICK_H
#define SB_QUICK_H

#include "stand_in_world.h"

bool quick_gemm(struct CUctx_st *context, const struct kernel *kernel,
		const struct sb_gemm_args *args);
bool quick_sum(struct CUctx_st *context, const struct sb_gemm_args *args);
bool quick_pack(struct CUctx_st *context, const struct kernel *kernel,
		const struct sb_pack_args *args);

#endif
