/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operands on the device, in pinned and in managed memory, in every mixture, called as programs
 * call: the answer is right and nothing around it touched, whoever can give it. Device memory is
 * sealed: the CPU faults where it looks. The values are small whole numbers, so that every side
 * and every order of summation gives the same bits.
 */
#include "child.h"

#include "device_program.h"
#include "shimblas.h"

static void expect_side(const char *side, const char *reason)
{
	__typeof__(&shimblas_last_decision) last_decision;
	struct shimblas_decision last = {.size = sizeof last};

	*(void **)&last_decision = suite_symbol("shimblas_last_decision");
	CHECK(last_decision(&last) == 0);
	if (strcmp(last.side, side) != 0 || (reason && strcmp(last.reason, reason) != 0)) {
		fprintf(stderr, "    answered by %s (%s), not %s (%s)\n", last.side, last.reason,
			side, reason ? reason : "any");
		child_failures++;
	}
}

struct wanted {
	const char *side, *reason;
	enum lies places[4]; /* of each operand; ends with NOWHERE */
};

static const struct shape shapes[] = {
	{.m = 130, .n = 129, .k = 131, .alpha = 2, .beta = 0},
	{.m = 141, .n = 150, .k = 128, .trans_a = 1, .gap = 3, .alpha = -1, .beta = 1},
	{.m = 129, .n = 133, .k = 140, .trans_b = 1, .gap = 5, .alpha = 1, .beta = 2},
	{.m = 128, .n = 160, .k = 129, .trans_a = 1, .trans_b = 1, .gap = 1, .alpha = 1, .beta = 0},
};

static int next_place(const enum lies *places, int index)
{
	return places[index + 1] == NOWHERE ? 0 : index + 1;
}

/* Every mixture of the wanted places, each with one of the shapes. */
static void all_mixtures(const void *argument)
{
	const struct wanted *w = argument;
	int at[3] = {0}, round = 0;

	program_start();
	do {
		struct shape shape = shapes[round++ % 4];
		bool device = false;

		for (int i = 0; i < 3; i++) {
			shape.lies[i] = w->places[at[i]];
			device = device || shape.lies[i] >= DEVICE;
		}
		CHECK(program_multiplies(&shape) == RIGHT);
		if (device)
			expect_side(w->side, w->reason);
		for (int i = 0; i < 3 && (at[i] = next_place(w->places, at[i])) == 0; i++)
			;
	} while (at[0] || at[1] || at[2]);
}

static const struct wanted by_gpu = {"gpu", NULL, {PAGEABLE, PINNED, DEVICE, NOWHERE}};
static const struct wanted by_gpu_managed = {"gpu", NULL, {MANAGED, DEVICE, NOWHERE}};

static void the_gpu_answers_every_mixture(void)
{
	static const char *const kernels[] = {"sgemm_plain_64x64x16", "sgemm_bulk_256x128x32",
					      "sgemm_double_128x128x16"};
	char text[200];

	for (int seed = 0; seed < 3; seed++) {
		snprintf(text, sizeof text,
			 "SB_STAND_IN=sealed,seed=%d SHIMBLAS_MODE=gpu SHIMBLAS_KERNEL=%s", seed,
			 kernels[seed]);
		CU_ASSERT_EQUAL(in_child(text, all_mixtures, &by_gpu), 0);
		CU_ASSERT_EQUAL(in_child(text, all_mixtures, &by_gpu_managed), 0);
	}
	/* Little memory: panels pass by. */
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=sealed SHIMBLAS_MODE=gpu SHIMBLAS_DEVICE_MEMORY=400K "
				 "SHIMBLAS_PINNED_MEMORY=128K",
				 all_mixtures, &by_gpu),
			0);
}

static void where_the_program_started_cuda_the_gpu_answers_at_once(void)
{
	static const struct wanted device = {"gpu", NULL, {DEVICE, PAGEABLE, NOWHERE}};

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=sealed", all_mixtures, &device), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=sealed SHIMBLAS_MODE=check", all_mixtures, &device),
			0);
	CU_ASSERT_EQUAL(
		in_child("SB_STAND_IN=sealed SHIMBLAS_REPRODUCIBLE=1", all_mixtures, &device), 0);
}

