/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of thousands of random calls: every block once, in bounds, nothing used before its time. */
#include "child.h"

#include <math.h>
#include <stdint.h>

#include "plan.h"

#define REGIONS 256

static uint32_t state = 12345;

static int64_t pick(int64_t least, int64_t most)
{
	state = state * 1664525u + 1013904223u;
	return least + (int64_t)(state >> 4) % (most - least + 1);
}

/* A piece of the device region: what it holds, and who touched it last on each stream. */
struct region {
	size_t at;
	int64_t start, count; /* of the operand, or i0 and m of a block */
	int64_t start_j, count_j;
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

static void fill(struct region *region, int64_t start, int64_t count)
{
	/* Pieces of one panel add up. */
	if (region->count && start == region->start + region->count)
		region->count += count;
	else {
		region->start = start;
		region->count = count;
	}
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
		return;
	}
	EXPECT(r, at == o->base + (size_t)(start * o->stride_mn) * sizeof(float));
	for (int64_t p = start / o->panel; p * o->panel < end; p++) {
		int64_t first = p * o->panel;
		struct region *region =
			region_at(r, o->base + (size_t)(first * o->stride_mn) * sizeof(float));

		touch(r, region, i, 0);
		EXPECT(r, region->start == first &&
				  region->count == (o->extent - first < o->panel ? o->extent - first
										 : o->panel));
	}
}

static void replay_gemm(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	struct region *buffer;

	read_panels(r, i, SB_OPERAND_A, step->a, step->i0, step->m);
	read_panels(r, i, SB_OPERAND_B, step->b, step->j0, step->n);
	if (!r->plan->buffers) {
		r->covered += (double)step->m * (double)step->n;
		return;
	}
	buffer = region_at(r, step->to);
	touch(r, buffer, i, 1);
	buffer->start = step->i0;
	buffer->count = step->m;
	buffer->start_j = step->j0;
	buffer->count_j = step->n;
}

static void replay_down(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	struct region *buffer = region_at(r, step->from);

	touch(r, buffer, i, 0);
	EXPECT(r, buffer->start == step->i0 && buffer->count == step->m);
	EXPECT(r, buffer->start_j == step->j0 && buffer->count_j == step->n);
	buffer->count = 0; /* taken down twice, it would no longer fit */
	r->covered += (double)step->m * (double)step->n;
}

static void replay_step(struct replay *r, int i)
{
	const struct sb_step *step = &r->plan->steps[i];
	struct region *to = step->kind < SB_STEP_GEMM ? region_at(r, step->to) : NULL;

	order(r, i);
	switch (step->kind) {
	case SB_STEP_CLEAR:
		touch(r, to, i, 1);
		to->count = 0;
		break;
	case SB_STEP_UP:
		touch(r, to, i, 1);
		to->count = 0;
		fill(to, step->start, step->count);
		break;
	case SB_STEP_PACK:
		if (r->plan->operands[step->operand].way == SB_WAY_RAW) {
			struct region *raw = region_at(r, step->from);

			touch(r, raw, i, 0);
			EXPECT(r, raw->start == step->start && raw->count == step->count);
		}
		if (r->plan->whole)
			to = region_at(r, step->to + (size_t)step->into * sizeof(float));
		touch(r, to, i, 1);
		if (step->into == 0 || r->plan->whole)
			to->count = 0;
		fill(to, step->start, step->count);
		EXPECT(r, step->into + step->padded <= r->plan->operands[step->operand].padded);
		EXPECT(r, step->count <= step->padded);
		break;
	case SB_STEP_PEER:
		EXPECT(r, step->kind != SB_STEP_PEER); /* a plan alone has none */
		break;
	case SB_STEP_GEMM:
		replay_gemm(r, i);
		break;
	case SB_STEP_DOWN:
		replay_down(r, i);
		break;
	}
}

static int replay(const struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	struct replay r = {.plan = plan, .wish = wish, .stream_last = {-1, -1, -1}};

	memset(r.event_stream, 0xff, sizeof r.event_stream);
	r.seen = malloc((size_t)plan->count * sizeof *r.seen);
	EXPECT(&r, plan->device_bytes <= wish->device_bytes);
	for (int i = 0; i < plan->count; i++)
		replay_step(&r, i);
	EXPECT(&r, r.covered == (double)wish->m * (double)wish->n);
	free(r.seen);
	return r.wrong;
}

static struct sb_plan_wish random_wish(void)
{
	static const enum sb_place places[] = {SB_PLACE_PAGEABLE, SB_PLACE_PAGEABLE,
					       SB_PLACE_PINNED, SB_PLACE_DEVICE};
	int64_t most = pick(0, 3) ? 3000 : 40000;

	return (struct sb_plan_wish){
		.m = pick(1, most),
		.n = pick(1, most),
		.k = pick(1, most),
		.trans_a = pick(0, 1),
		.trans_b = pick(0, 1),
		.place_a = places[pick(0, 3)],
		.place_b = places[pick(0, 3)],
		.place_c = places[pick(0, 3)],
		.kernel = sb_registry_row((int)pick(0, sb_registry_count() - 1)),
		.device_bytes = (size_t)1 << pick(20, 36),
		.panels = pick(0, 3) ? 0 : (int)pick(1, 20),
	};
}

