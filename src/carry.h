/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 6: carries plans out, one on each device that takes part in a call: the steps of each
 * stream in their order, a step as soon as those that it needs have been queued, and between them
 * whatever the rings can move on. The calling thread makes all calls of CUDA and, when there is
 * none to make, copies with the others.
 */
#ifndef SB_CARRY_H
#define SB_CARRY_H

#include "call.h"
#include "device.h"
#include "plan.h"

/* What one device does. */
struct sb_carry {
	struct sb_device *device;
	const struct sb_call *call; /* of its block of C */
	const struct sb_kernel *kernel;
	const struct sb_tiers *tiers; /* of an emulated product, else NULL */
	const struct sb_plan *plan;
	sb_cu_deviceptr base; /* of the region that the plan's offsets speak of */
	enum sb_place places[SB_OPERANDS];
	bool direct;		     /* finished blocks go to the caller's pinned C by DMA */
	const struct sb_call *fresh; /* whose C is pageable and will not be read, or NULL: its pages
					may be missing as yet; of the first alone */
	double patience;

	/* Progress: what of C has been written when carrying ends, for sb_carry_rest(). */
	int step;	       /* all DOWN steps (in place: GEMM steps) before this one are done */
	int64_t columns, rows; /* of its block: whole columns, and rows of the next one */

	struct sb_carry *all;	      /* that are carried out together, this one among them */
	struct sb_carry_state *state; /* while it lasts */
};

/*
 * Carries the plans of `count` devices out and waits for their end. The first one's device is the
 * one that has been entered. SB_OK: C is complete. Otherwise the streams are idle again (or the
 * devices are lost), and what has been written is in the progress fields of each. With direct, an
 * incomplete C counts as not written at all: beta is zero, so it can be computed afresh.
 */
enum sb_status sb_carry_out(struct sb_carry *all, int count);

/* Has any of its block of C been written? */
bool sb_carry_begun(const struct sb_carry *carry);

/* Calls rest() for blocks that are, together, exactly what of its block of C has not been
 * written; what they say of rows and columns is within it. */
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
