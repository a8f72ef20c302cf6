/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <math.h>

#include "clock.h"
#include "element.h"
#include "plan_split.h"
#include "whole.h"

#define PANEL_LEAST  512 /* rows, as plans have them */
#define PANELS_MOST  16
#define LEAST_FACTOR 0.7

/*
 * Between two numbers of threads times are linear in 1 / threads. Beyond the last they are taken to
 * fall in proportion: where nothing is known the backend is not to be thought slower than it is.
 */
static double cpu_seconds(const struct sb_profile *profile, double threads,
			  const struct sb_call *call)
{
	const struct sb_profile *p = sb_profile_grids(profile);
	int i = 0;
	const int way = sb_grid_way(call->trans_a, call->trans_b);
	double before, at, share;

	while (i < p->cpus - 1 && p->cpu[i].threads < threads)
		i++;
	at = sb_grid_seconds(&p->cpu[i].seconds.way[way], call->m, call->n, call->k);
	if (p->cpu[i].threads < threads)
		return at * p->cpu[i].threads / threads;
	if (i == 0)
		return at;
	before = sb_grid_seconds(&p->cpu[i - 1].seconds.way[way], call->m, call->n, call->k);
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
		parts.threads = share > 1 ? share : 1;
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
	int64_t panels = sb_ceil_div(longer, PANEL_LEAST);

	return panels < 1 ? 1 : panels < PANELS_MOST ? (int)panels : PANELS_MOST;
}

double sb_model_seen(int panels, double overlap)
{
	return 1.0 / panels + overlap * (1 - 1.0 / panels);
}

/* A call as a team shares it: what each device has to compute, and what goes where. */
struct sharing {
	int devices;
	struct sb_call part; /* the sizes of a share */
	double bytes[3];     /* of A, B and C, through the rings of all devices */
	double each[3];	     /* over the wire of each */
};

static struct sharing share_out(const struct sb_situation *situation, const struct sb_call *call,
				const struct sb_kernel *kernel)
{
	const double element = (double)sb_element(call->type)->bytes;
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	struct sharing s = {.devices = 1,
			    .part = *call,
			    .bytes = {m * k * element, k * n * element, m * n * element}};
	struct sb_split_wish wish = {
		.call = {.m = call->m,
			 .n = call->n,
			 .k = call->k,
			 .place_a = situation->places[0],
			 .place_b = situation->places[1],
			 .place_c = situation->places[2],
			 .kernel = kernel},
		.devices = situation->devices,
	};
	/* C is cut along the longer side, and the other side's operand is common to all. */
	const int common = call->n >= call->m ? 0 : 1;

	if (kernel && situation->devices > 1)
		s.devices = sb_split_devices(&wish);
	*(common ? &s.part.m : &s.part.n) += s.devices - 1;
	*(common ? &s.part.m : &s.part.n) /= s.devices;
	for (int i = 0; i < 3; i++)
		s.each[i] = s.bytes[i] / s.devices;
	if (!situation->linked) {
		s.each[common] = s.bytes[common];
		s.bytes[common] *= s.devices;
	}
	return s;
}

/* Of the operands [first, last], by where they lie. */
static double copies(const struct sb_profile *profile, const struct sb_situation *situation,
		     const struct sharing *s, int first, int last, enum sb_link staged,
		     enum sb_link pinned)
{
	double through_rings = 0, staged_each = 0, direct_each = 0, rings, wire;

	for (int i = first; i <= last; i++) {
		if (situation->places[i] == SB_PLACE_PAGEABLE) {
			through_rings += s->bytes[i];
			staged_each += s->each[i];
		} else if (situation->places[i] == SB_PLACE_PINNED) {
			direct_each += s->each[i];
		}
	}
	rings = sb_model_copy(profile, staged, through_rings);
	wire = sb_model_copy(profile, pinned, staged_each);
	return sb_longer(rings, wire) + sb_model_copy(profile, pinned, direct_each);
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
	return sb_longer(sb_longer(p->up, p->down), p->computing);
}

/* Where no kernel runs computing never ends, and nothing is left to be seen beside it. */
static void put_together(struct sb_gpu_parts *p)
{
	double longest = longest_of(p);
	double others = isinf(longest) ? 0 : p->up + p->down + p->computing - longest;

	p->seconds = p->turns * p->measured * (p->launch + longest + p->seen * others);
}

