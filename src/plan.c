/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan_shape.h"

#define STEPS_MOST (1 << 22)
#define NONE	   (-1)

/* Event numbers: one for each thing that is waited for, so that each belongs to one stream. */
enum {
	EVENT_FILLED, /* by operand and slot */
	EVENT_RAW_UP = EVENT_FILLED + SB_OPERANDS * SB_PLAN_SLOTS,
	EVENT_RAW_PACKED = EVENT_RAW_UP + 2,
	EVENT_GEMM = EVENT_RAW_PACKED + 2, /* by buffer of C */
	EVENT_DOWN = EVENT_GEMM + SB_PLAN_BUFFERS,
	EVENTS = EVENT_DOWN + SB_PLAN_BUFFERS
};
/* The last few events of a device are for the executor itself. */
_Static_assert(EVENTS + SB_STREAMS <= SB_DEVICE_EVENTS, "a plan may not name so many events");

/* What is where while the steps are laid. Members are step indices, or NONE. */
struct layer {
	struct sb_plan *plan;
	const struct sb_plan_wish *wish;
	int holder[SB_OPERANDS][SB_PLAN_SLOTS]; /* the panel in a slot */
	int filled[SB_OPERANDS][SB_PLAN_SLOTS]; /* the step that completed it */
	int used[SB_OPERANDS][SB_PLAN_SLOTS];	/* the last GEMM that reads it */
	int raw_packed[2], raw_next;
	int downed[SB_PLAN_BUFFERS];
	int gemms[SB_PLAN_BUFFERS]; /* the GEMM whose block waits in a buffer to be taken down */
	int64_t launched, taken;    /* blocks launched, and of those taken down; in buffer order */
	bool failed;
};

static struct sb_step *lay(struct layer *l, enum sb_step_kind kind, enum sb_stream stream,
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
	*step = (struct sb_step){.kind = kind, .stream = stream, .event = event};
	for (int i = 0; i < SB_STEP_NEEDS; i++)
		step->needs[i] = NONE;
	return step;
}

static void need(struct sb_step *step, int earlier)
{
	for (int i = 0; earlier != NONE && i < SB_STEP_NEEDS; i++)
		if (step->needs[i] == NONE) {
			step->needs[i] = earlier;
			return;
		}
}

static int last(const struct layer *l)
{
	return l->plan->count - 1;
}

static void land(struct layer *l, int operand, int slot, int64_t start, int64_t count)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	size_t to = o->base + (size_t)slot * o->slot_bytes;
	struct sb_step *step;

	/* The kernel reads zeros beyond the panel: what the copy will not write is cleared first.
	 */
	if (l->wish->kernel->form == SB_FORM_PANELS &&
	    (count != o->padded || l->wish->k != o->padded_k)) {
		step = lay(l, SB_STEP_CLEAR, SB_STREAM_UP, NONE);
		need(step, l->used[operand][slot]);
		step->operand = operand;
		step->start = start;
		step->count = count;
		step->to = to;
	}
	step = lay(l, SB_STEP_UP, SB_STREAM_UP, EVENT_FILLED + operand * SB_PLAN_SLOTS + slot);
	need(step, l->used[operand][slot]);
	step->operand = operand;
	step->start = start;
	step->count = count;
	step->to = to;
}

/* Lays the packing of `count` rows that begin `into` the panel; the last piece writes the padding.
 */
static struct sb_step *pack(struct layer *l, int operand, int slot, int64_t start, int64_t count,
			    int64_t into, bool end, int event)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	struct sb_step *step = lay(l, SB_STEP_PACK, SB_STREAM_COMPUTE, event);

	need(step, l->used[operand][slot]);
	step->operand = operand;
	step->start = start;
	step->count = count;
	step->into = into;
	step->padded = end ? o->padded - into : count;
	step->to = o->base + (size_t)slot * o->slot_bytes;
	return step;
}

