/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 0: the clock that intervals are measured by. */
#ifndef SB_CLOCK_H
#define SB_CLOCK_H

#include <time.h>

/* Seconds, from some moment on; it never goes back, and stands still while the machine sleeps. */
static inline double sb_clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of two intervals. */
static inline double sb_longer(double a, double b)
{
	return a > b ? a : b;
}

#endif
