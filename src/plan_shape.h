/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the first half of planning: how wide the panels are, how many slots and buffers there
 * are, and where they lie in the device region, so that it all fits. plan.c lays the steps.
 */
#ifndef SB_PLAN_SHAPE_H
#define SB_PLAN_SHAPE_H

#include "plan.h"

#define SB_PLAN_SLOTS	16 /* most slots of an operand, and panels where it is whole */
#define SB_PLAN_BUFFERS 32 /* most buffers of C */

/* Fills everything of the plan but its steps. As sb_plan_make(). */
enum sb_status sb_plan_shape(struct sb_plan *plan, const struct sb_plan_wish *wish);

#endif
