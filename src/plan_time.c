/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "clock.h"
#include "plan.h"

#define COPY   8e-6   /* seconds that a copy of any size takes */
#define LAUNCH 4e-6   /* and the launches of a pack */
#define MEMORY 2.5e12 /* bytes a second that are read and written on the device */

/* Where no profile says: pageable memory on such a device as the built-in figures are of. */
static const struct sb_plan_pace usual = {45e9, 45e9, 132};

struct clocks {
	double streams[SB_STREAMS];
	double busy; /* until when the multiprocessors have work */
};

/* Two products share the multiprocessors: what one leaves the other takes. */
static double multiply(struct clocks *clocks, double begin, const struct sb_step *step,
		       const struct sb_plan_wish *wish, int multiprocessors)
{
	double alone = sb_registry_tiers_seconds(wish->tiers, step->m, step->n, step->depth,
						 multiprocessors);
	double flops = 2.0 * (double)step->m * (double)step->n * (double)step->depth;

	clocks->busy =
		sb_longer(clocks->busy, begin) + flops / (wish->tiers->rate * multiprocessors);
	return sb_longer(begin + alone, clocks->busy);
}

static double end_of(struct clocks *clocks, double begin, const struct sb_step *step,
		     const struct sb_plan_wish *wish, const struct sb_plan_pace *pace)
{
	double bytes = (double)step->count * (double)step->depth * sizeof(float);

	switch (step->kind) {
	case SB_STEP_UP:
	case SB_STEP_PEER:
		return begin + COPY + bytes / pace->up;
	case SB_STEP_DOWN:
		return begin + COPY +
		       (double)step->m * (double)step->n * sizeof(float) / pace->down;
	case SB_STEP_PACK:
		return begin + LAUNCH + (wish->tiers->fp16x3 ? 3 : 2) * bytes / MEMORY;
	case SB_STEP_SPLIT:
		return begin + sb_registry_split_seconds(step->count, step->depth);
	case SB_STEP_GEMM:
		return multiply(clocks, begin, step, wish, pace->multiprocessors);
	case SB_STEP_CLEAR:
	case SB_STEP_FLAG:
		break;
	}
	return begin + LAUNCH;
}

double sb_plan_seconds(const struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	const struct sb_plan_pace *pace = wish->pace.up > 0 ? &wish->pace : &usual;
	double *ends = malloc((size_t)plan->count * sizeof *ends), last = 0;
	struct clocks clocks = {.busy = 0};

	for (int i = 0; ends && i < plan->count; i++) {
		const struct sb_step *step = &plan->steps[i];
		double begin = clocks.streams[step->stream];

		for (int n = 0; n < SB_STEP_NEEDS && step->needs[n] >= 0; n++)
			begin = sb_longer(begin, ends[step->needs[n]]);
		ends[i] = end_of(&clocks, begin, step, wish, pace);
		clocks.streams[step->stream] = ends[i];
		last = sb_longer(last, ends[i]);
	}
	free(ends);
	return last;
}
