/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of plans of several devices: their steps queued as the executor queues them, and
 * whether each of them comes after all that it uses.
 */
#ifndef SB_SPLIT_REPLAY_H
#define SB_SPLIT_REPLAY_H

#include "plan_split.h"

/* Are the operands whole on each device? */
int split_all_whole(const struct sb_split *split);

/* The first step of a stream at or after `from`; the plan's count if there is none. */
int split_next_of(const struct sb_plan *plan, int stream, int from);

/* What is wrong with it, counted, and the first few things told on stderr. */
int split_replay(const struct sb_split *split, const struct sb_split_wish *wish);

#endif
