/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: how each kind of step of a plan is queued; carry.c says when. */
#ifndef SB_CARRY_STEPS_H
#define SB_CARRY_STEPS_H

#include "carry.h"
#include "ring.h"

/* Is C written by kernels? */
static inline bool sb_carry_on_device(const struct sb_plan *plan)
{
	return plan->buffers == 0 || plan->settles;
}

/* Is this the kind of step after which a block of C is written? */
bool sb_carry_writes(const struct sb_carry *carry, const struct sb_step *step);

/* Blocks on their way home: each but the last of them holds a slot. */
#define SB_CARRY_HOMES (SB_RING_SLOTS + 1)

struct sb_carry_home {
	struct sb_download download;
	struct sb_carry *carry;
	int step;
};

/* What lasts as long as the carrying. */
struct sb_carry_state {
	int next[SB_STREAMS];	/* the first step of each stream that is not queued, or count */
	bool feeding, fetching; /* the next upload or download is on its way */
	struct sb_upload upload;
	struct sb_carry_home homes[SB_CARRY_HOMES];
	size_t first, last; /* of these, counted for ever: [first, last) are on their way */
	bool queued[];	    /* by step: the whole of it, and its event */
};

/* Are all steps that this one needs queued? */
bool sb_carry_needs_queued(const struct sb_carry *carry, const struct sb_step *step);

/*
 * Queues a step whose needs are, or begins to: an upload or a download through the rings is then
 * `feeding` or `fetching`, and queued when the last of its chunks is.
 */
enum sb_status sb_carry_begin(struct sb_carry *carry, int step);

#endif
