/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: a call cut over the devices of a team: each computes a share of C by a plan of its own,
 * as if it were a call of its own. A pure function of the wish.
 *
 * C is cut along the longer of m and n, on borders of tiles, in shares as large as the devices are.
 * K is not cut between them, so that no sums travel. One operand is cut with C, the
 * other, the smaller one, is common to all. Where it fits whole on every device, and the devices
 * are linked, it crosses a wire once in all (plan_among.c); else every device is sent all of it.
 */
#ifndef SB_PLAN_SPLIT_H
#define SB_PLAN_SPLIT_H

#include "plan.h"

struct sb_split_wish {
	struct sb_plan_wish call; /* device_bytes and among are not looked at */
	int devices;		  /* of the team */
	bool linked;
	size_t device_bytes[SB_DEVICES]; /* each device's region may be no larger */
	int weights[SB_DEVICES];	 /* how large the devices are, in any unit; > 0 */
};

struct sb_share {
	int64_t i0, m, j0,
		n; /* the block of C; what the plan says of rows and columns is within it */
	struct sb_plan plan;
};

struct sb_split {
	int count; /* shares, on as many of the first devices */
	struct sb_share shares[SB_DEVICES];
};

/* As sb_plan_make(), whose wishes are passed on. On failure there is nothing to free. */
enum sb_status sb_split_make(struct sb_split *split, const struct sb_split_wish *wish);
void sb_split_free(struct sb_split *split);

/*
 * How many of the devices a call is worth: each further one costs its own launches and the caller's
 * time, which shares must be worth that are too narrow, or move too little, below these bounds.
 * Tests lower them.
 */
int sb_split_devices(const struct sb_split_wish *wish);
struct sb_split_least {
	int64_t extent; /* rows or columns, along the cut */
	double bytes;	/* of A, B and C, a device */
};
extern struct sb_split_least sb_split_least;

#endif
