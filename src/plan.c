/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "plan_lay.h"
#include "plan_shape.h"

static void land_raw(struct sb_layer *l, int operand, int slot, int64_t start, int64_t count)
{
	int64_t lines = l->plan->raw_lines[operand];

	for (int64_t into = 0; into < count; into += lines) {
		int64_t piece = count - into < lines ? count - into : lines;
		int raw = l->raw_next++ % 2;
		struct sb_step *step =
			sb_plan_bring(l, SB_STEP_UP, SB_STREAM_UP, SB_EVENT_RAW_UP + raw, operand,
				      start + into, piece, l->plan->raw_base[raw]);

		sb_plan_need(step, l->raw_packed[raw]);
		step = sb_plan_pack(l, operand, slot, start + into, piece, into,
				    into + piece == count, SB_EVENT_RAW_PACKED + raw);
		sb_plan_need(step, sb_plan_last(l) - 1);
		step->from = l->plan->raw_base[raw];
		l->raw_packed[raw] = sb_plan_last(l);
	}
}

/* Sees to it that a panel, or the run of it, is on its way to a slot. */
static void fill(struct sb_layer *l, int operand, int panel, int slot)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	int64_t start = panel * o->panel;
	int64_t count = o->extent - start < o->panel ? o->extent - start : o->panel;

	if (o->way == SB_WAY_LANDED)
		sb_plan_land(l, operand, slot, start, count,
			     o->base + (size_t)slot * o->slot_bytes);
	else if (o->way == SB_WAY_RAW)
		land_raw(l, operand, slot, start, count);
	else
		sb_plan_pack(l, operand, slot, start, count, 0, true,
			     sb_plan_filled_event(operand, slot));
	if (l->plan->emulated)
		sb_plan_split_panel(l, operand, slot, start, count, sb_plan_last(l));
	l->filled[operand][slot] = sb_plan_last(l);
}

/* Sees to it that a panel is, or is on its way to, its slot. */
static int acquire(struct sb_layer *l, int operand, int panel)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	int slot;

	if (o->way == SB_WAY_IN_PLACE)
		return 0;
	slot = panel % o->slots;
	if (l->holder[operand][slot] != panel)
		fill(l, operand, panel, slot);
	l->holder[operand][slot] = panel;
	return slot;
}

static void multiply_panels(struct sb_layer *l, const int panels[SB_OPERANDS],
			    const int slots[SB_OPERANDS])
{
	struct sb_span spans[SB_OPERANDS];
	size_t at[SB_OPERANDS];
	int gemm = l->plan->count;

	for (int i = 0; i < SB_OPERANDS; i++) {
		const struct sb_plan_operand *o = &l->plan->operands[i];

		at[i] = o->base + (size_t)slots[i] * o->slot_bytes;
		spans[i].start = panels[i] * o->panel;
		spans[i].count = o->extent - spans[i].start < o->panel ? o->extent - spans[i].start
								       : o->panel;
		spans[i].newest_peer = SB_NO_STEP;
		spans[i].newest = o->slots ? l->filled[i][slots[i]] : SB_NO_STEP;
	}
	sb_plan_multiply(l, &spans[SB_OPERAND_A], &spans[SB_OPERAND_B], at[SB_OPERAND_A],
			 at[SB_OPERAND_B]);
	for (int i = 0; i < SB_OPERANDS && !l->failed; i++)
		l->plan->steps[gemm].slots[i] = slots[i];
	for (int i = 0; i < SB_OPERANDS && !l->failed; i++)
		l->used[i][slots[i]][l->plan->steps[gemm].stream == SB_STREAM_COMPUTE_TOO] = gemm;
}

/* One operand stays group by group, the other passes by each group. */
static void lay_passing(struct sb_layer *l, int stays)
{
	const struct sb_plan_operand *stay = &l->plan->operands[stays];
	const struct sb_plan_operand *pass = &l->plan->operands[!stays];
	int group = stay->slots ? stay->slots : stay->panels;

	for (int first = 0; first < stay->panels; first += group)
		for (int q = 0; q < pass->panels && !l->failed; q++)
			for (int p = first; p - first < group && p < stay->panels; p++) {
				const int panels[] = {stays == SB_OPERAND_A ? p : q,
						      stays == SB_OPERAND_A ? q : p};
				int a = acquire(l, SB_OPERAND_A, panels[SB_OPERAND_A]);
				const int slots[] = {
					a, acquire(l, SB_OPERAND_B, panels[SB_OPERAND_B])};

				multiply_panels(l, panels, slots);
			}
}

/* The run of a panel in the next slot in turn. */
static int bring_run(struct sb_layer *l, int operand, int panel, int *turn)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	int slot;

	if (o->way == SB_WAY_IN_PLACE)
		return 0;
	slot = (*turn)++ % o->slots;
	fill(l, operand, panel, slot);
	return slot;
}

