/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_lay.h"

#define WAVE (96 * 64 * 128) /* elements of C that keep a large device busy, in its small tiles */

bool sb_plan_clear_whole(struct sb_layer *l, int operand, int event)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];

	if (!sb_plan_has_padding(l, o, o->extent))
		return false;
	sb_plan_bring(l, SB_STEP_CLEAR, SB_STREAM_UP, event, operand, 0, o->extent, o->base);
	return true;
}

void sb_plan_acquire_whole(struct sb_layer *l, int operand, int panel)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	int64_t start = panel * o->panel;
	int64_t count = o->extent - start < o->panel ? o->extent - start : o->panel;
	bool end = panel == o->panels - 1;
	int up = SB_NO_STEP, event = SB_EVENT_RAW_UP + operand * SB_PLAN_SLOTS + panel;
	size_t raw;

	if (o->way == SB_WAY_IN_PLACE)
		return;
	if (o->way == SB_WAY_LANDED) {
		sb_plan_land(l, operand, panel, start, count,
			     o->base + (size_t)(start * o->stride_mn) * sizeof(float));
	} else {
		raw = o->raw_base + (size_t)(start * l->plan->raw_pitch[operand]) * sizeof(float);
		if (o->way == SB_WAY_RAW) {
			sb_plan_bring(l, SB_STEP_UP, SB_STREAM_UP, event, operand, start, count,
				      raw);
			up = sb_plan_last(l);
		}
		struct sb_step *step = sb_plan_pack(l, operand, panel, start, count, start, end,
						    sb_plan_filled_event(operand, panel));

		sb_plan_need(step, up);
		step->from = raw;
	}
	if (l->plan->emulated)
		sb_plan_split_panel(l, operand, panel, start, count, sb_plan_last(l));
	l->filled[operand][panel] = sb_plan_last(l);
}

/* The product of panels [0 or one, ...]: rows [i, i + m) of op(A), columns [j, j + n) of op(B). */
static void multiply_whole(struct sb_layer *l, const struct sb_span *a, const struct sb_span *b)
{
	const struct sb_plan_operand *oa = &l->plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *ob = &l->plan->operands[SB_OPERAND_B];

	sb_plan_multiply(l, a, b, oa->base + (size_t)(a->start * oa->stride_mn) * sizeof(float),
			 ob->base + (size_t)(b->start * ob->stride_mn) * sizeof(float));
}

/* Panels [first, last] of an operand. */
static struct sb_span span_of(const struct sb_layer *l, int operand, int first, int final)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	int64_t end = (final + 1) * o->panel;
	struct sb_span span = {
		.start = first * o->panel, .newest = SB_NO_STEP, .newest_peer = SB_NO_STEP};

	span.count = (end < o->extent ? end : o->extent) - span.start;
	/* Panels arrive in order, on one stream. */
	if (o->slots)
		span.newest = l->filled[operand][final];
	return span;
}

/* An emulated product has one size of tiles, and a multiprocessor one of them at a time. */
static int64_t wave_of(const struct sb_layer *l)
{
	const struct sb_tiers *tiers = l->wish->tiers;
	int64_t tile;

	if (!tiers)
		return WAVE;
	tile = (int64_t)sb_registry_first(tiers)->bm * sb_registry_first(tiers)->bn;
	return tile * (l->wish->pace.multiprocessors ? l->wish->pace.multiprocessors : 132);
}

/* The last product in pieces, so that the last block to come home is small. */
static void multiply_in_pieces(struct sb_layer *l, struct sb_span a, const struct sb_span *b)
{
	const int64_t tile = l->plan->tile_m, wave = wave_of(l);
	struct sb_span piece = a;

	for (int i = 0; i < 4 && l->plan->buffers; i++) {
		int64_t half = a.count / tile / 2;

		if (half * tile * b->count < wave)
			break;
		piece.start = a.start;
		piece.count = half * tile;
		multiply_whole(l, &piece, b);
		a.start += piece.count;
		a.count -= piece.count;
	}
	multiply_whole(l, &a, b);
}

void sb_plan_multiply_whole(struct sb_layer *l, const struct sb_span *a, const struct sb_span *b,
			    bool last)
{
	if (last)
		multiply_in_pieces(l, *a, b);
	else
		multiply_whole(l, a, b);
}

/* Everything stays: panels of A and B in turn, and with each the block that it completes. */
void sb_plan_lay_whole(struct sb_layer *l)
{
	int panels_a = l->plan->operands[SB_OPERAND_A].panels;
	int panels_b = l->plan->operands[SB_OPERAND_B].panels;
	int rounds = panels_a > panels_b ? panels_a : panels_b;

	for (int r = 0; r < rounds && !l->failed; r++) {
		bool new_b = r < panels_b;

		if (r < panels_a) {
			if (r == 0)
				sb_plan_clear_whole(l, SB_OPERAND_A, SB_NO_STEP);
			sb_plan_acquire_whole(l, SB_OPERAND_A, r);
			if (r > 0) {
				struct sb_span a = span_of(l, SB_OPERAND_A, r, r);
				struct sb_span b =
					span_of(l, SB_OPERAND_B, 0, (new_b ? r : panels_b) - 1);

				sb_plan_multiply_whole(l, &a, &b, r == rounds - 1 && !new_b);
			}
		}
		if (new_b) {
			struct sb_span a, b;

			if (r == 0)
				sb_plan_clear_whole(l, SB_OPERAND_B, SB_NO_STEP);
			sb_plan_acquire_whole(l, SB_OPERAND_B, r);
			a = span_of(l, SB_OPERAND_A, 0, r < panels_a ? r : panels_a - 1);
			b = span_of(l, SB_OPERAND_B, r, r);
			sb_plan_multiply_whole(l, &a, &b, r == rounds - 1);
		}
	}
}
