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
/* A kernel of an emulated product, in that many blocks; and the split before it. */
bool quick_emulated(struct CUctx_st *context, const struct kernel *kernel, unsigned blocks,
		    const struct sb_gemm_args *args);
bool quick_split(struct CUctx_st *context, const struct sb_split_args *args);
/* What kernels on panels may rely on: whole tiles that are zero beyond the operands, and maps. */
bool quick_panels(struct CUctx_st *context, const struct kernel *kernel,
		  const struct sb_gemm_args *args);
/* The flags of a launch, where it has any, are there. */
bool quick_flags(struct CUctx_st *context, const struct sb_gemm_args *args);
bool quick_pack(struct CUctx_st *context, const struct kernel *kernel,
		const struct sb_pack_args *args);

#endif
