/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 0: what was measured of a few sizes of m, n and k, read at any size. Pure.
 */
#ifndef SB_GRID_H
#define SB_GRID_H

#include <stdbool.h>
#include <stdint.h>

enum { SB_GRID = 12 };
extern const int sb_grid_sizes[SB_GRID]; /* ascending, from 1 */

struct sb_grid {
	double at[SB_GRID][SB_GRID][SB_GRID]; /* m, n, k */
};

/* A grid for each way in which A and B may be transposed: nn, nt, tn, tt. */
enum { SB_WAYS = 4 };
extern const char *const sb_grid_ways[SB_WAYS];
struct sb_grids {
	struct sb_grid way[SB_WAYS];
};

static inline int sb_grid_way(bool trans_a, bool trans_b)
{
	return 2 * trans_a + trans_b;
}

/*
 * Seconds of a product: linear in each size between nodes, so that it is exact for any sum of 1, m,
 * n, k, mk, kn, mn and mnk; in proportion beyond the last. Grows with every size if the nodes do.
 */
double sb_grid_seconds(const struct sb_grid *grid, int64_t m, int64_t n, int64_t k);

/* A factor: linear in the logarithm of each size, and the last node's beyond it. */
double sb_grid_factor(const struct sb_grid *grid, int64_t m, int64_t n, int64_t k);

#endif
