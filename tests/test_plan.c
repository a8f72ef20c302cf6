/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of thousands of random calls: every block once, in bounds, nothing used before its time. */
#include "child.h"

#include <malloc.h>
#include <math.h>
#include <stdint.h>

#include "args.h"
#include "plan_replay.h"

static uint32_t state = 12345;

static int64_t pick(int64_t least, int64_t most)
{
	state = state * 1664525u + 1013904223u;
	return least + (int64_t)(state >> 4) % (most - least + 1);
}

static const struct sb_target hopper = {90, 132, 232448, true, SB_LIE_COPIED, SB_LIE_COPIED};
static const struct sb_target ampere = {80, 108, 166912, true, SB_LIE_COPIED, SB_LIE_COPIED};

/* The tiers of a device, for a k: with planes or without. */
static void emulate(struct sb_plan_wish *wish, const struct sb_target *target,
		    struct sb_tiers *tiers)
{
	enum sb_fallback why;

	(void)sb_registry_pick_tiers(wish->m, wish->n, wish->k, target, tiers, &why);
	CU_ASSERT(why != SB_FALLBACK_NO_KERNEL);
	wish->tiers = tiers;
	wish->kernel = sb_registry_first(tiers);
	wish->pace = (struct sb_plan_pace){45e9, 40e9, target->multiprocessors};
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
		.maps_a = pick(0, 1),
		.maps_b = pick(0, 1),
		.kernel = sb_registry_row((int)pick(0, sb_registry_count() - 1)),
		.device_bytes = (size_t)1 << pick(20, 36),
		.panels = pick(0, 3) ? 0 : (int)pick(1, 20),
	};
}

static void random_plans_are_complete_bounded_and_ordered(void)
{
	const int tried = suite_sanitized() ? 500 : 2500;
	int made = 0, refused = 0;

	for (int i = 0; i < tried; i++) {
		struct sb_plan_wish wish = random_wish();
		struct sb_plan plan;
		enum sb_status status = sb_plan_make(&plan, &wish);

		CU_ASSERT(status == SB_OK || status == SB_NO_MEMORY);
		if (status == SB_OK) {
			CU_ASSERT_EQUAL(plan_replay(&plan, &wish), 0);
			sb_plan_free(&plan);
			made++;
		} else {
			refused++;
		}
	}
	CU_ASSERT(made > tried * 12 / 25 && refused > tried / 125);
}

static void random_plans_of_emulated_products_are_too(void)
{
	/* Those that cut k have many steps. */
	const int tried = suite_sanitized() ? 500 : 2500;
	int made = 0, refused = 0, whole = 0, flagged = 0, cut = 0, longer = 0;

	for (int i = 0; i < tried; i++) {
		struct sb_plan_wish wish = random_wish();
		struct sb_tiers tiers;
		struct sb_plan plan;
		enum sb_status status;
		int wrong;

		emulate(&wish, i % 3 ? &hopper : &ampere, &tiers);
		status = sb_plan_make(&plan, &wish);
		CU_ASSERT(status == SB_OK || status == SB_NO_MEMORY);
		if (status != SB_OK) {
			refused++;
			continue;
		}
		wrong = plan_replay(&plan, &wish);
		if (wrong)
			fprintf(stderr, "call %d\n", i);
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT(plan.run == wish.k || plan.run == tiers.chunk);
		cut += plan.run < wish.k;
		longer += plan.run < wish.k && plan.run > SB_CHUNK_LEAST;
		whole += plan.whole;
		flagged += !plan.split;
		sb_plan_free(&plan);
		made++;
	}
	CU_ASSERT(made > tried / 2 && refused > tried / 125);
	CU_ASSERT(whole > tried / 6 && made - whole > tried / 25);
	CU_ASSERT(flagged > tried / 8 && flagged < made - tried / 8);
	CU_ASSERT(cut > tried / 50 && longer > tried / 250);
}

/* Fewer steps for the wire to wait for, or wider ones to fill the device: as the pace has it. */
static void panels_of_emulated_products_follow_the_pace(void)
{
	struct sb_plan_wish wish = {
		.m = 8192, .n = 8192, .k = 8192, .device_bytes = (size_t)1 << 36};
	struct sb_tiers tiers;
	struct sb_plan plan;
	double best, other;
	int panels;

	emulate(&wish, &hopper, &tiers);
	panels = sb_plan_panels(&wish);
	CU_ASSERT(panels >= 8);
	CU_ASSERT_EQUAL_FATAL(sb_plan_make(&plan, &wish), SB_OK);
	best = sb_plan_seconds(&plan, &wish);
	CU_ASSERT_EQUAL(plan.operands[SB_OPERAND_A].panels, panels);
	sb_plan_free(&plan);
	wish.panels = 1;
	CU_ASSERT_EQUAL_FATAL(sb_plan_make(&plan, &wish), SB_OK);
	other = sb_plan_seconds(&plan, &wish);
	CU_ASSERT(best < 0.8 * other);
	sb_plan_free(&plan);
	/* With nothing to bring and nothing to fetch, few. */
	wish.panels = 0;
	wish.place_a = wish.place_b = wish.place_c = SB_PLACE_DEVICE;
	CU_ASSERT(sb_plan_panels(&wish) <= panels / 2);
	wish.m = wish.n = wish.k = 2048;
	CU_ASSERT(sb_plan_panels(&wish) <= 2);
}

