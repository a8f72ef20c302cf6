/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound of a call, against the formula by hand. */
#include "bound.h"
#include "suite.h"

static const struct sb_wire wire = {.up = 50, .down = 40, .both = 30};

static struct sb_step up(int64_t count)
{
	return (struct sb_step){.kind = SB_STEP_UP, .depth = 10, .count = count};
}

static struct sb_step block(enum sb_step_kind kind, int64_t m, int64_t n)
{
	return (struct sb_step){.kind = kind, .m = m, .n = n};
}

static bool near(double a, double b)
{
	return a > b * (1 - 1e-12) && a < b * (1 + 1e-12);
}

/* k = 10: a row is 40 bytes. */
static struct sb_step steps[] = {
	{.kind = SB_STEP_CLEAR},
	{.kind = SB_STEP_UP, .depth = 10, .count = 3},
	{.kind = SB_STEP_PACK},
	{.kind = SB_STEP_UP, .depth = 10, .count = 2},
	{.kind = SB_STEP_GEMM, .m = 3, .n = 2},
	{.kind = SB_STEP_DOWN, .m = 3, .n = 2},
	{.kind = SB_STEP_UP, .depth = 10, .count = 6},
	{.kind = SB_STEP_GEMM, .m = 6, .n = 2},
	{.kind = SB_STEP_DOWN, .m = 6, .n = 2},
};

static void the_first_panels_and_the_last_block_come_on_top(void)
{
	struct sb_plan plan = {.steps = steps, .count = sizeof steps / sizeof *steps};
	struct sb_bound b = sb_bound(&plan, &wire, 100);

	CU_ASSERT_EQUAL(b.bytes_up, 440);
	CU_ASSERT_EQUAL(b.bytes_down, 72);
	CU_ASSERT(near(b.wire, 72 / 30.0 + (440 - 72) / 50.0));
	CU_ASSERT(near(b.in, 200 / 50.0));
	CU_ASSERT(near(b.out, 48 / 40.0));
	CU_ASSERT(near(b.seconds, 100 + b.in + b.out));
	b = sb_bound(&plan, &wire, 1);
	CU_ASSERT(near(b.seconds, b.wire + b.in + b.out));
}

static void more_may_come_down_than_goes_up(void)
{
	struct sb_step few[] = {up(1), block(SB_STEP_GEMM, 10, 10), block(SB_STEP_DOWN, 10, 10)};
	struct sb_plan plan = {.steps = few, .count = 3};

	CU_ASSERT(near(sb_bound(&plan, &wire, 0).wire, 40 / 30.0 + 360 / 40.0));
}

static void what_lies_on_the_device_crosses_no_wire(void)
{
	struct sb_step one[] = {block(SB_STEP_GEMM, 10, 10)};
	struct sb_plan plan = {.steps = one, .count = 1};

	CU_ASSERT_EQUAL(sb_bound(&plan, &wire, 7).seconds, 7);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"the first panels and the last block come on top",
		 the_first_panels_and_the_last_block_come_on_top},
		{"more may come down than goes up", more_may_come_down_than_goes_up},
		{"what lies on the device crosses no wire",
		 what_lies_on_the_device_crosses_no_wire},
	};

	return SUITE("bound", tests);
}
