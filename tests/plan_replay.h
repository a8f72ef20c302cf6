/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of plans: goes through the steps and looks whether each comes after all that it must
 * wait for, reads what is there, in bounds, and whether each element of C is summed over all of k
 * in ascending order and comes home once.
 */
#ifndef SB_PLAN_REPLAY_H
#define SB_PLAN_REPLAY_H

#include "plan.h"

/* How much is wrong; the first of it is told on stderr. */
int plan_replay(const struct sb_plan *plan, const struct sb_plan_wish *wish);

#endif
