/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 0: what was measured of a few sizes of m, n and k, read at any size. Pure.
 */
#ifndef SB_GRID_H
#define SB_GRID_H

#include <stdint.h>

enum { SB_GRID = 7 };
extern const int sb_grid_sizes[SB_GRID]; /* ascending, from 1 */

struct sb_grid {
	double at[SB_GRID][SB_GRID][SB_GRID]; /* m, n, k */
};

/*
 * Seconds of a product: linear in each size between nodes, so that it is exact for any sum of 1, m,
 * n, k, mk, kn, mn and mnk; in proportion beyond the last. Grows with every size if the nodes do.
 */
double sb_grid_seconds(const struct sb_grid *grid, int64_t m, int64_t n, int64_t k);

/* A factor: linear in the logarithm of each size, and the last node's beyond it. */
double sb_grid_factor(const struct sb_grid *grid, int64_t m, int64_t n, int64_t k);

#endif
