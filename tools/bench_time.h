/* SPDX-License-Identifier: BSD-3-Clause */
/* How a bench takes its times. */
#ifndef SB_BENCH_TIME_H
#define SB_BENCH_TIME_H

#include <stdbool.h>

#include "bench_data.h"

/*
 * How often to repeat; fewer times where that would take longer than `budget` seconds. A run of a
 * kernel is so many launches in a row that they take `sustained` seconds, and a millisecond at
 * least.
 */
struct sb_bench_pace {
	int repeat;
	double budget, sustained;
};

enum { SB_BENCH_MOST_REPEATS = 1000 };

/* Multiplies once; false if it cannot. */
typedef bool sb_bench_run(void *context, const struct sb_bench_product *product);

/*
 * The median of the seconds that runs take, each with a freshly poisoned C, after one run that does
 * not count. Negative if a run failed.
 */
double sb_bench_median(struct sb_bench_pace pace, sb_bench_run *run, void *context,
		       const struct sb_bench_product *product);

/* The median of count numbers, which are put in order. */
double sb_bench_middle(double *numbers, int count);

#endif
