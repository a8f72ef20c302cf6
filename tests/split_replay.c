/* SPDX-License-Identifier: BSD-3-Clause */
#include "split_replay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUES (SB_DEVICES * SB_STREAMS)
#define BLOCKS 4096

/* A step of a device's plan; none: step -1. */
struct place {
	int device, step;
};

/* Steps queued as the executor queues them; a clock says what is over when a step begins. */
struct replay {
	const struct sb_split *split;
	int next[QUEUES];   /* the step that each stream is at, or the plan's count */
	int newest[QUEUES]; /* its last step, -1: none yet */
	int (*clock[SB_DEVICES])[QUEUES];
	char *queued[SB_DEVICES];
	int wrong;
};

#define EXPECT(r, condition)                                                                       \
	((condition)                                                                               \
		 ? (void)0                                                                         \
		 : (void)((r)->wrong++,                                                            \
			  (r)->wrong < 4 ? fprintf(stderr, "%d: %s\n", __LINE__, #condition) : 0))

static const struct sb_plan *plan_of(const struct replay *r, int device)
{
	return &r->split->shares[device].plan;
}

static const struct sb_step *step_of(const struct replay *r, struct place at)
{
	return &plan_of(r, at.device)->steps[at.step];
}

static int queue_of(const struct replay *r, struct place at)
{
	return at.device * SB_STREAMS + (int)step_of(r, at)->stream;
}

/* Is the one over when the other begins? */
static int before(const struct replay *r, struct place one, struct place other)
{
	return one.step <= r->clock[other.device][other.step][queue_of(r, one)];
}

static void wait_for(struct replay *r, struct place waiting, struct place earlier)
{
	int *clock = r->clock[waiting.device][waiting.step];
	const int *other = r->clock[earlier.device][earlier.step];
	int queue = queue_of(r, earlier);

	EXPECT(r, step_of(r, earlier)->event >= 0 || queue == queue_of(r, waiting));
	for (int q = 0; q < QUEUES; q++)
		if (other[q] > clock[q])
			clock[q] = other[q];
	if (earlier.step > clock[queue])
		clock[queue] = earlier.step;
}

/* Fills in up to all that a step waits for on other streams. */
static int needs_of(const struct replay *r, struct place at, struct place needs[SB_STEP_NEEDS + 1])
{
	const struct sb_step *step = step_of(r, at);
	int count = 0;

	for (int i = 0; i < SB_STEP_NEEDS && step->needs[i] >= 0; i++)
		needs[count++] = (struct place){at.device, step->needs[i]};
	if (step->kind == SB_STEP_PEER)
		needs[count++] = (struct place){step->peer, step->there};
	return count;
}

static int try_queue(struct replay *r, struct place at)
{
	struct place needs[SB_STEP_NEEDS + 1];
	int count = needs_of(r, at, needs), queue = queue_of(r, at);
	int *clock = r->clock[at.device][at.step];

	for (int i = 0; i < count; i++) {
		EXPECT(r, needs[i].step >= 0 && needs[i].device < r->split->count);
		EXPECT(r, needs[i].step < plan_of(r, needs[i].device)->count);
		if (r->wrong || !r->queued[needs[i].device][needs[i].step])
			return 0;
	}
	if (r->newest[queue] >= 0)
		memcpy(clock, r->clock[at.device][r->newest[queue]], sizeof(int[QUEUES]));
	else
		memset(clock, 0xff, sizeof(int[QUEUES]));
	clock[queue] = r->newest[queue];
	for (int i = 0; i < count; i++)
		wait_for(r, at, needs[i]);
	r->newest[queue] = at.step;
	r->queued[at.device][at.step] = 1;
	return 1;
}

int split_next_of(const struct sb_plan *plan, int stream, int from)
{
	while (from < plan->count && (int)plan->steps[from].stream != stream)
		from++;
	return from;
}

/* Every stream as far as it gets, until none gets any further. */
static void queue_all(struct replay *r)
{
	int moved = 1;

	for (int q = 0; q < r->split->count * SB_STREAMS; q++)
		r->next[q] = split_next_of(plan_of(r, q / SB_STREAMS), q % SB_STREAMS, 0);
	while (moved && !r->wrong) {
		moved = 0;
		for (int q = 0; q < r->split->count * SB_STREAMS; q++) {
			const struct sb_plan *plan = plan_of(r, q / SB_STREAMS);

			while (r->next[q] < plan->count &&
			       try_queue(r, (struct place){q / SB_STREAMS, r->next[q]})) {
				r->next[q] = split_next_of(plan, q % SB_STREAMS, r->next[q] + 1);
				moved = 1;
			}
		}
	}
	for (int q = 0; q < r->split->count * SB_STREAMS; q++)
		EXPECT(r, r->next[q] == plan_of(r, q / SB_STREAMS)->count);
}

/* The step that writes a panel of an operand on a device; it must be the only one. */
static struct place writer_of(struct replay *r, int device, int operand, int64_t start)
{
	const struct sb_plan *plan = plan_of(r, device);
	int raw = plan->operands[operand].way == SB_WAY_RAW, found = -1;

	for (int i = 0; i < plan->count; i++) {
		const struct sb_step *s = &plan->steps[i];
		int writes = s->kind == SB_STEP_PEER || s->kind == SB_STEP_PACK ||
			     (s->kind == SB_STEP_UP && !raw);

		if (!writes || s->operand != operand || s->start != start)
			continue;
		EXPECT(r, found < 0);
		found = i;
	}
	EXPECT(r, found >= 0);
	return (struct place){device, found};
}

/* The step that splits a panel; it must be the only one. */
static struct place split_of(struct replay *r, int device, int operand, int64_t start)
{
	const struct sb_plan *plan = plan_of(r, device);
	int found = -1;

	for (int i = 0; i < plan->count; i++) {
		const struct sb_step *s = &plan->steps[i];

		if ((s->kind != SB_STEP_SPLIT && s->kind != SB_STEP_FLAG &&
		     (s->kind != SB_STEP_PACK || !plan->split)) ||
		    s->operand != operand || s->start != start)
			continue;
		EXPECT(r, found < 0);
		found = i;
	}
	EXPECT(r, found >= 0);
	return (struct place){device, found < 0 ? 0 : found};
}

/* A product comes after every panel that it reads, and it reads them where they are. */
static void check_reads(struct replay *r, struct place at, int operand, size_t from, int64_t start,
			int64_t count)
{
	const struct sb_plan_operand *o = &plan_of(r, at.device)->operands[operand];

	EXPECT(r, from == o->base + (size_t)(start * o->stride_mn) * sizeof(float));
	for (int64_t p = start / o->panel; p * o->panel < start + count && !r->wrong; p++) {
		struct place writer = writer_of(r, at.device, operand, p * o->panel);

		EXPECT(r, !r->wrong && before(r, writer, at));
		if (plan_of(r, at.device)->emulated)
			EXPECT(r, before(r, split_of(r, at.device, operand, p * o->panel), at));
	}
}

/* What was cleared is cleared before anything else comes there. */
static void check_cleared(struct replay *r, struct place at)
{
	const struct sb_plan *plan = plan_of(r, at.device);

	for (int i = 0; i < plan->count; i++)
		if (plan->steps[i].kind == SB_STEP_CLEAR &&
		    plan->steps[i].operand == step_of(r, at)->operand)
			EXPECT(r, before(r, (struct place){at.device, i}, at));
}

static void check_peer(struct replay *r, struct place at)
{
	const struct sb_step *step = step_of(r, at);
	const struct sb_plan_operand *to = &plan_of(r, at.device)->operands[step->operand];
	const struct sb_plan_operand *from = &plan_of(r, step->peer)->operands[step->operand];
	struct place writer;

	EXPECT(r, step->peer != at.device);
	EXPECT(r, to->stride_k == from->stride_k && to->stride_mn == from->stride_mn);
	EXPECT(r, step->to == to->base + (size_t)(step->start * to->stride_mn) * sizeof(float));
	EXPECT(r,
	       step->from == from->base + (size_t)(step->start * from->stride_mn) * sizeof(float));
	EXPECT(r, step->start + step->padded <= to->padded && step->count <= step->padded);
	writer = writer_of(r, step->peer, step->operand, step->start);
	EXPECT(r, step_of(r, writer)->kind != SB_STEP_PEER && before(r, writer, at));
	check_cleared(r, at);
}

/* The panel is there before it is split, however it has come. */
static void check_split(struct replay *r, struct place at)
{
	const struct sb_step *step = step_of(r, at);

	EXPECT(r, before(r, writer_of(r, at.device, step->operand, step->start), at));
}

static void check_step(struct replay *r, struct place at)
{
	const struct sb_step *step = step_of(r, at);

	switch (step->kind) {
	case SB_STEP_GEMM:
		check_reads(r, at, SB_OPERAND_A, step->a, step->i0, step->m);
		check_reads(r, at, SB_OPERAND_B, step->b, step->j0, step->n);
		break;
	case SB_STEP_DOWN:
		EXPECT(r, step->needs[0] == at.step - 1 && step->from == (step - 1)->to);
		EXPECT(r, step->i0 == (step - 1)->i0 && step->m == (step - 1)->m);
		EXPECT(r, step->j0 == (step - 1)->j0 && step->n == (step - 1)->n);
		break;
	case SB_STEP_PEER:
		check_peer(r, at);
		break;
	case SB_STEP_UP:
		check_cleared(r, at);
		break;
	case SB_STEP_SPLIT:
	case SB_STEP_FLAG:
		check_split(r, at);
		break;
	case SB_STEP_PACK:
	case SB_STEP_CLEAR:
		break;
	}
}

/* How often rows of an operand come up, on all devices together: at least and at most. */
static void count_ups(const struct sb_split *split, int operand, int64_t *least, int64_t *most)
{
	const struct sb_plan *first = &split->shares[0].plan;

	*least = INT64_MAX;
	*most = 0;
	for (int p = 0; p < first->operands[operand].panels; p++) {
		int64_t count = 0;

		for (int d = 0; d < split->count; d++)
			for (int i = 0; i < split->shares[d].plan.count; i++) {
				const struct sb_step *s = &split->shares[d].plan.steps[i];

				count += s->kind == SB_STEP_UP && s->operand == operand &&
					 s->start == p * first->operands[operand].panel;
			}
		*least = count < *least ? count : *least;
		*most = count > *most ? count : *most;
	}
}

struct block {
	int64_t i0, m, j0, n;
};

static int overlap(const struct block *a, const struct block *b)
{
	return a->i0 < b->i0 + b->m && b->i0 < a->i0 + a->m && a->j0 < b->j0 + b->n &&
	       b->j0 < a->j0 + a->n;
}

/* Every element of C comes home once. */
static void check_coverage(struct replay *r, const struct sb_split_wish *wish)
{
	static struct block blocks[BLOCKS];
	double covered = 0;
	int count = 0;

	for (int d = 0; d < r->split->count; d++) {
		const struct sb_share *share = &r->split->shares[d];

		EXPECT(r, share->m > 0 && share->n > 0);
		EXPECT(r, share->plan.device_bytes <= wish->device_bytes[d]);
		for (int i = 0; i < share->plan.count; i++) {
			const struct sb_step *s = &share->plan.steps[i];

			if (s->kind != SB_STEP_DOWN)
				continue;
			EXPECT(r, s->i0 + s->m <= share->m && s->j0 + s->n <= share->n);
			covered += (double)s->m * (double)s->n;
			if (count < BLOCKS)
				blocks[count++] = (struct block){share->i0 + s->i0, s->m,
								 share->j0 + s->j0, s->n};
		}
	}
	EXPECT(r, covered == (double)wish->call.m * (double)wish->call.n);
	for (int i = 0; i < count && count < 600; i++)
		for (int j = 0; j < i; j++)
			EXPECT(r, !overlap(&blocks[i], &blocks[j]));
}

int split_all_whole(const struct sb_split *split)
{
	for (int d = 0; d < split->count; d++)
		if (!split->shares[d].plan.whole)
			return 0;
	return 1;
}

int split_replay(const struct sb_split *split, const struct sb_split_wish *wish)
{
	struct replay r = {.split = split};
	int common = wish->call.n >= wish->call.m ? SB_OPERAND_A : SB_OPERAND_B;
	int64_t least, most;

	memset(r.newest, 0xff, sizeof r.newest);
	check_coverage(&r, wish);
	if (!split_all_whole(split))
		return r.wrong;
	for (int d = 0; d < split->count; d++) {
		r.clock[d] = malloc((size_t)split->shares[d].plan.count * sizeof *r.clock[d]);
		r.queued[d] = calloc((size_t)split->shares[d].plan.count, 1);
	}
	queue_all(&r);
	for (int d = 0; d < split->count; d++)
		for (int i = 0; i < split->shares[d].plan.count && !r.wrong; i++)
			check_step(&r, (struct place){d, i});
	count_ups(split, common, &least, &most);
	EXPECT(&r, least == most);
	EXPECT(&r, most == (wish->linked ? 1 : split->count));
	for (int d = 0; d < split->count; d++) {
		free(r.clock[d]);
		free(r.queued[d]);
	}
	return r.wrong;
}