static void random_plans_are_complete_bounded_and_ordered(void)
{
	int made = 0, refused = 0;

	for (int i = 0; i < 2500; i++) {
		struct sb_plan_wish wish = random_wish();
		struct sb_plan plan;
		enum sb_status status = sb_plan_make(&plan, &wish);

		CU_ASSERT(status == SB_OK || status == SB_NO_MEMORY);
		if (status == SB_OK) {
			CU_ASSERT_EQUAL(replay(&plan, &wish), 0);
			sb_plan_free(&plan);
			made++;
		} else {
			refused++;
		}
	}
	CU_ASSERT(made > 1200 && refused > 20);
}

/* Bytes that cross the wire upwards. */
static double traffic(const struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	double lines = 0;

	for (int i = 0; i < plan->count; i++)
		if (plan->steps[i].kind == SB_STEP_UP)
			lines += (double)plan->steps[i].count;
	return lines * (double)wish->k * sizeof(float);
}

/*
 * In S bytes of memory no order of the work moves less than 2mnk/sqrt(S), nor less than both
 * operands once. Panels that hold all of k stay near that as long as k is not many times sqrt(S).
 */
static void traffic_is_near_the_bound(void)
{
	int passing = 0;

	for (int i = 0; i < 4000 && passing < 300; i++) {
		struct sb_plan_wish wish = {
			.m = pick(2000, 60000),
			.n = pick(2000, 60000),
			.k = pick(500, 40000),
			.trans_a = pick(0, 1),
			.trans_b = pick(0, 1),
			.kernel = sb_registry_find(pick(0, 1) ? "sgemm_bulk_256x128x32"
							      : "sgemm_bulk_128x128x32"),
			.device_bytes = (size_t)1 << pick(28, 33)};
		double m = (double)wish.m, n = (double)wish.n, k = (double)wish.k;
		double room = (double)wish.device_bytes / sizeof(float), once, bound;
		struct sb_plan plan;

		if (k > 1.5 * sqrt(room) || sb_plan_make(&plan, &wish) != SB_OK)
			continue;
		once = (m * k + k * n) * sizeof(float);
		bound = 2 * m * n * k / sqrt(room) * sizeof(float);
		CU_ASSERT(traffic(&plan, &wish) >= 0.999 * once);
		CU_ASSERT(traffic(&plan, &wish) <= 2 * (once > bound ? once : bound));
		passing += !plan.whole;
		sb_plan_free(&plan);
	}
	CU_ASSERT(passing >= 100);
}

static void a_plan_is_a_function_of_the_wish_alone(void)
{
	struct sb_plan_wish wish = random_wish();
	struct sb_plan one, two;

	wish.device_bytes = (size_t)1 << 36;
	CU_ASSERT_EQUAL(sb_plan_make(&one, &wish), SB_OK);
	CU_ASSERT_EQUAL(sb_plan_make(&two, &wish), SB_OK);
	CU_ASSERT_EQUAL_FATAL(one.count, two.count);
	CU_ASSERT_EQUAL(memcmp(one.steps, two.steps, (size_t)one.count * sizeof *one.steps), 0);
	sb_plan_free(&one);
	sb_plan_free(&two);
}

/* The plain kernel's smallest panels fit a fraction of a card even with a very long k. */
static void a_full_panel_of_the_plain_kernel_fits_in_practice(void)
{
	struct sb_plan_wish wish = {.m = 20000,
				    .n = 20000,
				    .k = 1000000,
				    .trans_a = true,
				    .kernel = sb_registry_plain(),
				    .device_bytes = (size_t)1 << 30};
	struct sb_plan plan;

	CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish), SB_OK);
	CU_ASSERT_EQUAL(replay(&plan, &wish), 0);
	sb_plan_free(&plan);
}

static void what_all_lies_on_the_device_is_one_launch(void)
{
	struct sb_plan_wish wish = {.m = 9000,
				    .n = 9000,
				    .k = 9000,
				    .place_a = SB_PLACE_DEVICE,
				    .place_b = SB_PLACE_DEVICE,
				    .place_c = SB_PLACE_DEVICE,
				    .kernel = sb_registry_plain()};
	struct sb_plan plan;

	CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish), SB_OK);
	CU_ASSERT_EQUAL(plan.count, 1);
	CU_ASSERT_EQUAL(plan.device_bytes, 0);
	sb_plan_free(&plan);
}

static void sizes_beyond_31_bits_are_declined(void)
{
	struct sb_plan_wish wish = {.m = (int64_t)1 << 31,
				    .n = 1,
				    .k = 1,
				    .kernel = sb_registry_plain(),
				    .device_bytes = (size_t)1 << 40};
	struct sb_plan plan;

	CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish), SB_DECLINE);
	wish.m = 1;
	wish.k = (int64_t)1 << 40;
	CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish), SB_DECLINE);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"random plans are complete, bounded and ordered",
		 random_plans_are_complete_bounded_and_ordered},
		{"traffic is near the bound", traffic_is_near_the_bound},
		{"a plan is a function of the wish alone", a_plan_is_a_function_of_the_wish_alone},
		{"a full panel of the plain kernel fits in practice",
		 a_full_panel_of_the_plain_kernel_fits_in_practice},
		{"what all lies on the device is one launch",
		 what_all_lies_on_the_device_is_one_launch},
		{"sizes beyond 31 bits are declined", sizes_beyond_31_bits_are_declined},
	};

	return SUITE("plan", tests);
}
