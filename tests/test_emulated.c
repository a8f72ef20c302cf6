/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emulated products carried to the GPU and home: the bits of their oracle, whatever the shape, the
 * plan, the memory and the devices; and the arithmetic that each call says it was done in.
 */
#include "emulated.h"

/* Every transpose, leading dimensions that are odd, several tiles each way, more than one chunk. */
static const struct spiced shapes[] = {
	{{130, 140, 1100, 0, 0, 0, 0, 0, 1, 0}, NO_SPICE},
	{{257, 129, 1030, 1, 0, 1, 2, 3, 1.5f, 0.5f}, FINE_SPREAD},
	{{96, 300, 1024, 0, 1, 3, 0, 1, -1, 0}, WIDE_SPREAD},
	{{270, 270, 1090, 1, 1, 0, 5, 0, 1, -2}, ALL_KINDS},
	{{1, 3, 1027, 0, 0, 1, 1, 1, 1, 1}, NO_SPICE},
	{{33, 40, 4200, 1, 0, 0, 0, 7, 0.5f, 0}, FINE_SPREAD},
	{{140, 260, 700, 0, 1, 0, 3, 2, 1, 1}, ALL_KINDS}, /* too short for the first tier */
	{{150, 60, 40, 0, 0, 0, 0, 0, 1, 0}, NOT_FINITE},
	{{130, 20, 3100, 1, 0, 0, 1, 2, 1.5f, 0.5f}, FINE_SPREAD}, /* k is cut */
};

static struct product_data prepared[COUNT(shapes)], without_planes[COUNT(shapes)];

/* Made before any child is: the oracle takes longer than all else. */
static void prepare(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		prepared[i] = spiced_make(&shapes[i], true);
		without_planes[i] = spiced_make(&shapes[i], false);
	}
}

static void all_right(struct product_data *expected)
{
	CHECK(start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct sb_decision decision;

		enum sb_status status = run_emulated(&expected[i], &decision);

		CHECK(status == SB_OK && decision.manner.arithmetic != SB_STRICT);
	}
}

static void all_shapes(const void *unused)
{
	(void)unused;
	all_right(prepared);
}

static void all_shapes_without_planes(const void *unused)
{
	(void)unused;
	all_right(without_planes);
}

/* All but the longest k, whose panels need most. */
static void most_shapes(const void *unused)
{
	(void)unused;
	CHECK(start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct sb_decision decision;

		if (shapes[i].product.k > 2000)
			continue;
		CHECK(run_emulated(&prepared[i], &decision) == SB_OK);
		CHECK(decision.manner.arithmetic != SB_STRICT);
	}
}

static const char named[] = "SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64 SHIMBLAS_PINNED_MEMORY=2M";

static void every_order_of_a_late_device_gives_the_bits_of_the_oracle(void)
{
	for (int seed = 0; seed < 4; seed++) {
		char text[200];

		snprintf(text, sizeof text, "SB_STAND_IN=seed=%d %s", seed, named);
		CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
	}
}

static void every_plan_gives_them(void)
{
	static const char *const bounds[] = {"DEVICE_MEMORY=64M", "DEVICE_MEMORY=20M", "PANELS=1",
					     "PANELS=2", "PANELS=16"};
	static const char *const tight[] = {"9M", "7M", "6M"};

	for (size_t i = 0; i < COUNT(bounds); i++) {
		char text[200];

		snprintf(text, sizeof text, "SHIMBLAS_%s SB_STAND_IN=seed=%d %s", bounds[i], (int)i,
			 named);
		CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
	}
	for (size_t i = 0; i < COUNT(tight); i++) {
		char text[200];

		snprintf(text, sizeof text, "SHIMBLAS_DEVICE_MEMORY=%s SB_STAND_IN=seed=%d %s",
			 tight[i], (int)i, named);
		CU_ASSERT_EQUAL(in_child(text, most_shapes, NULL), 0);
	}
}

