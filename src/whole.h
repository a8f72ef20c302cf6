/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 0: whole numbers that count something, none of them negative. */
#ifndef SB_WHOLE_H
#define SB_WHOLE_H

#include <stdint.h>

/* How many of size b it takes for a; the multiple of `to` that they make; the lesser of two. */
static inline int64_t sb_ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

static inline int64_t sb_round_up(int64_t a, int64_t to)
{
	return sb_ceil_div(a, to) * to;
}

static inline int64_t sb_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
