/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 1: calls by their shape, for the report: calls that went the same way (side, reason,
 * kernel) and whose sizes, each rounded up to a power of two, and transposes are the same are one
 * class.
 *
 * Only told to where a report was asked for. There is room for so many classes; calls of further
 * ones are counted in one for each side that has no shape. A child of fork starts from none.
 */
#ifndef SB_CLASSES_H
#define SB_CLASSES_H

#include "call.h"
#include "stats.h"

enum { SB_CLASSES = 500 };

struct sb_class {
	bool shapeless; /* of all shapes that found no room */
	bool alike;	/* all calls had the very sizes m, n and k */
	bool trans_a, trans_b;
	int64_t m, n, k; /* of the call with the most work */
	enum sb_side side;
	enum sb_reason reason;
	const char *kernel; /* or NULL */
	uint64_t calls, foreseen;
	/* Sums: 2mnk, bytes of A, B and C, and seconds from call to return. */
	double flops, bytes, seconds;
	/*
	 * Sums over the `foreseen` calls alone: what they took, and what had been predicted of
	 * either side. What could have been is a sum over those that the other side would have
	 * answered sooner by the prediction.
	 */
	double seconds_foreseen, cpu, gpu, sooner;
	double bound, seconds_bound; /* sums of what a bound is known of: the bound, what it took */
};

/* What was predicted of a call; 0 where nothing was. */
struct sb_foreseen {
	double cpu, gpu, bound;
};

void sb_classes_add(const struct sb_call *call, const struct sb_outcome *outcome,
		    const struct sb_foreseen *foreseen);

/* Copies the classes, at most SB_CLASSES + SB_SIDES of them, and returns their number. */
int sb_classes_read(struct sb_class *classes);
void sb_classes_reset(void);

#endif
