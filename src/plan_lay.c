/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_lay.h"

#include <stdlib.h>

#define STEPS_MOST (1 << 22)

struct sb_step *sb_plan_lay(struct sb_layer *l, enum sb_step_kind kind, enum sb_stream stream,
			    int event)
{
	static struct sb_step spare; /* written to, never read, after a failure */
	struct sb_plan *plan = l->plan;
	struct sb_step *step;

	if (plan->count == plan->room) {
		int room = plan->room ? 2 * plan->room : 64;
		struct sb_step *steps =
			room > STEPS_MOST
				? NULL
				: realloc(plan->steps, (size_t)room * sizeof *plan->steps);

		if (!steps) {
			l->failed = true;
			return &spare;
		}
		plan->steps = steps;
		plan->room = room;
	}
	step = &plan->steps[plan->count++];
	*step = (struct sb_step){.kind = kind,
				 .stream = stream,
				 .event = event,
				 .k0 = l->k0,
				 .depth = l->depth,
				 .run = l->depth < l->wish->k};
	for (int i = 0; i < SB_STEP_NEEDS; i++)
		step->needs[i] = SB_NO_STEP;
	return step;
}

void sb_plan_need(struct sb_step *step, int earlier)
{
	for (int i = 0; earlier != SB_NO_STEP && i < SB_STEP_NEEDS; i++)
		if (step->needs[i] == SB_NO_STEP) {
			step->needs[i] = earlier;
			return;
		}
}

int sb_plan_last(const struct sb_layer *l)
{
	return l->plan->count - 1;
}

static void need_readers(const struct sb_layer *l, struct sb_step *step, int operand, int slot)
{
	for (int i = 0; i < 2 && !l->plan->whole; i++)
		sb_plan_need(step, l->used[operand][slot][i]);
}

int sb_plan_filled_event(int operand, int slot)
{
	return SB_EVENT_FILLED + operand * SB_PLAN_SLOTS + slot;
}

/* Lays a step that brings rows [start, start + count) of an operand to `to` in the region. */
struct sb_step *sb_plan_bring(struct sb_layer *l, enum sb_step_kind kind, enum sb_stream stream,
			      int event, int operand, int64_t start, int64_t count, size_t to)
{
	struct sb_step *step = sb_plan_lay(l, kind, stream, event);

	step->operand = operand;
	step->start = start;
	step->count = count;
	step->to = to;
	return step;
}

/* The kernel reads zeros beyond the operand: what the copies will not write is cleared first. */
bool sb_plan_has_padding(const struct sb_layer *l, const struct sb_plan_operand *o, int64_t count)
{
	return o->way == SB_WAY_LANDED && l->plan->panels_form &&
	       (count != o->padded || l->depth % l->plan->tile_k != 0);
}

void sb_plan_land(struct sb_layer *l, int operand, int slot, int64_t start, int64_t count,
		  size_t to)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];

	if (!l->plan->whole && sb_plan_has_padding(l, o, count))
		need_readers(l,
			     sb_plan_bring(l, SB_STEP_CLEAR, SB_STREAM_UP, SB_NO_STEP, operand,
					   start, count, to),
			     operand, slot);
	need_readers(l,
		     sb_plan_bring(l, SB_STEP_UP, SB_STREAM_UP, sb_plan_filled_event(operand, slot),
				   operand, start, count, to),
		     operand, slot);
}

/*
 * Of which rows the flags begin with a step that splits rows of a panel: of all of it, with the
 * first. Where they have been raised before, of none.
 */
static int64_t flags_begin(const struct sb_layer *l, const struct sb_plan_operand *o, int64_t start,
			   bool first)
{
	bool again = l->plan->run < l->wish->k && !(l->guards && l->k0 == 0);

	return first && !again ? (o->extent - start < o->panel ? o->extent - start : o->panel) : 0;
}

static size_t parts_of(const struct sb_plan *plan, int operand, int slot)
{
	const struct sb_plan_operand *o = &plan->operands[operand];

	return o->split_base + (plan->whole ? 0 : (size_t)slot * o->split_bytes);
}

/* Lays the packing of `count` rows that begin `into` the slot; the last piece writes the padding.
 */
