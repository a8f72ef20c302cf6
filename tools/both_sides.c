/* SPDX-License-Identifier: BSD-3-Clause */
#include "both_sides.h"

#include <unistd.h>

#include "clock.h"
#include "names.h"
#include "route.h"
#include "settings.h"
#include "stats.h"

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112, MOST_RUNS = 64 };

typedef void cblas_function(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
			    int64_t k, float alpha, const void *a, int64_t lda, const void *b,
			    int64_t ldb, float beta, void *c, int64_t ldc);

const struct sb_backend *sb_sides_backend(void)
{
	return sb_backend_find(&sb_names[SB_NAME_cblas_sgemm], __builtin_return_address(0));
}

static double call(cblas_function *function, const struct sb_bench_product *p)
{
	double start = sb_clock_now();

	function(COLUMN_MAJOR, p->shape->trans_a ? TRANSPOSE : NO_TRANSPOSE,
		 p->shape->trans_b ? TRANSPOSE : NO_TRANSPOSE, p->shape->m, p->shape->n,
		 p->shape->k, 1, p->a, p->extent.lda, p->b, p->extent.ldb, 0, p->c, p->extent.ldc);
	return sb_clock_now() - start;
}

static double once(cblas_function *function, const struct sb_bench_product *p)
{
	sb_bench_poison(p);
	return call(function, p);
}

/* Did the last call go where it was sent? */
static bool answered(enum sb_side side)
{
	struct sb_last last;

	return side == SB_CPU || (sb_stats_last(&last) && last.outcome.side == side);
}

int sb_sides_samples(enum sb_side side, const struct sb_bench_product *product, int runs,
		     double long_run, double *samples, int count, int most)
{
	cblas_function *function;
	int mode = sb_route_mode();
	double first, spent = 0;

	if (side == SB_CPU && !sb_sides_backend()->function)
		return -1;
	if (side == SB_CPU)
		function = (cblas_function *)(void *)sb_sides_backend()->function;
	else
		function = (cblas_function *)sb_names_entry("cblas_sgemm");
	if (side == SB_GPU)
		sb_route_set_mode(SB_MODE_GPU);
	first = once(function, product);
	if (!answered(side))
		first = -1;
	/* What a first run has to make, rings say, is not what a product takes. */
	if (first > 10 * long_run && count < most)
		samples[count++] = first;
	else
		for (int i = 0; first >= 0 && i < runs && count < most; i++) {
			samples[count] = once(function, product);
			spent += samples[count++];
			if (spent > long_run)
				break;
		}
	sb_route_set_mode(mode);
	return first < 0 ? -1 : count;
}

double sb_sides_seconds(enum sb_side side, const struct sb_bench_product *product, int runs,
			double long_run)
{
	double samples[MOST_RUNS];
	int count = sb_sides_samples(side, product, runs, long_run, samples, 0, MOST_RUNS);

	return count < 1 ? -1 : sb_bench_middle(samples, count);
}

double sb_sides_on_device(const struct sb_bench_product *product, int runs)
{
	cblas_function *function = (cblas_function *)sb_names_entry("cblas_sgemm");
	double seconds[MOST_RUNS];
	int mode = sb_route_mode();
	bool done = true;

	if (runs > MOST_RUNS)
		runs = MOST_RUNS;
	sb_route_set_mode(SB_MODE_GPU);
	(void)call(function, product);
	for (int i = 0; i < runs && done; i++) {
		seconds[i] = call(function, product);
		done = answered(SB_GPU);
	}
	sb_route_set_mode(mode);
	return done ? sb_bench_middle(seconds, runs) : -1;
}

enum sb_side sb_sides_choose(const struct sb_profile *profile, const struct sb_situation *situation,
			     const struct sb_call *call)
{
	if (sb_route_small(call, SB_ROUTE_SMALL_WORK))
		return SB_CPU;
	return sb_model_gpu(profile, situation, call).seconds <
			       sb_model_cpu(profile, situation, call).seconds
		       ? SB_GPU
		       : SB_CPU;
}

void sb_sides_settle(void)
{
	usleep(150 * 1000);
}