/* Bytes that cross the wire upwards. */
static double traffic(const struct sb_plan *plan)
{
	double elements = 0;

	for (int i = 0; i < plan->count; i++)
		if (plan->steps[i].kind == SB_STEP_UP)
			elements += (double)plan->steps[i].count * (double)plan->steps[i].depth;
	return elements * sizeof(float);
}

/*
 * In memory of S elements no order of the work moves less than 2mnk/sqrt(S), nor less than both
 * operands once. How many of the plans cut k.
 */
static int traffic_is_near(struct sb_plan_wish *wish, int *passing)
{
	double m = (double)wish->m, n = (double)wish->n, k = (double)wish->k;
	double once = (m * k + k * n) * sizeof(float), bound;
	struct sb_plan plan;
	int cut;

	bound = 2 * m * n * k / sqrt((double)wish->device_bytes / sizeof(float)) * sizeof(float);
	if (sb_plan_make(&plan, wish) != SB_OK)
		return 0;
	CU_ASSERT(traffic(&plan) >= 0.999 * once);
	CU_ASSERT(traffic(&plan) <= 2 * (once > bound ? once : bound));
	CU_ASSERT_EQUAL(plan_replay(&plan, wish), 0);
	cut = plan.run < wish->k;
	*passing += !plan.whole;
	sb_plan_free(&plan);
	return cut;
}

static void traffic_is_near_the_bound(void)
{
	static const char *const kernels[] = {"sgemm_bulk_256x128x32", "sgemm_bulk_128x128x32",
					      "sgemm_persistent_256x128x32",
					      "sgemm_plain_64x64x16"};
	const int wanted = suite_sanitized() ? 120 : 600;
	int passing = 0, cut = 0;

	for (int i = 0; i < 4000 && passing < wanted; i++) {
		double root;
		struct sb_plan_wish wish = {.m = pick(2000, 60000),
					    .n = pick(2000, 60000),
					    .trans_a = pick(0, 1),
					    .trans_b = pick(0, 1),
					    .kernel = sb_registry_find(kernels[pick(0, 3)]),
					    .device_bytes = (size_t)1 << pick(28, 33)};

		/* From much less than the root of S to a hundred times as much. */
		root = sqrt((double)wish.device_bytes / sizeof(float));
		wish.k = (int64_t)(root * exp((double)pick(-400, 460) / 100));
		cut += traffic_is_near(&wish, &passing);
	}
	CU_ASSERT(passing >= wanted && cut >= wanted / 6 && cut < passing - wanted / 6);
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
	CU_ASSERT_EQUAL(plan_replay(&plan, &wish), 0);
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

/* Kernels that read maps need no panel of what maps can be made of; others do, and emulated ones.
 */
static void panels_are_not_made_of_what_maps_can_be_made_of(void)
{
	struct sb_plan_wish wish = {.m = 9000,
				    .n = 8999,
				    .k = 777,
				    .trans_b = true,
				    .place_a = SB_PLACE_DEVICE,
				    .place_b = SB_PLACE_DEVICE,
				    .place_c = SB_PLACE_DEVICE,
				    .maps_a = true,
				    .maps_b = true,
				    .device_bytes = (size_t)1 << 34,
				    .kernel = sb_registry_find("sgemm_bulk_128x128x32")};
	struct sb_plan plan;

	CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish), SB_OK);
	CU_ASSERT_EQUAL(plan.count, 1);
	sb_plan_free(&plan);
	for (int i = 0; i < 4; i++) {
		wish.trans_a = i == 0;
		wish.trans_b = i != 1;
		wish.maps_a = i != 2;
		wish.kernel = sb_registry_find(i == 3 ? "sgemm_multistage_128x128x32"
						      : "sgemm_bulk_128x128x32");
		CU_ASSERT_EQUAL(sb_plan_make(&plan, &wish), SB_OK);
		CU_ASSERT_EQUAL(plan_replay(&plan, &wish), 0);
		CU_ASSERT_EQUAL(plan.operands[SB_OPERAND_A].way,
				i == 1 ? SB_WAY_IN_PLACE : SB_WAY_PACKED);
		CU_ASSERT_EQUAL(plan.operands[SB_OPERAND_B].way,
				i == 0 || i == 2 ? SB_WAY_IN_PLACE : SB_WAY_PACKED);
		sb_plan_free(&plan);
	}
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
		{"random plans of emulated products are too",
		 random_plans_of_emulated_products_are_too},
		{"panels of emulated products follow the pace",
		 panels_of_emulated_products_follow_the_pace},
		{"traffic is near the bound", traffic_is_near_the_bound},
		{"a plan is a function of the wish alone", a_plan_is_a_function_of_the_wish_alone},
		{"a full panel of the plain kernel fits in practice",
		 a_full_panel_of_the_plain_kernel_fits_in_practice},
		{"what all lies on the device is one launch",
		 what_all_lies_on_the_device_is_one_launch},
		{"panels are not made of what maps can be made of",
		 panels_are_not_made_of_what_maps_can_be_made_of},
		{"sizes beyond 31 bits are declined", sizes_beyond_31_bits_are_declined},
	};

	/* Steps take a hundred megabytes now and then, which then need not be cleared each time. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 1 << 28);
	return SUITE("plan", tests);
}