static void any_number_of_devices_gives_them(void)
{
	static const int counts[] = {1, 2, 4};

	for (size_t i = 0; i < COUNT(counts); i++)
		for (int linked = 0; linked < 2; linked++) {
			char text[260];

			snprintf(text, sizeof text,
				 "SB_STAND_IN=devices=%d,nopeer=%d,seed=%d SHIMBLAS_DEVICE=all "
				 "SHIMBLAS_PANELS=%d %s",
				 counts[i], !linked, (int)i, (int)i, named);
			CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
		}
}

static void smaller_tiles_give_them(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_KERNEL=sgemm_fp16x3_64x128x64 SB_STAND_IN=seed=5 "
				 "SHIMBLAS_PINNED_MEMORY=256K",
				 all_shapes, NULL),
			0);
}

static void devices_without_planes_give_those_of_bf16x6(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_KERNEL=sgemm_bf16x6_256x128x16 "
				 "SHIMBLAS_PINNED_MEMORY=256K",
				 all_shapes_without_planes, NULL),
			0);
}

/* The kernels' own source, where that does not take too long. */
static void small_shapes_by_the_kernels(const void *unused)
{
	(void)unused;
	CHECK(start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct sb_decision decision;

		if (shapes[i].product.m * shapes[i].product.n > 10000)
			continue;
		CHECK(run_emulated(&prepared[i], &decision) == SB_OK);
	}
}

static void the_kernels_themselves_give_them(void)
{
	char text[200];

	snprintf(text, sizeof text, "SB_STAND_IN=engine=exact,sms=4 %s", named);
	CU_ASSERT_EQUAL(in_child(text, small_shapes_by_the_kernels, NULL), 0);
}

/* What a call says of itself, by its tiles, where somebody wants to know. */
struct saying {
	size_t shape;
	enum sb_arithmetic arithmetic;
	enum sb_fallback fallback;
	int64_t tiles[SB_ARITHMETICS];
};

static const struct saying sayings[] = {
	{0, SB_FP16X3, SB_FALLBACK_NONE, {[SB_FP16X3] = 4}},
	{1, SB_FP16X3, SB_FALLBACK_GUARD, {[SB_FP16X3] = 4, [SB_BF16X6] = 2}},
	{2, SB_STRICT, SB_FALLBACK_GUARD, {[SB_STRICT] = 3}},
	{3, SB_STRICT, SB_FALLBACK_GUARD, {[SB_FP16X3] = 2, [SB_BF16X6] = 2, [SB_STRICT] = 5}},
	{6, SB_STRICT, SB_FALLBACK_GUARD, {[SB_BF16X6] = 2, [SB_STRICT] = 4}},
};

static void say(const void *unused)
{
	(void)unused;
	CHECK(start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(sayings); i++) {
		const struct saying *s = &sayings[i];
		struct sb_decision decision;

		CHECK(run_emulated(&prepared[s->shape], &decision) == SB_OK);
		if (memcmp(decision.manner.tiles, s->tiles, sizeof s->tiles) != 0)
			fprintf(stderr, "%zu: %s, %s: %d %d %d\n", i,
				sb_arithmetic_word(decision.manner.arithmetic),
				sb_fallback_word(decision.manner.fallback),
				(int)decision.manner.tiles[SB_FP16X3],
				(int)decision.manner.tiles[SB_BF16X6],
				(int)decision.manner.tiles[SB_STRICT]);
		CHECK(decision.manner.arithmetic == s->arithmetic);
		CHECK(decision.manner.fallback == s->fallback);
		CHECK(memcmp(decision.manner.tiles, s->tiles, sizeof s->tiles) == 0);
	}
}

