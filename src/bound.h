/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the least a call on the GPU can take: the slower of wire and arithmetic, which overlap,
 * and before and after it what cannot: the first panels' way in and the last block's way out.
 */
#ifndef SB_BOUND_H
#define SB_BOUND_H

#include "plan.h"

/* Of pinned memory, bytes a second: each way alone, and each way while both are at it. */
struct sb_wire {
	double up, down, both;
};

/* Seconds, but for the bytes. */
struct sb_bound {
	double bytes_up, bytes_down;
	double wire;	   /* the fewer bytes go while both ways are at it, the others alone */
	double arithmetic; /* as given: all products, operands on the device */
	double in;	   /* what the plan uploads before its first product may begin */
	double out;	   /* the plan's last block of C */
	double seconds;	   /* max(wire, arithmetic) + in + out */
};

struct sb_bound sb_bound(const struct sb_plan *plan, const struct sb_wire *wire, double arithmetic);

#endif
