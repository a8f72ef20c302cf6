/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 0: the clock that intervals are measured by. */
#ifndef SB_CLOCK_H
#define SB_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * Nanoseconds, from some moment on; it never goes back, and stands still while the machine sleeps.
 * Also where the floating-point environment is the program's.
 */
static inline int64_t sb_clock_nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The same in seconds. */
static inline double sb_clock_now(void)
{
	return 1e-9 * (double)sb_clock_nanoseconds();
}

/* Of two intervals. */
static inline double sb_longer(double a, double b)
{
	return a > b ? a : b;
}

static inline double sb_shorter(double a, double b)
{
	return a < b ? a : b;
}

#endif