static void land_raw(struct layer *l, int operand, int slot, int64_t start, int64_t count)
{
	int64_t lines = l->plan->raw_lines[operand];

	for (int64_t into = 0; into < count; into += lines) {
		int64_t piece = count - into < lines ? count - into : lines;
		int raw = l->raw_next++ % 2;
		struct sb_step *step = lay(l, SB_STEP_UP, SB_STREAM_UP, EVENT_RAW_UP + raw);

		need(step, l->raw_packed[raw]);
		step->operand = operand;
		step->start = start + into;
		step->count = piece;
		step->to = l->plan->raw_base[raw];
		step = pack(l, operand, slot, start + into, piece, into, into + piece == count,
			    EVENT_RAW_PACKED + raw);
		need(step, last(l) - 1);
		step->from = l->plan->raw_base[raw];
		l->raw_packed[raw] = last(l);
	}
}

/* Sees to it that a panel is, or is on its way to, its slot. */
static int acquire(struct layer *l, int operand, int panel)
{
	const struct sb_plan_operand *o = &l->plan->operands[operand];
	int64_t start = panel * o->panel;
	int64_t count = o->extent - start < o->panel ? o->extent - start : o->panel;
	int slot;

	if (o->way == SB_WAY_IN_PLACE)
		return 0;
	slot = panel % o->slots;
	if (l->holder[operand][slot] == panel)
		return slot;
	if (o->way == SB_WAY_LANDED)
		land(l, operand, slot, start, count);
	else if (o->way == SB_WAY_RAW)
		land_raw(l, operand, slot, start, count);
	else
		pack(l, operand, slot, start, count, 0, true,
		     EVENT_FILLED + operand * SB_PLAN_SLOTS + slot);
	l->holder[operand][slot] = panel;
	l->filled[operand][slot] = last(l);
	return slot;
}

/* Lays the steps that take blocks down, the oldest first, until `blocks` in all have been taken. */
static void take_down(struct layer *l, int64_t blocks)
{
	const struct sb_plan *plan = l->plan;

	for (; plan->buffers && !l->failed && l->taken < blocks; l->taken++) {
		int buffer = (int)(l->taken % plan->buffers);
		struct sb_step *step = lay(l, SB_STEP_DOWN, SB_STREAM_DOWN, EVENT_DOWN + buffer);
		const struct sb_step *gemm = &plan->steps[l->gemms[buffer]];

		need(step, l->gemms[buffer]);
		step->i0 = gemm->i0;
		step->m = gemm->m;
		step->j0 = gemm->j0;
		step->n = gemm->n;
		step->from = gemm->to;
		l->downed[buffer] = last(l);
	}
}

static void multiply(struct layer *l, int panel_a, int panel_b)
{
	const struct sb_plan *plan = l->plan;
	const struct sb_plan_operand *a = &plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *b = &plan->operands[SB_OPERAND_B];
	int slot_a = acquire(l, SB_OPERAND_A, panel_a), slot_b = acquire(l, SB_OPERAND_B, panel_b);
	int buffer = plan->buffers ? (int)(l->launched % plan->buffers) : 0;
	struct sb_step *step;

	if (plan->buffers && l->launched >= plan->buffers)
		take_down(l, l->launched - plan->buffers + 1);
	step = lay(l, SB_STEP_GEMM, SB_STREAM_COMPUTE, EVENT_GEMM + buffer);
	need(step, a->slots ? l->filled[SB_OPERAND_A][slot_a] : NONE);
	need(step, b->slots ? l->filled[SB_OPERAND_B][slot_b] : NONE);
	need(step, plan->buffers ? l->downed[buffer] : NONE);
	step->i0 = panel_a * a->panel;
	step->m = a->extent - step->i0 < a->panel ? a->extent - step->i0 : a->panel;
	step->j0 = panel_b * b->panel;
	step->n = b->extent - step->j0 < b->panel ? b->extent - step->j0 : b->panel;
	step->a = a->base + (size_t)slot_a * a->slot_bytes;
	step->b = b->base + (size_t)slot_b * b->slot_bytes;
	step->to = plan->buffer_base + (size_t)buffer * plan->buffer_bytes;
	l->used[SB_OPERAND_A][slot_a] = l->used[SB_OPERAND_B][slot_b] = last(l);
	l->gemms[buffer] = last(l);
	l->launched++;
}

