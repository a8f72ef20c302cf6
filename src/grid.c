/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <string.h>

/*
 * No powers of two: those fill the tiles of a BLAS, and fall on each other in its caches, as no
 * other sizes do. The small ones leave it remainders of every kind, which cost nearly as much as a
 * tile. The last is for long sums of few elements.
 */
const int sb_grid_sizes[SB_GRID] = {1, 3, 7, 19, 47, 110, 230, 470, 950, 2000, 4200, 16800};
const char *const sb_grid_ways[SB_WAYS] = {"nn", "nt", "tn", "tt"};

/* Where a size lies: between node `low` and the next, `share` of the way. */
struct between {
	int low;
	double share;
	double times; /* the last node, where it is beyond that */
};

static struct between find(int64_t size)
{
	struct between b = {SB_GRID - 2, 1, 1};
	const int last = sb_grid_sizes[SB_GRID - 1];

	if (size >= last) {
		b.times = (double)size / last;
		return b;
	}
	while (b.low > 0 && size < sb_grid_sizes[b.low])
		b.low--;
	b.share = (double)(size - sb_grid_sizes[b.low]) /
		  (sb_grid_sizes[b.low + 1] - sb_grid_sizes[b.low]);
	if (b.share < 0)
		b.share = 0;
	return b;
}

static double mix(double low, double high, double share)
{
	return low + share * (high - low);
}

static double read(const struct sb_grid *grid, struct between m, struct between n, struct between k)
{
	double along_m[2];

	for (int i = 0; i < 2; i++) {
		const double(*plane)[SB_GRID] = grid->at[m.low + i];
		double along_n[2];

		for (int j = 0; j < 2; j++)
			along_n[j] =
				mix(plane[n.low + j][k.low], plane[n.low + j][k.low + 1], k.share);
		along_m[i] = mix(along_n[0], along_n[1], n.share);
	}
	return mix(along_m[0], along_m[1], m.share);
}

double sb_grid_seconds(const struct sb_grid *grid, int64_t m, int64_t n, int64_t k)
{
	struct between bm = find(m), bn = find(n), bk = find(k);

	return read(grid, bm, bn, bk) * bm.times * bn.times * bk.times;
}

/* log2, near enough and the same everywhere: linear between powers of two. x is 1 at least. */
static double doublings(double x)
{
	uint64_t bits;
	double part;
	int count;

	memcpy(&bits, &x, sizeof bits);
	count = (int)(bits >> 52) - 1023;
	/* What is left, between 1 and 2. */
	bits = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1023 << 52;
	memcpy(&part, &bits, sizeof part);
	return count + part - 1;
}

static struct between find_doublings(int64_t size)
{
	struct between b = find(size);
	double low = doublings(sb_grid_sizes[b.low]), high = doublings(sb_grid_sizes[b.low + 1]);

	if (b.share < 1 && size > 0)
		b.share = (doublings((double)size) - low) / (high - low);
	return b;
}

double sb_grid_factor(const struct sb_grid *grid, int64_t m, int64_t n, int64_t k)
{
	return read(grid, find_doublings(m), find_doublings(n), find_doublings(k));
}
