/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 6: carries a plan out: the steps of each stream in their order, a step as soon as those
 * that it needs have been queued, and between them whatever the rings can move on. The calling
 * thread makes all calls of CUDA and, when there is none to make, copies with the others.
 */
#ifndef SB_CARRY_H
#define SB_CARRY_H

#include "call.h"
#include "device.h"
#include "plan.h"

struct sb_carry {
	struct sb_device *device;
	const struct sb_call *call;
	const struct sb_kernel *kernel;
	const struct sb_plan *plan;
	sb_cu_deviceptr base; /* of the region that the plan's offsets speak of */
	enum sb_place places[SB_OPERANDS];
	bool direct; /* finished blocks go to the caller's pinned C by DMA */
	bool fresh;  /* C is pageable and will not be read: its pages may be missing as yet */
	double patience;

	/* Progress: what of C has been written when carrying ends, for sb_carry_rest(). */
	int step;	       /* all DOWN steps (in place: GEMM steps) before this one are done */
	int64_t columns, rows; /* of its block: whole columns, and rows of the next one */

	struct sb_carry_state *state; /* while it lasts */
};

/*
 * Carries the plan out and waits for its end. SB_OK: C is complete. Otherwise the streams are idle
 * again (or the device is lost), and what has been written is in the progress fields. With direct,
 * an incomplete C counts as not written at all: beta is zero, so it can be computed afresh.
 */
enum sb_status sb_carry_out(struct sb_carry *carry);

/* Has any of C been written? */
bool sb_carry_begun(const struct sb_carry *carry);

/* Calls rest() for blocks that are, together, exactly what of C has not been written. */
typedef void sb_carry_block(void *context, int64_t i0, int64_t j0, int64_t m, int64_t n);
void sb_carry_rest(const struct sb_carry *carry, sb_carry_block *rest, void *context);

/* Waits until all streams are idle. */
enum sb_status sb_carry_drain(struct sb_device *device, double patience);

/*
 * Makes a stream of ours wait for what the program has queued on its own (blocking) streams, which
 * may still be writing operands that lie on the device.
 */
enum sb_status sb_carry_await_program(struct sb_device *device, enum sb_stream stream);

#endif
