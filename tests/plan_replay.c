/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

#define REGIONS 1024
#define FLAGGED 128

/* A piece of the device region: what it holds, and who touched it last on each stream. */
struct region {
	size_t at;
	int64_t start, count; /* of the operand, or i0 and m of a block */
	int64_t start_j, count_j;
	int64_t k0, depth; /* the values of k that it holds, or that a block has summed */
	int64_t known;	   /* of flags: how many elements they speak of */
	int reader[SB_STREAMS], writer[SB_STREAMS];
};

struct replay {
	const struct sb_plan *plan;
	const struct sb_plan_wish *wish;
	struct region regions[REGIONS];
	int region_count;
	int (*seen)[SB_STREAMS]; /* by step: the last step of each stream that is over by then */
	int stream_last[SB_STREAMS];
	int event_stream[SB_DEVICE_EVENTS];
	double covered;
	int wrong;
};

#define EXPECT(r, condition)                                                                       \
	((condition)                                                                               \
		 ? (void)0                                                                         \
		 : (void)((r)->wrong++,                                                            \
			  (r)->wrong < 4 ? fprintf(stderr, "%d: %s\n", __LINE__, #condition) : 0))

static struct region *region_at(struct replay *r, size_t at)
{
	for (int i = 0; i < r->region_count; i++)
		if (r->regions[i].at == at)
			return &r->regions[i];
	EXPECT(r, r->region_count < REGIONS);
	if (r->region_count == REGIONS)
		return &r->regions[0];
	r->regions[r->region_count] = (struct region){.at = at};
	for (int s = 0; s < SB_STREAMS; s++)
		r->regions[r->region_count].reader[s] = r->regions[r->region_count].writer[s] = -1;
	return &r->regions[r->region_count++];
}

static void touch(struct replay *r, struct region *region, int step, int write)
{
	int stream = (int)r->plan->steps[step].stream;

	for (int s = 0; s < SB_STREAMS; s++) {
		EXPECT(r, region->writer[s] <= r->seen[step][s]);
		if (write)
			EXPECT(r, region->reader[s] <= r->seen[step][s]);
	}
	if (write)
		region->writer[stream] = step;
	else
		region->reader[stream] = step;
}

static void order(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];

	for (int s = 0; s < SB_STREAMS; s++)
		r->seen[i][s] = -1;
	/* A stream's own steps are over when the next begins, and all that they waited for. */
	if (r->stream_last[step->stream] >= 0)
		memcpy(r->seen[i], r->seen[r->stream_last[step->stream]], sizeof r->seen[i]);
	r->seen[i][step->stream] = r->stream_last[step->stream];
	for (int n = 0; n < SB_STEP_NEEDS && step->needs[n] >= 0; n++) {
		int need = step->needs[n];
		const struct sb_step *earlier = &r->plan->steps[need];

		EXPECT(r, need < i);
		EXPECT(r, earlier->event >= 0 || earlier->stream == step->stream);
		for (int s = 0; s < SB_STREAMS; s++)
			if (r->seen[need][s] > r->seen[i][s])
				r->seen[i][s] = r->seen[need][s];
		if (need > r->seen[i][earlier->stream])
			r->seen[i][earlier->stream] = need;
	}
	r->stream_last[step->stream] = i;
	if (step->event >= 0) {
		EXPECT(r, step->event < SB_DEVICE_EVENTS - SB_STREAMS);
		EXPECT(r, r->event_stream[step->event] < 0 ||
				  r->event_stream[step->event] == (int)step->stream);
		r->event_stream[step->event] = (int)step->stream;
	}
}

static void fill(struct region *region, const struct sb_step *step)
{
	/* Pieces of one panel add up. */
	if (region->count && step->start == region->start + region->count &&
	    step->k0 == region->k0) {
		region->count += step->count;
	} else {
		region->start = step->start;
		region->count = step->count;
	}
	region->k0 = step->k0;
	region->depth = step->depth;
}

/* Of the panel that begins there. */
static int64_t rows_of(const struct sb_plan_operand *o, int64_t start)
{
	return o->extent - start < o->panel ? o->extent - start : o->panel;
}

/* A block may be the product of several panels of an operand that lies whole. */
static void read_panels(struct replay *r, int i, int operand, size_t at, int64_t start,
			int64_t count)
{
	const struct sb_plan_operand *o = &r->plan->operands[operand];
	int64_t end = start + count;

	if (o->way == SB_WAY_IN_PLACE)
		return;
	if (!r->plan->whole) {
		struct region *region = region_at(r, at);

		touch(r, region, i, 0);
		EXPECT(r, region->start == start && region->count == count);
		EXPECT(r, region->k0 == r->plan->steps[i].k0);
		EXPECT(r, region->depth == r->plan->steps[i].depth);
		return;
	}
	EXPECT(r, at == o->base + (size_t)(start * o->stride_mn) * sizeof(float));
	for (int64_t p = start / o->panel; p * o->panel < end; p++) {
		int64_t first = p * o->panel;
		struct region *region =
			region_at(r, o->base + (size_t)(first * o->stride_mn) * sizeof(float));

		touch(r, region, i, 0);
		EXPECT(r, region->start == first && region->count == rows_of(o, first));
	}
}

/* Where a panel's planes begin, and its flags. */
static size_t planes_of(const struct sb_plan_operand *o, int slot, int64_t into)
{
	return o->split_base + (size_t)slot * o->split_bytes +
	       (size_t)(into * o->padded_k) * sizeof(float);
}

static size_t flags_of(const struct sb_plan_operand *o, int64_t start)
{
	return o->flags_base + (size_t)(start / FLAGGED) * sizeof(uint32_t);
}

/* Flags begin once and then gather what all of the panel says; what says it again changes none. */
static void raise_flags(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	const struct sb_plan_operand *o = &r->plan->operands[step->operand];
	int64_t first = r->plan->whole ? step->start : step->start - step->into;
	struct region *flags = region_at(r, flags_of(o, first));
	int64_t all = rows_of(o, first) * r->wish->k;

	if (step->flagged) {
		EXPECT(r, step->flagged == rows_of(o, first) && step->start == first && !step->k0);
		flags->known = 0;
	}
	EXPECT(r, first % o->panel == 0 && (step->flagged || flags->count));
	flags->start = first;
	flags->count = rows_of(o, first);
	if (flags->known == all) {
		EXPECT(r, r->plan->run < r->wish->k);
		touch(r, flags, i, 0);
		return;
	}
	touch(r, flags, i, 1);
	EXPECT(r, (flags->known += step->count * step->depth) <= all);
}

/* A panel that has arrived, or a piece of it as it is packed, becomes planes. */
static void write_planes(struct replay *r, int i, size_t parts)
{
	const struct sb_step *step = &r->plan->steps[i];
	const struct sb_plan_operand *o = &r->plan->operands[step->operand];
	int64_t into = r->plan->whole ? step->into : 0, end = step->start + step->count;
	int slot = (int)((parts - o->split_base) / o->split_bytes);
	struct region *planes = region_at(r, planes_of(o, slot, into));

	EXPECT(r, parts == o->split_base + (r->plan->whole ? 0 : (size_t)slot * o->split_bytes));
	EXPECT(r, step->start % 64 == 0 && (step->count % 64 == 0 || end == o->extent));
	EXPECT(r, step->padded % 64 == 0 && step->into + step->padded <= o->padded);
	touch(r, planes, i, 1);
	if (step->into == into)
		planes->count = 0;
	fill(planes, step);
	raise_flags(r, i);
}

/* What has arrived, all of a panel. */
static void replay_split(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	const struct sb_plan_operand *o = &r->plan->operands[step->operand];
	struct region *panel = region_at(r, step->from);
	int64_t end = step->start + step->count;

	EXPECT(r, r->plan->emulated && r->plan->split == (step->kind == SB_STEP_SPLIT));
	EXPECT(r, step->start % FLAGGED == 0 && (step->count % FLAGGED == 0 || end == o->extent));
	EXPECT(r, panel->start == step->start && panel->count == step->count);
	EXPECT(r, panel->k0 == step->k0 && panel->depth == step->depth);
	touch(r, panel, i, 0);
	if (step->kind == SB_STEP_SPLIT)
		write_planes(r, i, step->to);
	else
		raise_flags(r, i);
}

/* What the tiers read beside panels; they raise flags, but each other's in any order. */
static void read_parts(struct replay *r, int i, int operand, int64_t start, int64_t count)
{
	const struct sb_plan_operand *o = &r->plan->operands[operand];
	const struct sb_step *step = &r->plan->steps[i];

	EXPECT(r, start % FLAGGED == 0);
	for (int64_t p = start / o->panel; p * o->panel < start + count; p++) {
		int64_t first = p * o->panel;
		struct region *flags = region_at(r, flags_of(o, first)), *planes;

		touch(r, flags, i, 0);
		EXPECT(r, flags->known == rows_of(o, first) * r->wish->k);
		if (!r->plan->split)
			continue;
		planes = region_at(r,
				   planes_of(o, step->slots[operand], r->plan->whole ? first : 0));
		touch(r, planes, i, 0);
		EXPECT(r, planes->start == first && planes->count == rows_of(o, first));
		EXPECT(r, planes->k0 == step->k0 && planes->depth == step->depth);
	}
}

static void replay_gemm(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	struct region *buffer;

	read_panels(r, i, SB_OPERAND_A, step->a, step->i0, step->m);
	read_panels(r, i, SB_OPERAND_B, step->b, step->j0, step->n);
	EXPECT(r, step->depth > 0 && step->k0 + step->depth <= r->wish->k);
	if (r->plan->emulated) {
		EXPECT(r, step->depth == r->wish->k || step->k0 % r->wish->tiers->chunk == 0);
		EXPECT(r, step->depth == r->wish->k || step->depth <= r->wish->tiers->chunk);
		read_parts(r, i, SB_OPERAND_A, step->i0, step->m);
		read_parts(r, i, SB_OPERAND_B, step->j0, step->n);
	}
	if (!r->plan->buffers) {
		EXPECT(r, step->depth == r->wish->k);
		r->covered += (double)step->m * (double)step->n;
		return;
	}
	buffer = region_at(r, step->to);
	touch(r, buffer, i, 1);
	if (step->k0 > 0) {
		/* It goes on where the run before has ended, on a border of slabs. */
		EXPECT(r, r->plan->emulated || sb_registry_resumes(r->wish->kernel));
		EXPECT(r, step->k0 % SB_SLAB == 0);
		EXPECT(r, buffer->start == step->i0 && buffer->count == step->m);
		EXPECT(r, buffer->start_j == step->j0 && buffer->count_j == step->n);
		EXPECT(r, buffer->depth == step->k0);
	}
	buffer->start = step->i0;
	buffer->count = step->m;
	buffer->start_j = step->j0;
	buffer->count_j = step->n;
	buffer->depth = step->k0 + step->depth;
}

static void replay_down(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	struct region *buffer = region_at(r, step->from);

	touch(r, buffer, i, 0);
	EXPECT(r, buffer->start == step->i0 && buffer->count == step->m);
	EXPECT(r, buffer->start_j == step->j0 && buffer->count_j == step->n);
	EXPECT(r, buffer->depth == r->wish->k);
	buffer->count = 0; /* taken down twice, it would no longer fit */
	r->covered += (double)step->m * (double)step->n;
}

static void replay_step(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	struct region *to = step->kind < SB_STEP_SPLIT ? region_at(r, step->to) : NULL;

	order(r, i);
	switch (step->kind) {
	case SB_STEP_CLEAR:
		touch(r, to, i, 1);
		to->count = 0;
		break;
	case SB_STEP_UP:
		touch(r, to, i, 1);
		to->count = 0;
		fill(to, step);
		break;
	case SB_STEP_PACK:
		if (r->plan->operands[step->operand].way == SB_WAY_RAW) {
			struct region *raw = region_at(r, step->from);

			touch(r, raw, i, 0);
			EXPECT(r, raw->start == step->start && raw->count == step->count);
			EXPECT(r, raw->k0 == step->k0 && raw->depth == step->depth);
		}
		if (r->plan->whole)
			to = region_at(r, step->to + (size_t)step->into * sizeof(float));
		touch(r, to, i, 1);
		if (step->into == 0 || r->plan->whole)
			to->count = 0;
		fill(to, step);
		EXPECT(r, step->into + step->padded <= r->plan->operands[step->operand].padded);
		EXPECT(r, step->count <= step->padded);
		if (r->plan->split)
			write_planes(r, i, step->parts);
		break;
	case SB_STEP_PEER:
		r->wrong++; /* a plan alone has none */
		break;
	case SB_STEP_SPLIT:
	case SB_STEP_FLAG:
		replay_split(r, i);
		break;
	case SB_STEP_GEMM:
		replay_gemm(r, i);
		break;
	case SB_STEP_DOWN:
		replay_down(r, i);
		break;
	}
}

struct range {
	size_t at, bytes;
};

/* Nothing in the region lies over anything else. */
static void check_layout(struct replay *r)
{
	const struct sb_plan *p = r->plan;
	struct range ranges[16];
	int count = 0;

	for (int i = 0; i < SB_OPERANDS; i++) {
		const struct sb_plan_operand *o = &p->operands[i];
		size_t words = (size_t)((o->extent + FLAGGED - 1) / FLAGGED);

		ranges[count++] = (struct range){o->base, o->bytes};
		ranges[count++] = (struct range){o->split_base, (size_t)o->slots * o->split_bytes};
		ranges[count++] =
			(struct range){o->flags_base, p->emulated ? words * sizeof(uint32_t) : 0};
		if (o->way == SB_WAY_RAW && p->whole)
			ranges[count++] = (struct range){
				o->raw_base, (size_t)(o->extent * p->raw_pitch[i]) * sizeof(float)};
		EXPECT(r, !p->split || o->planes_bytes >= (size_t)(o->padded * o->padded_k) * 4);
	}
	ranges[count++] = (struct range){p->buffer_base, (size_t)p->buffers * p->buffer_bytes};
	for (int i = 0; i < 2; i++) {
		ranges[count++] = (struct range){p->work_base[i],
						 i < 1 + (p->buffers > 0) ? p->work_bytes : 0};
		ranges[count++] = (struct range){p->raw_base[i], p->whole ? 0 : p->raw_bytes};
	}
	for (int i = 0; i < count; i++) {
		EXPECT(r, ranges[i].at + ranges[i].bytes <= p->device_bytes || !ranges[i].bytes);
		for (int j = 0; j < i; j++)
			EXPECT(r, ranges[i].bytes == 0 || ranges[j].bytes == 0 ||
					  ranges[i].at + ranges[i].bytes <= ranges[j].at ||
					  ranges[j].at + ranges[j].bytes <= ranges[i].at);
	}
}

int plan_replay(const struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	struct replay r = {.plan = plan, .wish = wish, .stream_last = {-1, -1, -1}};

	memset(r.event_stream, 0xff, sizeof r.event_stream);
	r.seen = malloc((size_t)plan->count * sizeof *r.seen);
	EXPECT(&r, plan->device_bytes <= wish->device_bytes);
	check_layout(&r);
	for (int i = 0; i < plan->count; i++)
		replay_step(&r, i);
	EXPECT(&r, r.covered == (double)wish->m * (double)wish->n);
	free(r.seen);
	return r.wrong;
}