/* All but what the kernel takes. */
static struct sb_gpu_parts without_kernel(const struct sb_profile *profile,
					  const struct sb_situation *situation,
					  const struct sb_call *call, const struct sharing *s)
{
	const int way = sb_grid_way(call->trans_a, call->trans_b);
	struct sb_gpu_parts p = {.devices = s->devices,
				 .panels = sb_model_panels(&s->part),
				 .launch = profile->launch * s->devices,
				 .measured = 1,
				 .turns = 1 + situation->queue};

	p.up = copies(profile, situation, s, 0, 1, SB_STAGED_UP, SB_PINNED_UP);
	p.down = copies(profile, situation, s, 2, 2, SB_STAGED_DOWN, SB_PINNED_DOWN);
	p.seen = sb_model_seen(p.panels, profile->overlap);
	if (profile->has_whole && all_pageable(situation))
		p.measured = sb_grid_factor(&sb_profile_grids(profile)->whole.way[way], call->m,
					    call->n, call->k);
	return p;
}

/* Tiers instead of a kernel, where there are any that are worth it. */
static bool emulated(const struct sb_profile *profile, const struct sb_call *call,
		     struct sb_gpu_parts *p)
{
	const struct sb_target *target = &profile->target;
	int64_t m = call->m, n = call->n, k = call->k;
	struct sb_tiers tiers;

	if (!sb_registry_pick_tiers(m, n, k, target, &tiers, &p->fallback))
		return false;
	p->kernel = sb_registry_first(&tiers);
	p->computing = profile->emulated *
		       sb_registry_emulated_seconds(&tiers, m, n, k, target->multiprocessors);
	return true;
}

struct sb_gpu_parts sb_model_gpu(const struct sb_profile *profile,
				 const struct sb_situation *situation, const struct sb_call *call)
{
	const struct sb_kernel *kernel =
		sb_registry_pick(call->m, call->n, call->k, &profile->target);
	const struct sharing s = share_out(situation, call, kernel);
	struct sb_gpu_parts p = without_kernel(profile, situation, call, &s);

	p.fallback = SB_FALLBACK_NONE;
	if (!situation->emulate || !emulated(profile, &s.part, &p)) {
		p.kernel = kernel;
		p.computing = profile->kernel * sb_registry_seconds(kernel, s.part.m, s.part.n,
								    s.part.k, &profile->target);
	}
	put_together(&p);
	return p;
}

double sb_model_gpu_copies(const struct sb_profile *profile, const struct sb_situation *situation,
			   const struct sb_call *call)
{
	/* What a team shares depends on the kernel's tiles. */
	const struct sb_kernel *kernel =
		situation->devices > 1
			? sb_registry_pick(call->m, call->n, call->k, &profile->target)
			: NULL;
	const struct sharing s = share_out(situation, call, kernel);
	struct sb_gpu_parts p = without_kernel(profile, situation, call, &s);

	put_together(&p);
	return p.seconds;
}

double sb_model_gpu_least(const struct sb_profile *profile, const struct sb_situation *situation,
			  const struct sb_call *call)
{
	const double element = (double)sb_element(call->type)->bytes;
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	const int devices = situation->devices > 1 ? situation->devices : 1;
	double up = sb_model_copy(profile, SB_PINNED_UP, (m + n) * k * element / devices);
	double down = sb_model_copy(profile, SB_PINNED_DOWN, m * n * element / devices);

	/* Factors of whole calls may be below 1. */
	return LEAST_FACTOR * (profile->launch + sb_longer(up, down));
}

double sb_model_gpu_unseen(const struct sb_profile *profile, const struct sb_situation *situation,
			   const struct sb_call *call)
{
	struct sb_situation pageable = *situation, pinned = *situation;
	double one, other;

	for (int i = 0; i < 3; i++) {
		pageable.places[i] = SB_PLACE_PAGEABLE;
		pinned.places[i] = SB_PLACE_PINNED;
	}
	/* What is pinned of a mixture makes it no slower; as whole calls only all of it pageable
	 * was measured. */
	one = sb_model_gpu_copies(profile, &pageable, call);
	other = sb_model_gpu_copies(profile, &pinned, call);
	return one < other ? one : other;
}
