/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the first half of planning: how wide the panels are, how many slots and buffers there
 * are, and where they lie in the device region, so that it all fits. plan.c lays the steps.
 */
#ifndef SB_PLAN_SHAPE_H
#define SB_PLAN_SHAPE_H

#include "plan.h"

#define SB_PLAN_SLOTS	16  /* most slots of an operand, and panels where it is whole */
#define SB_PLAN_BUFFERS 32  /* most buffers of C */
#define SB_PLAN_PIECE	64  /* rows and values of k in a piece of planes */
#define SB_PLAN_FLAGGED 128 /* rows or columns to a flag of an emulated product (args.h) */

/* A super-block is a panel of A, `high`, by `blocks` panels of B, `wide`; its runs are so long. */
struct sb_super {
	int64_t high, wide, run, blocks;
	int slots[SB_OPERANDS];
};

/* Lays everything out for such super-blocks; does it fit? */
bool sb_plan_lay_out_super(struct sb_plan *plan, const struct sb_plan_wish *wish,
			   const struct sb_super *super);

/*
 * Lays everything out for the best super-blocks. The rows and columns that will cross the wire,
 * weighed against narrow blocks and short runs, or 0 if none fits.
 */
double sb_plan_fit_runs(struct sb_plan *plan, const struct sb_plan_wish *wish);

/* Fills everything of the plan but its steps. As sb_plan_make(). */
enum sb_status sb_plan_shape(struct sb_plan *plan, const struct sb_plan_wish *wish);

#endif
