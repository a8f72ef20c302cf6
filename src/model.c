/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <math.h>

#include "element.h"

#define PANEL_LEAST 512 /* rows, as plans have them */
#define PANELS_MOST 16

static double most_of(double a, double b)
{
	return a > b ? a : b;
}

/*
 * Between two numbers of threads times are linear in 1 / threads. Beyond the last they are taken to
 * fall in proportion: where nothing is known the backend is not to be thought slower than it is.
 */
static double cpu_seconds(const struct sb_profile *p, double threads, const struct sb_call *call)
{
	int i = 0;
	double before, at, share;

	while (i < p->cpus - 1 && p->cpu[i].threads < threads)
		i++;
	at = sb_grid_seconds(&p->cpu[i].seconds, call->m, call->n, call->k);
	if (p->cpu[i].threads < threads)
		return at * p->cpu[i].threads / threads;
	if (i == 0)
		return at;
	before = sb_grid_seconds(&p->cpu[i - 1].seconds, call->m, call->n, call->k);
	share = (1.0 / p->cpu[i - 1].threads - 1 / threads) /
		(1.0 / p->cpu[i - 1].threads - 1.0 / p->cpu[i].threads);
	return before + share * (at - before);
}

struct sb_cpu_parts sb_model_cpu(const struct sb_profile *profile,
				 const struct sb_situation *situation, const struct sb_call *call)
{
	struct sb_cpu_parts parts = {.threads = situation->threads > 1 ? situation->threads : 1,
				     .turns = 1};
	int processors = situation->processors > 0 ? situation->processors : (int)parts.threads;
	double share = (double)processors / (1 + situation->callers);

	if (situation->callers > 0 && share < parts.threads) {
		parts.threads = most_of(share, 1);
		parts.turns = parts.threads / share;
	}
	parts.seconds = parts.turns * cpu_seconds(profile, parts.threads, call);
	return parts;
}

/* Linear between sizes; below the least as long as that, beyond the last at the last rate. */
double sb_model_copy(const struct sb_profile *profile, enum sb_link link, double bytes)
{
	const double *seconds = profile->link[link];
	int i = 1;
	double low, high;

	if (bytes <= 0)
		return 0;
	if (bytes <= (double)sb_link_sizes[0])
		return seconds[0];
	while (i < SB_LINK_SIZES - 1 && bytes > (double)sb_link_sizes[i])
		i++;
	low = (double)sb_link_sizes[i - 1];
	high = (double)sb_link_sizes[i];
	return seconds[i - 1] + (bytes - low) / (high - low) * (seconds[i] - seconds[i - 1]);
}

double sb_model_rate(const struct sb_profile *profile, enum sb_link link)
{
	return (double)sb_link_sizes[SB_LINK_SIZES - 1] / profile->link[link][SB_LINK_SIZES - 1];
}

int sb_model_panels(const struct sb_call *call)
{
	int64_t longer = call->m > call->n ? call->m : call->n;
	int64_t panels = (longer + PANEL_LEAST - 1) / PANEL_LEAST;

	return panels < 1 ? 1 : panels < PANELS_MOST ? (int)panels : PANELS_MOST;
}

double sb_model_seen(int panels, double overlap)
{
	return 1.0 / panels + overlap * (1 - 1.0 / panels);
}

static double copies(const struct sb_profile *profile, const struct sb_situation *situation,
		     const double *bytes, int first, int last, enum sb_link staged,
		     enum sb_link pinned)
{
	double through_ring = 0, direct = 0;

	for (int i = first; i <= last; i++) {
		if (situation->places[i] == SB_PLACE_PAGEABLE)
			through_ring += bytes[i];
		else if (situation->places[i] == SB_PLACE_PINNED)
			direct += bytes[i];
	}
	return sb_model_copy(profile, staged, through_ring) +
	       sb_model_copy(profile, pinned, direct);
}

static bool all_pageable(const struct sb_situation *situation)
{
	for (int i = 0; i < 3; i++)
		if (situation->places[i] != SB_PLACE_PAGEABLE)
			return false;
	return true;
}

static double longest_of(const struct sb_gpu_parts *p)
{
	return most_of(most_of(p->up, p->down), p->computing);
}

/* Where no kernel runs computing never ends, and nothing is left to be seen beside it. */
static void put_together(struct sb_gpu_parts *p)
{
	double longest = longest_of(p);
	double others = isinf(longest) ? 0 : p->up + p->down + p->computing - longest;

	p->seconds = p->turns * p->measured * (p->launch + longest + p->seen * others);
}

/* All but the kernel. */
static struct sb_gpu_parts without_kernel(const struct sb_profile *profile,
					  const struct sb_situation *situation,
					  const struct sb_call *call)
{
	const double element = (double)sb_element(call->type)->bytes;
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	const double bytes[] = {m * k * element, k * n * element, m * n * element};
	struct sb_gpu_parts p = {.panels = sb_model_panels(call),
				 .launch = profile->launch,
				 .measured = 1,
				 .turns = 1 + situation->queue};

	p.up = copies(profile, situation, bytes, 0, 1, SB_STAGED_UP, SB_PINNED_UP);
	p.down = copies(profile, situation, bytes, 2, 2, SB_STAGED_DOWN, SB_PINNED_DOWN);
	p.seen = sb_model_seen(p.panels, profile->overlap);
	if (profile->has_whole && all_pageable(situation))
		p.measured = sb_grid_factor(&profile->whole, call->m, call->n, call->k);
	return p;
}

struct sb_gpu_parts sb_model_gpu(const struct sb_profile *profile,
				 const struct sb_situation *situation, const struct sb_call *call)
{
	struct sb_gpu_parts p = without_kernel(profile, situation, call);

	p.kernel = sb_registry_pick(call->m, call->n, call->k, &profile->target);
	p.computing = profile->kernel *
		      sb_registry_seconds(p.kernel, call->m, call->n, call->k, &profile->target);
	put_together(&p);
	return p;
}

double sb_model_gpu_copies(const struct sb_profile *profile, const struct sb_situation *situation,
			   const struct sb_call *call)
{
	struct sb_gpu_parts p = without_kernel(profile, situation, call);

	put_together(&p);
	return p.seconds;
}

double sb_model_gpu_least(const struct sb_profile *profile, const struct sb_call *call)
{
	const double element = (double)sb_element(call->type)->bytes;
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	double up = sb_model_copy(profile, SB_PINNED_UP, (m + n) * k * element);
	double down = sb_model_copy(profile, SB_PINNED_DOWN, m * n * element);

	/* Factors of whole calls may be below 1. */
	return 0.7 * (profile->launch + most_of(up, down));
}