/* Everything stays: panels of A and B in turn, and with each all blocks that it completes. */
static void lay_resident(struct layer *l)
{
	int panels_a = l->plan->operands[SB_OPERAND_A].panels;
	int panels_b = l->plan->operands[SB_OPERAND_B].panels;
	int rounds = panels_a > panels_b ? panels_a : panels_b;

	for (int r = 0; r < rounds && !l->failed; r++) {
		int64_t before = l->launched;

		for (int q = 0; r < panels_a && q < r && q < panels_b; q++)
			multiply(l, r, q);
		for (int p = 0; r < panels_b && p <= r && p < panels_a; p++)
			multiply(l, p, r);
		/* Blocks of the round before come down while this round's are computed. */
		take_down(l, before);
	}
}

/* One operand stays group by group, the other passes by each group. */
static void lay_passing(struct layer *l, int stays)
{
	const struct sb_plan_operand *stay = &l->plan->operands[stays];
	const struct sb_plan_operand *pass = &l->plan->operands[!stays];
	int group = stay->slots ? stay->slots : stay->panels;

	for (int first = 0; first < stay->panels; first += group)
		for (int q = 0; q < pass->panels && !l->failed; q++) {
			int64_t before = l->launched;

			for (int p = first; p - first < group && p < stay->panels; p++)
				multiply(l, stays == SB_OPERAND_A ? p : q,
					 stays == SB_OPERAND_A ? q : p);
			take_down(l, before);
		}
}

static bool stays_whole(const struct sb_plan_operand *o)
{
	return o->slots == 0 || o->slots == o->panels;
}

enum sb_status sb_plan_make(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	const struct sb_plan_operand *a = &plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *b = &plan->operands[SB_OPERAND_B];
	enum sb_status status = sb_plan_shape(plan, wish);
	struct layer l = {.plan = plan, .wish = wish, .raw_packed = {NONE, NONE}};

	if (status != SB_OK)
		return status;
	for (int i = 0; i < SB_OPERANDS * SB_PLAN_SLOTS; i++) {
		int operand = i / SB_PLAN_SLOTS, slot = i % SB_PLAN_SLOTS;

		l.holder[operand][slot] = l.filled[operand][slot] = l.used[operand][slot] = NONE;
	}
	for (int i = 0; i < SB_PLAN_BUFFERS; i++)
		l.downed[i] = l.gemms[i] = NONE;
	if (stays_whole(a) && stays_whole(b))
		lay_resident(&l);
	else
		lay_passing(&l, plan->stays);
	take_down(&l, l.launched);
	if (!l.failed)
		return SB_OK;
	sb_plan_free(plan);
	return SB_NO_MEMORY;
}

void sb_plan_free(struct sb_plan *plan)
{
	free(plan->steps);
	plan->steps = NULL;
	plan->count = plan->room = 0;
}

void sb_plan_line(const struct sb_step *step, char *text, size_t size)
{
	static const char *const words[] = {
		[SB_STEP_CLEAR] = "clear", [SB_STEP_UP] = "up",	    [SB_STEP_PACK] = "pack",
		[SB_STEP_GEMM] = "gemm",   [SB_STEP_DOWN] = "down",
	};

	if (step->kind == SB_STEP_GEMM || step->kind == SB_STEP_DOWN)
		snprintf(text, size, "%s C[%" PRId64 "+%" PRId64 ", %" PRId64 "+%" PRId64 "]",
			 words[step->kind], step->i0, step->m, step->j0, step->n);
	else
		snprintf(text, size, "%s %c[%" PRId64 "+%" PRId64 "]", words[step->kind],
			 step->operand == SB_OPERAND_A ? 'A' : 'B', step->start, step->count);
}