static void a_call_says_which_tiles_fell_back(void)
{
	char text[300];

	snprintf(text, sizeof text, "SHIMBLAS_VERBOSE=1 SHIMBLAS_LOGFILE=/dev/null %s", named);
	CU_ASSERT_EQUAL(in_child(text, say, NULL), 0);
	snprintf(text, sizeof text,
		 "SHIMBLAS_REPORT=/dev/null SB_STAND_IN=devices=2 SHIMBLAS_DEVICE=all "
		 "SHIMBLAS_DEVICE_MEMORY=20M %s",
		 named);
	CU_ASSERT_EQUAL(in_child(text, say, NULL), 0);
}

/* Why a call of one shape is not emulated at all, or not in the first tier, and its kernel. */
struct refusal {
	const char *environment;
	size_t shape;
	bool strict;
	enum sb_fallback why;
	const char *kernel;
};

static void be_refused(const void *argument)
{
	const struct refusal *r = argument;
	struct product_data strict = product_make(&shapes[r->shape].product);
	struct sb_decision decision;

	CHECK(start() == SB_HEALTH_READY);
	CHECK(run_emulated(r->strict ? &strict : &prepared[r->shape], &decision) == SB_OK);
	CHECK(decision.manner.fallback == r->why);
	CHECK((decision.manner.arithmetic == SB_STRICT) == r->strict);
	CHECK(strncmp(decision.kernel, r->kernel, strlen(r->kernel)) == 0);
	product_free(&strict);
}

static void a_call_says_why_it_is_not_emulated(void)
{
	static const struct refusal refusals[] = {
		{"A=1", 4, true, SB_FALLBACK_FASTER, "sgemm_"},
		{"SB_STAND_IN=cc=75", 0, true, SB_FALLBACK_NO_KERNEL, "sgemm_"},
		{"SB_STAND_IN=cc=100", 0, true, SB_FALLBACK_NO_KERNEL, "sgemm_"},
		{"SHIMBLAS_KERNEL=sgemm_plain_64x64x16", 0, true, SB_FALLBACK_NAMED, "sgemm_plain"},
		{"SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64", 6, false, SB_FALLBACK_SHORT,
		 "sgemm_bf16x6_"},
	};

	for (size_t i = 0; i < COUNT(refusals); i++) {
		int failures = in_child(refusals[i].environment, be_refused, &refusals[i]);

		if (failures)
			fprintf(stderr, "with %s\n", refusals[i].environment);
		CU_ASSERT_EQUAL(failures, 0);
	}
}

static void in_place(const void *unused)
{
	(void)unused;
	CHECK(start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(shapes); i++)
		run_in_place(&prepared[i]);
}

static void operands_on_the_device_give_them(void)
{
	CU_ASSERT_EQUAL(in_child(named, in_place, NULL), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=seed=3 SHIMBLAS_DEVICE_MEMORY=20M "
				 "SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64",
				 in_place, NULL),
			0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"every order of a late device gives the bits of the oracle",
		 every_order_of_a_late_device_gives_the_bits_of_the_oracle},
		{"every plan gives them", every_plan_gives_them},
		{"any number of devices gives them", any_number_of_devices_gives_them},
		{"smaller tiles give them", smaller_tiles_give_them},
		{"devices without planes give those of bf16x6",
		 devices_without_planes_give_those_of_bf16x6},
		{"the kernels themselves give them", the_kernels_themselves_give_them},
		{"operands on the device give them", operands_on_the_device_give_them},
		{"a call says which tiles fell back", a_call_says_which_tiles_fell_back},
		{"a call says why it is not emulated", a_call_says_why_it_is_not_emulated},
	};

	/* A real device has one engine and no orders to try; it may be the only one. */
	const struct suite_case real[] = {
		{"every plan gives the bits of the oracle", every_plan_gives_them},
		{"smaller tiles give them", smaller_tiles_give_them},
		{"devices without planes give those of bf16x6",
		 devices_without_planes_give_those_of_bf16x6},
		{"operands on the device give them", operands_on_the_device_give_them},
		{"a call says which tiles fell back", a_call_says_which_tiles_fell_back},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	prepare();
	if (!child_driver_is_stand_in())
		return SUITE("emulated", real);
	return SUITE("emulated", tests);
}
