/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_regret.h"

#include "bench_time.h"

/* sqrt(count), rounded up. */
static int root(int count)
{
	int r = 0;

	while (r * r < count)
		r++;
	return r;
}

struct sb_median sb_regret_median(struct sb_samples *samples)
{
	const int n = samples->count, apart = root(n);
	struct sb_median m = {-1, -1, -1};
	int low, high;

	if (!n)
		return m;
	m.middle = sb_bench_middle(samples->seconds, n);
	low = (n - 1 - apart) / 2;
	high = (n + apart) / 2;
	m.low = samples->seconds[low < 0 ? 0 : low];
	m.high = samples->seconds[high < n ? high : n - 1];
	return m;
}

struct sb_regret sb_regret(const struct sb_median median[SB_SIDES], enum sb_side chosen)
{
	const enum sb_side other = chosen == SB_CPU ? SB_GPU : SB_CPU;
	struct sb_regret r = {-1, -1};

	if (median[SB_CPU].middle < 0 || median[SB_GPU].middle < 0)
		return r;
	r.middle = median[chosen].middle / median[other].middle - 1;
	r.least = median[chosen].low / median[other].high - 1;
	r.middle = r.middle < 0 ? 0 : r.middle;
	r.least = r.least < 0 || r.middle <= 0 ? 0 : r.least;
	return r;
}
