/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of random calls cut over one to eight devices: every element of C is computed once,
 * what is common to linked devices comes up once, and nothing is used before it is there.
 */
#include "suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan_split.h"

#define QUEUES (SB_DEVICES * SB_STREAMS)
#define BLOCKS 4096

static uint32_t state = 4711;

static int64_t pick(int64_t least, int64_t most)
{
	state = state * 1664525u + 1013904223u;
	return least + (int64_t)(state >> 4) % (most - least + 1);
}

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

static int next_of(const struct sb_plan *plan, int stream, int from)
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
		r->next[q] = next_of(plan_of(r, q / SB_STREAMS), q % SB_STREAMS, 0);
	while (moved && !r->wrong) {
		moved = 0;
		for (int q = 0; q < r->split->count * SB_STREAMS; q++) {
			const struct sb_plan *plan = plan_of(r, q / SB_STREAMS);

			while (r->next[q] < plan->count &&
			       try_queue(r, (struct place){q / SB_STREAMS, r->next[q]})) {
				r->next[q] = next_of(plan, q % SB_STREAMS, r->next[q] + 1);
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

/* A product comes after every panel that it reads, and it reads them where they are. */
static void check_reads(struct replay *r, struct place at, int operand, size_t from, int64_t start,
			int64_t count)
{
	const struct sb_plan_operand *o = &plan_of(r, at.device)->operands[operand];

	EXPECT(r, from == o->base + (size_t)(start * o->stride_mn) * sizeof(float));
	for (int64_t p = start / o->panel; p * o->panel < start + count && !r->wrong; p++) {
		struct place writer = writer_of(r, at.device, operand, p * o->panel);

		EXPECT(r, !r->wrong && before(r, writer, at));
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

static int all_whole(const struct sb_split *split)
{
	for (int d = 0; d < split->count; d++)
		if (!split->shares[d].plan.whole)
			return 0;
	return 1;
}

static int replay(const struct sb_split *split, const struct sb_split_wish *wish)
{
	struct replay r = {.split = split};
	int common = wish->call.n >= wish->call.m ? SB_OPERAND_A : SB_OPERAND_B;
	int64_t least, most;

	memset(r.newest, 0xff, sizeof r.newest);
	check_coverage(&r, wish);
	if (!all_whole(split))
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

static struct sb_split_wish random_wish(void)
{
	const int64_t most = pick(0, 3) ? 3000 : 40000;
	const int roomy = pick(0, 2) > 0;
	struct sb_split_wish wish = {
		.call = {.m = pick(1, most),
			 .n = pick(1, most),
			 .k = pick(1, most),
			 .trans_a = pick(0, 1),
			 .trans_b = pick(0, 1),
			 .place_a = pick(0, 3) ? SB_PLACE_PAGEABLE : SB_PLACE_PINNED,
			 .place_b = pick(0, 3) ? SB_PLACE_PAGEABLE : SB_PLACE_PINNED,
			 .place_c = pick(0, 3) ? SB_PLACE_PAGEABLE : SB_PLACE_PINNED,
			 .kernel = sb_registry_row((int)pick(0, sb_registry_count() - 1)),
			 .panels = pick(0, 2) ? 0 : (int)pick(1, 20)},
		.devices = (int)pick(1, SB_DEVICES),
		.linked = pick(0, 2) > 0,
	};

	for (int d = 0; d < wish.devices; d++) {
		wish.device_bytes[d] = (size_t)1 << (roomy ? 37 : pick(20, 36));
		wish.weights[d] = pick(0, 3) ? 132 : (int)pick(1, 200);
	}
	sb_split_least.extent = pick(0, 1) ? 1 : 512;
	sb_split_least.bytes = pick(0, 3) ? 0 : 8 << 20;
	return wish;
}

static void random_shares_are_complete_bounded_and_ordered(void)
{
	int made = 0, linked = 0, many = 0;

	for (int i = 0; i < 3000; i++) {
		struct sb_split_wish wish = random_wish();
		struct sb_split split;
		enum sb_status status = sb_split_make(&split, &wish);
		int wrong;

		CU_ASSERT(status == SB_OK || status == SB_NO_MEMORY);
		if (status != SB_OK)
			continue;
		wrong = replay(&split, &wish);
		if (wrong)
			fprintf(stderr, "call %d: %d devices\n", i, split.count);
		CU_ASSERT_EQUAL(wrong, 0);
		made++;
		many += split.count > 1;
		linked += split.count > 1 && wish.linked && all_whole(&split);
		sb_split_free(&split);
	}
	CU_ASSERT(made > 2000 && many > 1000 && linked > 700);
}

static struct sb_split_wish usual(int64_t m, int64_t n, int64_t k, int devices)
{
	struct sb_split_wish wish = {
		.call = {.m = m, .n = n, .k = k, .kernel = sb_registry_plain()},
		.devices = devices,
		.linked = true,
	};

	for (int d = 0; d < devices; d++) {
		wish.device_bytes[d] = (size_t)1 << 37;
		wish.weights[d] = 132;
	}
	sb_split_least = (struct sb_split_least){.extent = 512, .bytes = 8 << 20};
	return wish;
}

static void small_calls_use_fewer_devices(void)
{
	static const struct {
		int64_t m, n, k;
		int devices, used;
	} rows[] = {
		{16384, 16384, 16384, 8, 8}, {4096, 4096, 4096, 8, 8}, {2048, 2048, 2048, 8, 4},
		{2048, 2048, 2048, 2, 2},    {1024, 1024, 1024, 2, 1}, {512, 512, 512, 8, 1},
		{100, 100, 1000000, 8, 1},   {1, 100000, 4096, 2, 2},  {16384, 16384, 16384, 1, 1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sb_split_wish wish = usual(rows[i].m, rows[i].n, rows[i].k, rows[i].devices);

		CU_ASSERT_EQUAL(sb_split_devices(&wish), rows[i].used);
	}
}

static void what_lies_on_a_device_is_not_cut(void)
{
	struct sb_split_wish wish = usual(16384, 16384, 16384, 8);

	wish.call.place_b = SB_PLACE_DEVICE;
	CU_ASSERT_EQUAL(sb_split_devices(&wish), 1);
}

static void a_device_alone_has_the_plan_it_always_had(void)
{
	struct sb_split_wish wish = usual(3000, 2000, 700, 1);
	struct sb_split split;
	struct sb_plan plan;

	CU_ASSERT_EQUAL(sb_split_make(&split, &wish), SB_OK);
	wish.call.device_bytes = wish.device_bytes[0];
	CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish.call), SB_OK);
	CU_ASSERT_EQUAL_FATAL(plan.count, split.shares[0].plan.count);
	CU_ASSERT_EQUAL(memcmp(plan.steps, split.shares[0].plan.steps,
			       (size_t)plan.count * sizeof *plan.steps),
			0);
	sb_plan_free(&plan);
	sb_split_free(&split);
}

static void shares_are_as_large_as_the_devices(void)
{
	struct sb_split_wish wish = usual(1024, 8192, 1024, 2);
	struct sb_split split;

	wish.weights[1] = 3 * wish.weights[0];
	CU_ASSERT_EQUAL(sb_split_make(&split, &wish), SB_OK);
	CU_ASSERT_EQUAL(split.shares[0].n, 2048);
	CU_ASSERT_EQUAL(split.shares[1].n, 6144);
	sb_split_free(&split);
}

/* Every device begins with a panel of the common operand that it brings itself. */
static void every_wire_is_busy_from_the_start(void)
{
	struct sb_split_wish wish = usual(8192, 8192, 8192, 8);
	struct sb_split split;

	CU_ASSERT_EQUAL(sb_split_make(&split, &wish), SB_OK);
	for (int d = 0; d < split.count; d++) {
		const struct sb_plan *plan = &split.shares[d].plan;
		const struct sb_step *first = &plan->steps[next_of(plan, SB_STREAM_UP, 0)];

		CU_ASSERT(first->kind == SB_STEP_UP && first->operand == SB_OPERAND_A);
		CU_ASSERT_EQUAL(first->start, d * plan->operands[SB_OPERAND_A].panel);
		CU_ASSERT_EQUAL(first->needs[0], -1);
	}
	sb_split_free(&split);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"random shares are complete, bounded and ordered",
		 random_shares_are_complete_bounded_and_ordered},
		{"small calls use fewer devices", small_calls_use_fewer_devices},
		{"what lies on a device is not cut", what_lies_on_a_device_is_not_cut},
		{"a device alone has the plan it always had",
		 a_device_alone_has_the_plan_it_always_had},
		{"shares are as large as the devices", shares_are_as_large_as_the_devices},
		{"every wire is busy from the start", every_wire_is_busy_from_the_start},
	};

	return SUITE("plan_split", tests);
}
