/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process holds. */
#ifndef SOAK_HOLDING_H
#define SOAK_HOLDING_H

struct held {
	long heap, resident, threads, files; /* the first two in KiB */
};

struct held held_now(void);

/* The most of each; what is in use at a moment goes up and down. */
void held_widen(struct held *most, const struct held *held);

/* Is late more than early, beyond a swing in KiB? */
int held_grown(const struct held *early, const struct held *late, long swing);

#endif
