/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: the path of every call. */
#ifndef SB_GEMM_H
#define SB_GEMM_H

#include "backend.h"

/*
 * Answers a call: C = alpha op(A) op(B) + beta C, on the GPU where that is faster, else by the
 * backend with the caller's own arguments.
 */
void sb_gemm(const struct sb_forward *forward);

#endif
