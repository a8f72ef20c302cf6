/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is lost by a choice between two sides that were both measured, and how much of that the
 * measurement itself may have made up.
 */
#ifndef SB_BENCH_REGRET_H
#define SB_BENCH_REGRET_H

#include <stdbool.h>

#include "status.h"

enum { SB_REGRET_SAMPLES = 60 };

/* Seconds of one product on one side, in order or not. */
struct sb_samples {
	double seconds[SB_REGRET_SAMPLES];
	int count; /* 0: none could be had */
};

/*
 * The median, and the order statistics between which the median of a longer measurement lies with
 * 95 % (those sqrt(n) ranks beside it). Sorts the samples. All are negative where there are none.
 */
struct sb_median {
	double middle, low, high;
};
struct sb_median sb_regret_median(struct sb_samples *samples);

/*
 * The seconds of the chosen side over those of the better one, less one: by the medians, and as
 * little as their bounds allow. Both are 0 for the better side, and negative where a side is not
 * known.
 */
struct sb_regret {
	double middle, least;
};
struct sb_regret sb_regret(const struct sb_median median[SB_SIDES], enum sb_side chosen);

#endif
