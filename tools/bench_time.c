/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_time.h"

#include <stdlib.h>

#include "clock.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double sb_bench_middle(double *numbers, int count)
{
	qsort(numbers, (size_t)count, sizeof *numbers, compare);
	return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static double once(sb_bench_run *run, void *context, const struct sb_bench_product *product)
{
	double start;

	sb_bench_poison(product);
	start = sb_clock_now();
	return run(context, product) ? sb_clock_now() - start : -1;
}

double sb_bench_median(struct sb_bench_pace pace, sb_bench_run *run, void *context,
		       const struct sb_bench_product *product)
{
	double seconds[SB_BENCH_MOST_REPEATS];
	double spent = once(run, context, product);
	int count = 0;

	while (spent >= 0 && count < pace.repeat && (!count || spent < pace.budget)) {
		seconds[count] = once(run, context, product);
		if (seconds[count] < 0)
			return -1;
		spent += seconds[count++];
	}
	return spent < 0 ? -1 : sb_bench_middle(seconds, count);
}
