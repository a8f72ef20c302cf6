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
 * Computes C on the devices of the team, as many as are worth it. SB_OK: every element of C was
 * written once, with its finished value, by the GPU or, where the GPU failed after part of C had
 * been written, by `finish` for each remaining block. Anything else: C is untouched and the CPU
 * must answer. Nothing but C's m x n elements is ever written. Fills in decision->kernel and
 * decision->devices.
 *
 * Operands may lie in pageable, pinned or managed memory or on a device, in any mixture, which
 * decision->on_device tells afterwards. If they lie on one, `finish` gets copies in host memory
 * where the GPU cannot do the call or the decision's side is the CPU, and the decision says which
 * it was. A device that is lost with operands on it leaves nobody who could answer: a warning says
 * so once, C is not touched, and no backend must be given these pointers.
 *
 * To be called between sb_process_enter() and sb_process_leave().
 */
enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context);

#endif
