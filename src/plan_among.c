/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the steps of a plan that is one of several (plan.h). Panel p of the common operand comes
 * to device p mod `devices` from the host and from there to the others. In each round of `devices`
 * panels a device brings its own panel first, for the others to fetch while it brings its share of
 * the other operand; and it fetches theirs beginning with the next device's, so that no device is
 * asked by all at once.
 */
#include "plan_lay.h"

/* What a plan among several is laid with. */
struct among {
	struct sb_layer *l;
	int common, own; /* operands */
	int panels_common, panels_own;
	int devices, device;
	int cleared; /* the step that the first of the copies from other devices must wait for */
	int brought; /* panels of the own operand laid so far */
};

/* Panels [first, end) of an operand that lies whole. */
static struct sb_span span_of(const struct among *s, int operand, int first, int end)
{
	const struct sb_plan *plan = s->l->plan;
	const struct sb_plan_operand *o = &plan->operands[operand];
	int64_t beyond = end * o->panel;
	struct sb_span span = {
		.start = first * o->panel, .newest = SB_NO_STEP, .newest_peer = SB_NO_STEP};

	span.count = (beyond < o->extent ? beyond : o->extent) - span.start;
	for (int p = first; p < end && !s->l->failed; p++) {
		int step = s->l->filled[operand][p];
		bool peer = plan->steps[step].stream == SB_STREAM_PEER;
		int *newest = peer ? &span.newest_peer : &span.newest;

		if (step > *newest)
			*newest = step;
	}
	return span;
}

/* Lays the product of panels of the common and of the own operand, if there are any. */
static void multiply(const struct among *s, int first, int end, int first_own, int end_own,
		     bool last)
{
	struct sb_span common, own;

	if (first >= end || first_own >= end_own || s->l->failed)
		return;
	common = span_of(s, s->common, first, end);
	own = span_of(s, s->own, first_own, end_own);
	if (s->common == SB_OPERAND_A)
		sb_plan_multiply_whole(s->l, &common, &own, last);
	else
		sb_plan_multiply_whole(s->l, &own, &common, last);
}

/* What the copy must wait for on the other device is found when all plans are there. */
static void fetch(struct among *s, int panel)
{
	const struct sb_plan_operand *o = &s->l->plan->operands[s->common];
	int64_t start = panel * o->panel;
	int64_t count = o->extent - start < o->panel ? o->extent - start : o->panel;
	struct sb_step *step = sb_plan_bring(
		s->l, SB_STEP_PEER, SB_STREAM_PEER, sb_plan_filled_event(s->common, panel),
		s->common, start, count, o->base + (size_t)(start * o->stride_mn) * sizeof(float));

	/* What was packed has its padding with it, what has landed was cleared before. */
	step->padded = o->way != SB_WAY_LANDED && panel == s->panels_common - 1 ? o->padded - start
										: count;
	step->peer = panel % s->devices;
	sb_plan_need(step, s->cleared);
	s->cleared = SB_NO_STEP;
	/* Each device splits what it has: planes are as many bytes as what they are made of. */
	if (s->l->plan->emulated)
		sb_plan_split_panel(s->l, s->common, panel, start, count, sb_plan_last(s->l));
	s->l->filled[s->common][panel] = sb_plan_last(s->l);
}

static void bring_own(struct among *s)
{
	sb_plan_acquire_whole(s->l, s->own, s->brought++);
}

/*
 * Common panels [first, end), among them this device's, and own ones up to `until`. The first own
 * panel meets all that was there before; then what has come meets all own panels; and the other own
 * panels, one by one, all that has come.
 */
static void lay_round(struct among *s, int first, int end, int until, bool final)
{
	int mine = first + s->device < end ? first + s->device : end;
	int after = mine < end ? mine + 1 : end, old = s->brought;

	if (mine < end)
		sb_plan_acquire_whole(s->l, s->common, mine);
	if (s->brought < until) {
		bring_own(s);
		multiply(s, 0, first, old, s->brought, false);
	}
	for (int p = after; p < end; p++)
		fetch(s, p);
	for (int p = first; p < mine; p++)
		fetch(s, p);
	final = final && s->brought == until;
	multiply(s, mine, after, 0, s->brought, final && mine == first && after == end);
	multiply(s, after, end, 0, s->brought, final && mine == first);
	multiply(s, first, mine, 0, s->brought, final);
	while (s->brought < until && !s->l->failed) {
		old = s->brought;
		bring_own(s);
		multiply(s, 0, end, old, s->brought, s->brought == s->panels_own);
	}
}

void sb_plan_lay_among(struct sb_layer *l)
{
	const struct sb_plan_among *among = &l->wish->among;
	struct among s = {
		.l = l,
		.common = among->operand,
		.own = !among->operand,
		.panels_common = l->plan->operands[among->operand].panels,
		.panels_own = l->plan->operands[!among->operand].panels,
		.devices = among->devices,
		.device = among->device,
		.cleared = SB_NO_STEP,
	};
	int rounds = (s.panels_common + s.devices - 1) / s.devices;

	if (sb_plan_clear_whole(l, s.common, SB_EVENT_CLEARED))
		s.cleared = sb_plan_last(l);
	sb_plan_clear_whole(l, s.own, SB_NO_STEP);
	for (int r = 0; r < rounds && !l->failed; r++) {
		int first = r * s.devices, end = first + s.devices;

		/* Own panels keep pace with the common ones; one is there from the start. */
		lay_round(&s, first, end < s.panels_common ? end : s.panels_common,
			  (s.panels_own * (r + 1) + rounds - 1) / rounds, r == rounds - 1);
	}
}
