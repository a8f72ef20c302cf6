/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of dependency in a plan is needed: taken away, it lets a device that is as late or as
 * perverse as streams permit compute something else.
 */
#include "child.h"

#include <inttypes.h>

#include "arena.h"
#include "carry.h"
#include "launch.h"
#include "process.h"
#include "product.h"
#include "start.h"
#include "transfer.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A dependency of a step of one kind on an earlier one of another. */
struct edge {
	enum sb_step_kind on, of;
	int trans_a, trans_b;
	const char *kernel;
	int removed; /* or else the run is the control: right with every seed */
	int whole;   /* a plan in which everything stays */
};

/* 4 panels of A, 3 of B, all passing through few slots. */
static const struct product shape = {500, 380, 90, 0, 0, 1, 2, 3, 1, 0};

static int remove_edges(struct sb_plan *plan, const struct edge *edge)
{
	int removed = 0;

	for (int i = 0; i < plan->count; i++)
		for (int n = 0; n < SB_STEP_NEEDS && plan->steps[i].needs[n] >= 0;) {
			struct sb_step *step = &plan->steps[i];
			const struct sb_step *earlier = &plan->steps[step->needs[n]];

			if (step->kind != edge->of || earlier->kind != edge->on ||
			    step->stream == earlier->stream) {
				n++;
				continue;
			}
			memmove(&step->needs[n], &step->needs[n + 1],
				(size_t)(SB_STEP_NEEDS - 1 - n) * sizeof(int));
			step->needs[SB_STEP_NEEDS - 1] = -1;
			removed++;
		}
	return removed;
}

/* Moves C and its guards into pinned memory. */
static int pin(struct sb_device *device, struct product_data *d)
{
	void *pinned;

	if (device->cu->host_alloc(&pinned, d->c_count * sizeof(float), 0) != SB_CU_SUCCESS)
		return 0;
	memcpy(pinned, d->c, d->c_count * sizeof(float));
	d->call.c = (float *)pinned + ((float *)d->call.c - d->c);
	free(d->c);
	d->c = pinned;
	return 1;
}

static void carry(const void *argument)
{
	const struct edge *edge = argument;
	struct product p = shape;
	struct product_data d;
	struct sb_plan plan;
	struct sb_carry c;
	struct sb_visit visit;
	enum sb_status status;
	bool right;

	p.trans_a = edge->trans_a;
	p.trans_b = edge->trans_b;
	d = product_make(&p);
	if (child_start() != SB_HEALTH_READY)
		exit(3);
	c = (struct sb_carry){.device = sb_device(),
			      .call = &d.call,
			      .kernel = sb_registry_find(edge->kernel),
			      .plan = &plan,
			      .patience = 5};
	struct sb_plan_wish wish = {.m = p.m,
				    .n = p.n,
				    .k = p.k,
				    .trans_a = p.trans_a,
				    .trans_b = p.trans_b,
				    .kernel = c.kernel,
				    .device_bytes = strstr(edge->kernel, "bulk") ? 500000 : 330000,
				    .panels = 3};

	if (edge->whole)
		wish.device_bytes = 64 << 20;
	sb_device_take(c.device, 1);
	/* Through the ring a block is down before the next step; directly it only is on its way. */
	c.direct = edge->on == SB_STEP_DOWN;
	if (sb_device_enter(c.device, &visit) != SB_OK || !pin(c.device, &d) ||
	    sb_launch_prepare(c.device, c.kernel) != SB_OK || sb_ring_prepare(c.device) != SB_OK ||
	    sb_plan_make(&plan, &wish) != SB_OK ||
	    sb_arena_take(c.device, plan.device_bytes, &c.base) != SB_OK)
		exit(3);
	if (edge->removed && !remove_edges(&plan, edge))
		exit(3);
	status = sb_carry_out(&c, 1);
	sb_plan_free(&plan);
	right = status == SB_OK && product_right(&d);
	d.c = NULL; /* stays pinned */
	product_free(&d);
	exit(right ? 0 : 1);
}

/*
 * Was the result wrong with one of the first `seeds` seeds? -1 if a run could not be made at all.
 */
static int wrong(const struct edge *edge, int seeds)
{
	int count = 0;

	for (int seed = 0; seed < seeds && !count; seed++) {
		char text[100];
		int result;

		snprintf(text, sizeof text, "SB_STAND_IN=abort=0,seed=%d SHIMBLAS_PINNED_MEMORY=1M",
			 seed);
		result = in_child(text, carry, edge);
		if (result == 3)
			return -1;
		count += result != 0;
	}
	return count;
}

static void each_kind_of_dependency_is_needed(void)
{
	static const char bulk[] = "sgemm_bulk_256x128x32", plain[] = "sgemm_plain_64x64x16";
	static const struct edge edges[] = {
		{SB_STEP_UP, SB_STEP_GEMM, 0, 1, plain, 1, 0},
		{SB_STEP_GEMM, SB_STEP_UP, 0, 1, plain, 1, 0},
		{SB_STEP_GEMM, SB_STEP_DOWN, 0, 1, plain, 1, 0},
		{SB_STEP_DOWN, SB_STEP_GEMM, 0, 1, plain, 1, 0},
		{SB_STEP_GEMM, SB_STEP_CLEAR, 0, 1, bulk, 1, 0},
		{SB_STEP_UP, SB_STEP_PACK, 1, 0, bulk, 1, 0},
		{SB_STEP_PACK, SB_STEP_UP, 1, 0, bulk, 1, 0},
		{SB_STEP_PACK, SB_STEP_GEMM, 1, 0, bulk, 1, 0},
		{SB_STEP_GEMM, SB_STEP_PACK, 1, 0, bulk, 1, 0},
		{SB_STEP_UP, SB_STEP_GEMM, 0, 1, plain, 1, 1},
		{SB_STEP_GEMM, SB_STEP_DOWN, 0, 1, plain, 1, 1},
		{SB_STEP_UP, SB_STEP_PACK, 1, 0, bulk, 1, 1},
		{SB_STEP_PACK, SB_STEP_GEMM, 1, 0, bulk, 1, 1},
	};

	for (size_t i = 0; i < COUNT(edges); i++) {
		struct edge whole = edges[i];
		int count;

		whole.removed = 0;
		CU_ASSERT_EQUAL(wrong(&whole, 5), 0);
		/* Which seed it is depends on how fast the copy threads are. */
		count = wrong(&edges[i], 200);
		if (count <= 0)
			fprintf(stderr, "edge %zu: %d\n", i, count);
		CU_ASSERT(count > 0);
	}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"each kind of dependency is needed", each_kind_of_dependency_is_needed},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("carry", tests);
}
