/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend's part of a profile. */
#include "tune.h"

#include "backend.h"
#include "both_sides.h"
#include "model.h"
#include "threads.h"

/* Runs that are short are repeated; a long one speaks for itself. */
static const double long_run = 8e-3;
enum { RUNS = 5 };

static int threads_now; /* of the backend, while a grid is filled */

static double measure(struct sb_tune *tune, const struct sb_bench_product *product)
{
	(void)tune;
	return sb_sides_seconds(SB_CPU, product, RUNS, long_run);
}

static double expect(const struct sb_profile *profile, const struct sb_bench_shape *shape)
{
	const struct sb_situation situation = {.threads = threads_now};
	const struct sb_call call = {.m = shape->m,
				     .n = shape->n,
				     .k = shape->k,
				     .trans_a = shape->trans_a,
				     .trans_b = shape->trans_b};
	double seconds;

	(void)profile;
	/* What is being measured cannot be asked. */
	seconds = sb_model_cpu(sb_profile_shipped(), &situation, &call).seconds;
	return sb_tune_runs(seconds, RUNS, long_run) * seconds + 10e-6;
}

/* 1, 4, 16, ... and the most; only the most where the backend cannot be told. */
static int list_threads(int most, bool told, int *list)
{
	int count = 0;

	for (int threads = 1; threads < most && told && count < SB_PROFILE_CPUS - 1; threads *= 4)
		list[count++] = threads;
	list[count++] = most;
	return count;
}

static struct sb_tune_grid grid_for(double budget)
{
	return (struct sb_tune_grid){.name = "the backend",
				     .measure = measure,
				     .expect = expect,
				     .budget = budget,
				     .times = true};
}

static int threads_in_force(void)
{
	int told = sb_backend_threads_get(&sb_sides_backend()->threads);

	return told ? told : sb_threads_backend();
}

double sb_tune_cpu_expected(const struct sb_tune *tune, double budget)
{
	const struct sb_backend_threads *control = &sb_sides_backend()->threads;
	int list[SB_PROFILE_CPUS], count = list_threads(threads_in_force(), control->set, list);
	double sum = 0;

	for (int i = 0; i < count; i++) {
		const struct sb_tune_grid what = grid_for(budget / count);

		threads_now = list[i];
		sum += sb_tune_expected(tune, &what);
	}
	return sum;
}

bool sb_tune_cpu(struct sb_tune *tune, double budget)
{
	const struct sb_backend_threads *control = &sb_sides_backend()->threads;
	int most = threads_in_force(), list[SB_PROFILE_CPUS], count;
	struct sb_profile *p = tune->profile;
	bool told = sb_backend_threads_set(control, most), done = true;

	if (!sb_sides_backend()->function)
		return false;
	count = list_threads(most, told, list);
	p->cpus = count;
	for (int i = 0; i < count && done; i++) {
		const struct sb_tune_grid what = grid_for(budget / count);

		threads_now = list[i];
		if (told)
			(void)sb_backend_threads_set(control, threads_now);
		done = sb_tune_fill(tune, &what, &p->cpu[i].seconds) > 0;
		p->cpu[i].threads = threads_now;
	}
	if (told)
		(void)sb_backend_threads_set(control, most);
	return done;
}