/* The blocks of one panel of A and as many of B, from `first` on, as there are buffers. */
static void lay_super_block(struct sb_layer *l, int panel_a, int first, int turns[SB_OPERANDS])
{
	const struct sb_plan *plan = l->plan;
	int64_t k = l->wish->k;
	int end = first + plan->buffers, last = plan->operands[SB_OPERAND_B].panels;

	for (l->k0 = 0; l->k0 < k && !l->failed; l->k0 += plan->run) {
		int slots[SB_OPERANDS];

		l->depth = k - l->k0 < plan->run ? k - l->k0 : plan->run;
		slots[SB_OPERAND_A] = bring_run(l, SB_OPERAND_A, panel_a, &turns[SB_OPERAND_A]);
		for (int q = first; q < end && q < last && !l->failed; q++) {
			const int panels[] = {panel_a, q};

			slots[SB_OPERAND_B] = bring_run(l, SB_OPERAND_B, q, &turns[SB_OPERAND_B]);
			l->launched = q - first; /* each block has its buffer */
			multiply_panels(l, panels, slots);
		}
	}
}

/* All of both operands, run by run, for the flags that all of k decides. */
static void lay_guard(struct sb_layer *l, int turns[SB_OPERANDS])
{
	const struct sb_plan *plan = l->plan;

	l->guards = true;
	for (int i = 0; i < SB_OPERANDS; i++)
		for (int p = 0; p < plan->operands[i].panels; p++)
			for (l->k0 = 0; l->k0 < l->wish->k && !l->failed; l->k0 += plan->run) {
				int64_t left = l->wish->k - l->k0;
				int slot;

				l->depth = left < plan->run ? left : plan->run;
				slot = bring_run(l, i, p, &turns[i]);
				/* Nobody else reads it. */
				l->used[i][slot][0] = l->filled[i][slot];
			}
	l->guards = false;
	l->guarded = sb_plan_last(l);
}

static void lay_runs(struct sb_layer *l)
{
	int turns[SB_OPERANDS] = {0, 0};

	if (l->plan->emulated)
		lay_guard(l, turns);

	for (int first = 0; first < l->plan->operands[SB_OPERAND_B].panels;
	     first += l->plan->buffers)
		for (int p = 0; p < l->plan->operands[SB_OPERAND_A].panels && !l->failed; p++)
			lay_super_block(l, p, first, turns);
}

static enum sb_status make(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	enum sb_status status = sb_plan_shape(plan, wish);
	struct sb_layer l = {.plan = plan, .wish = wish, .depth = wish->k};

	if (status != SB_OK)
		return status;
	/* SB_NO_STEP everywhere. */
	memset(l.holder, 0xff, sizeof l.holder);
	memset(l.filled, 0xff, sizeof l.filled);
	memset(l.used, 0xff, sizeof l.used);
	memset(l.raw_packed, 0xff, sizeof l.raw_packed);
	memset(l.downed, 0xff, sizeof l.downed);
	l.guarded = SB_NO_STEP;
	if (plan->whole && wish->among.devices > 1)
		sb_plan_lay_among(&l);
	else if (plan->whole)
		sb_plan_lay_whole(&l);
	else if (plan->run < wish->k)
		lay_runs(&l);
	else
		lay_passing(&l, plan->stays);
	if (!l.failed)
		return SB_OK;
	sb_plan_free(plan);
	return SB_NO_MEMORY;
}

/* Fewer panels keep the device busier, more keep what begins and ends the call short. */
int sb_plan_panels(const struct sb_plan_wish *wish)
{
	static const int counts[] = {16, 12, 8, 6, 4, 3, 2, 1};
	struct sb_plan_wish alone = *wish;
	double least = 0;
	int best = 0;

	alone.among.devices = 0;
	for (size_t i = 0; wish->tiers && i < sizeof counts / sizeof *counts; i++) {
		struct sb_plan plan;
		double seconds;

		alone.panels = counts[i];
		if (make(&plan, &alone) != SB_OK)
			break;
		seconds = plan.whole ? sb_plan_seconds(&plan, &alone) : 0;
		sb_plan_free(&plan);
		/* From where it gets worse on, it stays so. */
		if (seconds <= 0 || (best && seconds > 1.02 * least))
			break;
		if (!best || seconds < least) {
			least = seconds;
			best = counts[i];
		}
	}
	return best;
}

enum sb_status sb_plan_make(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	struct sb_plan_wish best = *wish;

	if (wish->tiers && !wish->panels)
		best.panels = sb_plan_panels(wish);
	return make(plan, &best);
}

void sb_plan_free(struct sb_plan *plan)
{
	free(plan->steps);
	plan->steps = NULL;
	plan->count = plan->room = 0;
}
