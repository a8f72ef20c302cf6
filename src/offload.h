/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: carries a call to the GPU and its result home. */
#ifndef SB_OFFLOAD_H
#define SB_OFFLOAD_H

#include "call.h"
#include "route.h"
#include "status.h"

/*
 * Computes a block of the caller's C on the CPU: a call whose operands are parts of the original's.
 */
typedef void sb_finish(void *context, const struct sb_call *block);

/*
 * Computes C on the device that `decision` chose. SB_OK: every element of C was written once, with
 * its finished value, by the GPU or, where the GPU failed after part of C had been written, by
 * `finish` for each remaining block. Anything else: C is untouched and the CPU must answer. Nothing
 * but C's m x n elements is ever written. Fills in decision->kernel.
 *
 * Operands may lie in pageable, pinned or managed memory or on the device, in any mixture. A device
 * that is lost with the program's own operands on it leaves nobody who could answer; then, too, a
 * status other than SB_OK is returned.
 *
 * To be called between sb_process_enter() and sb_process_leave().
 */
enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context);

#endif
