/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that a call could take by what wire and kernel do alone, measured in the same run. */
#ifndef SB_BENCH_BOUND_H
#define SB_BENCH_BOUND_H

#include "bench.h"
#include "bound.h"

struct sb_bench_bounds {
	struct sb_device *device; /* NULL: nothing is known */
	struct sb_wire wire;
	struct sb_table table; /* the parts, a row a bound */
};

/* Measures the wire, with pinned memory, and says it on the page. */
void sb_bench_bounds_open(struct sb_bench_bounds *bounds, struct sb_bench *bench);
/* Writes the table of the parts, if anything is known. */
void sb_bench_bounds_close(struct sb_bench_bounds *bounds, struct sb_bench *bench);

/*
 * The seconds of a product's bound with operands in that memory, with the kernel that multiplied
 * it, whose time is measured here; a row of the table. Negative if they cannot be had.
 */
double sb_bench_bound(struct sb_bench_bounds *bounds, struct sb_bench *bench,
		      const struct sb_bench_product *product, enum sb_bench_memory memory,
		      const char *kernel);

#endif
