/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include "element.h"

double sb_model_cpu(const struct sb_profile *profile, const struct sb_situation *situation,
		    const struct sb_call *call)
{
	double threads = situation->threads > 1 ? situation->threads : 1;

	return profile->cpu_thread_latency * threads +
	       sb_call_flops(call) / (profile->cpu_thread_rate * threads);
}

static double copy_seconds(enum sb_place place, double bytes, double staged, double pinned)
{
	switch (place) {
	case SB_PLACE_DEVICE:
		return 0;
	case SB_PLACE_PINNED:
		return bytes / pinned;
	default:
		return bytes / staged;
	}
}

/* The ring is filled once for the way up and once for the way down, where it is needed at all. */
static double ring_seconds(const struct sb_profile *profile, const struct sb_situation *situation)
{
	const enum sb_place *places = situation->places;
	bool up = places[0] == SB_PLACE_PAGEABLE || places[1] == SB_PLACE_PAGEABLE;
	bool down = places[2] == SB_PLACE_PAGEABLE;

	return profile->staged_latency * (double)(up + down);
}

static double whole_tiles(double size, double tile)
{
	double tiles = (double)(int64_t)(size / tile);

	return (tiles * tile < size ? tiles + 1 : tiles) * tile;
}

double sb_model_gpu(const struct sb_profile *profile, const struct sb_situation *situation,
		    const struct sb_call *call)
{
	const double element = (double)sb_element(call->type)->bytes;
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	const double peak = situation->gpu_peak > 0 ? situation->gpu_peak : profile->gpu_peak;
	double copying = copy_seconds(situation->places[0], m * k * element, profile->staged_up,
				      profile->pinned_up) +
			 copy_seconds(situation->places[1], k * n * element, profile->staged_up,
				      profile->pinned_up) +
			 copy_seconds(situation->places[2], m * n * element, profile->staged_down,
				      profile->pinned_down);
	double computing = 2 * whole_tiles(m, profile->gpu_tile) *
			   whole_tiles(n, profile->gpu_tile) * k / (peak * profile->gpu_share);
	double longer = copying > computing ? copying : computing;
	double shorter = copying > computing ? computing : copying;

	return (1 + situation->queue) * (profile->call_latency + ring_seconds(profile, situation) +
					 longer + profile->overlap * shorter);
}
