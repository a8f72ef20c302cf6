/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of random calls cut over one to eight devices: every element of C is computed once,
 * what is common to linked devices comes up once, and nothing is used before it is there.
 */
#include "suite.h"

#include <stdint.h>
#include <string.h>

#include "plan_split.h"
#include "split_replay.h"

static uint32_t state = 4711;

static int64_t pick(int64_t least, int64_t most)
{
	state = state * 1664525u + 1013904223u;
	return least + (int64_t)(state >> 4) % (most - least + 1);
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

static const struct sb_target hopper = {90, 132, 232448, true, SB_LIE_COPIED, SB_LIE_COPIED};

/* Shares of an emulated product are cut on borders of its tiles. */
static void emulate(struct sb_split_wish *wish, struct sb_tiers *tiers)
{
	enum sb_fallback why;

	(void)sb_registry_pick_tiers(wish->call.m, wish->call.n, wish->call.k, &hopper, tiers,
				     &why);
	wish->call.tiers = tiers;
	wish->call.kernel = sb_registry_first(tiers);
	wish->call.pace = (struct sb_plan_pace){45e9, 40e9, 132};
}

static void random_shares_are_complete_bounded_and_ordered(void)
{
	int made = 0, linked = 0, many = 0;

	for (int i = 0; i < 3000; i++) {
		struct sb_split_wish wish = random_wish();
		struct sb_split split;
		struct sb_tiers tiers;
		enum sb_status status;
		int wrong;

		if (i % 3 == 0)
			emulate(&wish, &tiers);
		status = sb_split_make(&split, &wish);
		CU_ASSERT(status == SB_OK || status == SB_NO_MEMORY);
		if (status != SB_OK)
			continue;
		wrong = split_replay(&split, &wish);
		for (int d = 0; i % 3 == 0 && d < split.count; d++)
			wrong += split.shares[d].i0 % 128 != 0 || split.shares[d].j0 % 128 != 0;
		if (wrong)
			fprintf(stderr, "call %d: %d devices\n", i, split.count);
		CU_ASSERT_EQUAL(wrong, 0);
		made++;
		many += split.count > 1;
		linked += split.count > 1 && wish.linked && split_all_whole(&split);
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
		const struct sb_step *first = &plan->steps[split_next_of(plan, SB_STREAM_UP, 0)];

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