static void where_the_cpu_must_answer_they_are_staged(void)
{
	static const struct {
		const char *environment;
		struct wanted wanted;
	} rows[] = {
		{"SB_STAND_IN=sealed SHIMBLAS_MODE=cpu",
		 {"cpu", "forced", {PAGEABLE, PINNED, DEVICE, NOWHERE}}},
		{"SB_STAND_IN=sealed,from=module_load:1 SHIMBLAS_MODE=gpu",
		 {"cpu", "no-image", {PAGEABLE, PINNED, DEVICE, NOWHERE}}},
		{"SB_STAND_IN=sealed,from=launch:1:INVALID_VALUE SHIMBLAS_MODE=gpu",
		 {"cpu", "declined", {PAGEABLE, PINNED, DEVICE, NOWHERE}}},
		{"SB_STAND_IN=sealed,devices=2 SHIMBLAS_MODE=gpu",
		 {"cpu", "declined", {ANOTHER, NOWHERE}}},
		{"SB_STAND_IN=sealed,devices=2,seed=1", {"cpu", "declined", {ANOTHER, NOWHERE}}},
	};

	/* A real device has no faults to order, and may be the only one. */
	for (size_t i = 0; i < (child_driver_is_stand_in() ? sizeof rows / sizeof *rows : 1); i++) {
		int failures = in_child(rows[i].environment, all_mixtures, &rows[i].wanted);

		if (failures)
			fprintf(stderr, "with %s: %d\n", rows[i].environment, failures);
		CU_ASSERT_EQUAL(failures, 0);
	}
}

/* Plans that need memory beside operands in place: C on the device takes none. */
static void short_of_memory(const void *unused)
{
	struct shape shape = shapes[1];

	(void)unused;
	program_start();
	shape.lies[0] = DEVICE;
	CHECK(program_multiplies(&shape) == RIGHT);
	expect_side("cpu", "memory");
	shape.lies[0] = PAGEABLE;
	shape.lies[2] = DEVICE;
	CHECK(program_multiplies(&shape) == RIGHT);
	expect_side("cpu", "memory");
}

/* The device fails in the middle: of C in place, some blocks have been computed, once. */
static void fails_half_way(const void *unused)
{
	struct shape shape = {.m = 300, .n = 200, .k = 130, .gap = 3, .alpha = 1, .beta = 2};

	(void)unused;
	program_start();
	shape.lies[0] = shape.lies[2] = DEVICE;
	CHECK(program_multiplies(&shape) == RIGHT);
	expect_side("cpu", NULL);
	shape.lies[0] = PAGEABLE;
	CHECK(program_multiplies(&shape) == RIGHT);
}

static void what_the_gpu_leaves_the_cpu_computes(void)
{
	static const char little[] = "SHIMBLAS_MODE=gpu SHIMBLAS_DEVICE_MEMORY=70K "
				     "SHIMBLAS_KERNEL=sgemm_plain_64x64x16";
	char text[200];

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=sealed SHIMBLAS_MODE=gpu SHIMBLAS_DEVICE_MEMORY=1K",
				 short_of_memory, NULL),
			0);
	for (int n = 2; n <= 4; n++) {
		snprintf(text, sizeof text, "SB_STAND_IN=sealed,seed=%d,fail=launch:%d %s", n, n,
			 little);
		CU_ASSERT_EQUAL(in_child(text, fails_half_way, NULL), 0);
	}
}

/* Argument combinations that never are work for the GPU, and yet must not reach the backend. */
static void quick_returns(const void *unused)
{
	struct shape shape = shapes[1];

	(void)unused;
	program_start();
	shape.lies[0] = shape.lies[1] = shape.lies[2] = DEVICE;
	shape.alpha = 0;
	CHECK(program_multiplies(&shape) == RIGHT);
	expect_side("cpu", "invalid");
	shape.alpha = 1;
	shape.k = 0;
	CHECK(program_multiplies(&shape) == RIGHT);
	shape.n = 0;
	CHECK(program_multiplies(&shape) == RIGHT);
}

static void quick_returns_are_staged_too(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=sealed SHIMBLAS_MODE=gpu", quick_returns, NULL), 0);
}

/* The program's own stream still writes A when the product is called. */
static void late_operand(const void *unused)
{
	struct shape shape = shapes[0];

	(void)unused;
	program_start();
	shape.late = true;
	shape.lies[0] = shape.lies[1] = shape.lies[2] = DEVICE;
	CHECK(program_multiplies(&shape) == RIGHT);
	for (int i = 0; i < 3; i++) {
		shape.lies[1] = i & 1 ? DEVICE : PAGEABLE;
		shape.lies[2] = i & 2 ? DEVICE : PAGEABLE;
		CHECK(program_multiplies(&shape) == RIGHT);
	}
}

