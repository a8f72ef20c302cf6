/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: the answer of last resort, where a process holds no BLAS at all: plain loops in double
 * precision, rounded once. Behaves as the reference BLAS does: an illegal argument is named on
 * standard error by its position in SGEMM and leaves C untouched.
 */
#ifndef SB_REFERENCE_H
#define SB_REFERENCE_H

#include "call.h"

void sb_reference(const struct sb_call *call);

#endif