struct sb_step *sb_plan_pack(struct sb_layer *l, int operand, int slot, int64_t start,
			     int64_t count, int64_t into, bool end, int event)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	struct sb_step *step =
		sb_plan_bring(l, SB_STEP_PACK, SB_STREAM_PACK, event, operand, start, count,
			      o->base + (l->plan->whole ? 0 : (size_t)slot * o->slot_bytes));

	need_readers(l, step, operand, slot);
	step->into = into;
	step->padded = end ? o->padded - into : count;
	if (l->plan->split) {
		step->parts = parts_of(l->plan, operand, slot);
		step->flagged = flags_begin(l, o, start, l->plan->whole || into == 0);
	}
	return step;
}

/* What a panel in its slot becomes before an emulated product reads it. */
void sb_plan_split_panel(struct sb_layer *l, int operand, int slot, int64_t start, int64_t count,
			 int arrived)
{
	const struct sb_plan *plan = l->plan;
	const struct sb_plan_operand *o = &plan->operands[operand];
	int64_t into = plan->whole ? start : 0;
	bool runs = plan->run < l->wish->k;
	struct sb_step *step;

	if (l->failed)
		return;
	if (plan->split ? plan->steps[arrived].kind == SB_STEP_PACK : runs && !l->guards)
		return;
	step = sb_plan_bring(l, plan->split ? SB_STEP_SPLIT : SB_STEP_FLAG, SB_STREAM_PACK,
			     SB_EVENT_SPLIT + operand * SB_PLAN_SLOTS + slot, operand, start, count,
			     parts_of(plan, operand, slot));
	/* What has arrived has waited for whoever read the slot before. */
	sb_plan_need(step, arrived);
	step->from = o->base + (plan->whole ? (size_t)(start * o->stride_mn) * sizeof(float)
					    : (size_t)slot * o->slot_bytes);
	step->into = into;
	step->padded = start + count == o->extent ? o->padded - into : count;
	step->flagged = flags_begin(l, o, start, true);
}

/* Lays a block of C: its product, or a run of its slabs, and, unless C is on the device, its way
 * home. */
void sb_plan_multiply(struct sb_layer *l, const struct sb_span *a, const struct sb_span *b,
		      size_t at_a, size_t at_b)
{
	const struct sb_plan *plan = l->plan;
	int buffer = plan->buffers ? (int)(l->launched % plan->buffers) : 0;
	int too = plan->buffers ? (int)(l->launched % 2) : 0;
	int event = SB_EVENT_GEMM + (plan->whole ? (int)(l->launched % SB_PLAN_PRODUCTS) : buffer);
	struct sb_step *step, *gemm;

	/* An event belongs to one stream: an odd number of buffers would mix them. */
	if (!plan->whole && plan->buffers)
		too = buffer % 2;
	step = sb_plan_lay(l, SB_STEP_GEMM, too ? SB_STREAM_COMPUTE_TOO : SB_STREAM_COMPUTE, event);
	sb_plan_need(step, a->newest);
	sb_plan_need(step, b->newest);
	sb_plan_need(step, a->newest_peer);
	sb_plan_need(step, b->newest_peer);
	sb_plan_need(step, l->guarded);
	/* Later runs come on the first one's stream. */
	if (plan->buffers && !plan->whole && l->k0 == 0) {
		sb_plan_need(step, l->downed[buffer]);
	}
	step->i0 = a->start;
	step->m = a->count;
	step->j0 = b->start;
	step->n = b->count;
	step->a = at_a;
	step->b = at_b;
	step->to = plan->buffer_base + (size_t)buffer * plan->buffer_bytes;
	if (plan->whole)
		step->to += (size_t)(a->start + b->start * plan->buffer_ld) * sizeof(float);
	l->launched++;
	if (!plan->buffers || l->k0 + l->depth < l->wish->k)
		return;
	step = sb_plan_lay(l, SB_STEP_DOWN, SB_STREAM_DOWN,
			   plan->whole ? SB_NO_STEP : SB_EVENT_DOWN + buffer);
	if (l->failed)
		return;
	gemm = &plan->steps[sb_plan_last(l) - 1];
	sb_plan_need(step, sb_plan_last(l) - 1);
	step->i0 = gemm->i0;
	step->m = gemm->m;
	step->j0 = gemm->j0;
	step->n = gemm->n;
	step->from = gemm->to;
	l->downed[buffer] = sb_plan_last(l);
}