static void late_on_another(const void *unused)
{
	struct shape shape = shapes[0];

	(void)unused;
	program_start();
	shape.late = true;
	shape.lies[0] = ANOTHER;
	for (int i = 0; i < 4; i++)
		CHECK(program_multiplies(&shape) == RIGHT);
}

static void what_the_program_has_queued_comes_first(void)
{
	char text[120];

	for (int seed = 0; seed < 4; seed++)
		for (int side = 0; side < 2; side++) {
			snprintf(text, sizeof text, "SB_STAND_IN=sealed,seed=%d SHIMBLAS_MODE=%s",
				 seed, side ? "gpu" : "cpu");
			CU_ASSERT_EQUAL(in_child(text, late_operand, NULL), 0);
		}
}

static void nor_does_another_device_hurry(void)
{
	CU_ASSERT_EQUAL(
		in_child("SB_STAND_IN=sealed,devices=2 SHIMBLAS_MODE=gpu", late_on_another, NULL),
		0);
}

/* A lost device with operands on it: nobody can answer, nobody crashes, C stays. */
static void lost(const void *unused)
{
	struct shape shape = shapes[1];

	(void)unused;
	program_start();
	shape.lies[0] = shape.lies[1] = shape.lies[2] = DEVICE;
	CHECK(program_multiplies(&shape) == UNREACHABLE);
	expect_side("cpu", "lost");
	/* Nothing can be allocated there any more; an address that is shut is as good. */
	shape.lies[0] = shape.lies[1] = shape.lies[2] = SHUT;
	CHECK(program_multiplies(&shape) == UNREACHABLE);
	expect_side("cpu", "lost");
	for (int i = 0; i < 3; i++)
		shape.lies[i] = PAGEABLE;
	CHECK(program_multiplies(&shape) == RIGHT);
	/* C in host memory is as it was. */
	shape.lies[0] = SHUT;
	CHECK(program_multiplies(&shape) == UNTOUCHED);
}

static int lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	int lines = 0, c;

	while (file && (c = getc(file)) != EOF)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

static void a_lost_device_takes_them_along(void)
{
	static const char *const faults[] = {"lose=launch:1", "crash=launch:1",
					     "lose=event_record:1", "lose=pointer_attributes:1",
					     "lose=capture_mode:3"};
	char text[300], log[200];

	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		for (int mode = 0; mode < 2; mode++) {
			snprintf(log, sizeof log, "%s/lost-%zu-%d", suite_scratch(), i, mode);
			snprintf(text, sizeof text,
				 "SB_STAND_IN=sealed,%s SHIMBLAS_MODE=%s SHIMBLAS_LOGFILE=%s",
				 faults[i], mode ? "gpu" : "auto", log);
			CU_ASSERT_EQUAL(in_child(text, lost, NULL), 0);
			/* One that the device is lost, one that products are left undone. */
			CU_ASSERT_EQUAL(lines_of(log), 2);
		}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"the GPU answers every mixture", the_gpu_answers_every_mixture},
		{"where the program started CUDA the GPU answers at once",
		 where_the_program_started_cuda_the_gpu_answers_at_once},
		{"where the CPU must answer they are staged",
		 where_the_cpu_must_answer_they_are_staged},
		{"what the GPU leaves the CPU computes", what_the_gpu_leaves_the_cpu_computes},
		{"quick returns are staged too", quick_returns_are_staged_too},
		{"what the program has queued comes first",
		 what_the_program_has_queued_comes_first},
		{"nor does another device hurry", nor_does_another_device_hurry},
		{"a lost device takes them along", a_lost_device_takes_them_along},
	};
	const struct suite_case real[] = {
		{"the GPU answers every mixture", the_gpu_answers_every_mixture},
		{"where the program started CUDA the GPU answers at once",
		 where_the_program_started_cuda_the_gpu_answers_at_once},
		{"where the CPU must answer they are staged",
		 where_the_cpu_must_answer_they_are_staged},
		{"quick returns are staged too", quick_returns_are_staged_too},
		{"what the program has queued comes first",
		 what_the_program_has_queued_comes_first},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	return child_driver_is_stand_in() ? SUITE("operands", tests) : SUITE("operands", real);
}
