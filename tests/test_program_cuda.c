/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with CUDA of their own, whose products in host memory go through us: what is theirs
 * (current context and device, streams, memory, captures, errors) is after each product as they
 * left it, and what they do to the device they share with us costs them no right answer. Each is
 * run with both kinds of arithmetic.
 */
#include "child.h"

#include "device_program.h"
#include "driver.h"
#include "shimblas.h"

enum { WORDS = 64, THREAD_LOCAL_CAPTURES = 1 };

/* Of the device's memory, in a context and written by a stream there. */
struct belongings {
	sb_cu_context context;
	sb_cu_device device;
	sb_cu_stream stream;
	sb_cu_deviceptr memory;
};

static const struct sb_driver *cu;
static const struct shape shape = {
	.m = 35, .n = 6, .k = 1030, .trans_a = true, .gap = 3, .alpha = 2, .beta = 1};

static __typeof__(&shimblas_last_decision) last_decision;

/* A product of host memory, and who has answered it. */
static void multiply(const char *side)
{
	struct shimblas_decision last = {.size = sizeof last};
	const char *math = getenv("SHIMBLAS_MATH");

	CHECK(program_multiplies(&shape) == RIGHT);
	*(void **)&last_decision = suite_symbol("shimblas_last_decision");
	CHECK(last_decision(&last) == 0);
	CHECK(strcmp(last.side, side) == 0);
	if (strcmp(side, "gpu") == 0)
		CHECK((strcmp(last.arithmetic, "strict") == 0) == (strcmp(math, "strict") == 0));
	if (child_failures)
		fprintf(stderr, "    answered by %s (%s), %s\n", last.side, last.reason,
			last.arithmetic);
}

static struct belongings own(void)
{
	struct belongings mine;
	unsigned words[WORDS];

	for (unsigned i = 0; i < WORDS; i++)
		words[i] = 4711 + i;
	CHECK(cu->context_current(&mine.context) == 0 && mine.context);
	CHECK(cu->context_device(&mine.device) == 0);
	CHECK(cu->stream_create(&mine.stream, 0) == 0);
	CHECK(cu->memory_alloc(&mine.memory, sizeof words) == 0);
	CHECK(cu->copy_up(mine.memory, words, sizeof words, mine.stream) == 0);
	CHECK(cu->stream_synchronize(mine.stream) == 0);
	return mine;
}

static void expect_own(const struct belongings *mine)
{
	sb_cu_context current = NULL;
	sb_cu_device device = -1;
	unsigned words[WORDS];

	CHECK(cu->context_current(&current) == 0 && current == mine->context);
	CHECK(cu->context_device(&device) == 0 && device == mine->device);
	CHECK(cu->stream_query(mine->stream) == 0);
	CHECK(cu->copy_down(words, mine->memory, sizeof words, mine->stream) == 0);
	CHECK(cu->stream_synchronize(mine->stream) == 0);
	for (unsigned i = 0; i < WORDS; i++)
		CHECK(words[i] == 4711 + i);
}

static void start_program(void)
{
	program_start();
	cu = sb_driver_open();
}

/* With both kinds of arithmetic. */
static void run(const char *stand_in, void (*body)(const void *), const void *argument)
{
	static const char *const arithmetics[] = {
		"SHIMBLAS_MATH=strict",
		"SHIMBLAS_MATH=emulated SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64",
	};

	for (int a = 0; a < 2; a++) {
		char text[400];
		int failures;

		snprintf(text, sizeof text, "SHIMBLAS_MODE=gpu SHIMBLAS_LOGFILE=/dev/null %s %s",
			 arithmetics[a], stand_in);
		failures = in_child(text, body, argument);
		if (failures)
			fprintf(stderr, "%s: %d failures\n", text, failures);
		CU_ASSERT_EQUAL(failures, 0);
	}
}

static void has_a_context_of_its_own(const void *unused)
{
	__typeof__(sb_cu_result(*)(sb_cu_context *, unsigned, sb_cu_device)) create;
	sb_cu_context made = NULL, popped;
	struct belongings shared, mine;
	int devices = 0, mode = THREAD_LOCAL_CAPTURES;

	(void)unused;
	start_program();
	shared = own();
	*(void **)&create = program_symbol("cuCtxCreate_v2");
	CHECK(cu->device_count(&devices) == 0);
	CHECK(create && create(&made, 0, devices > 1) == 0);
	CHECK(cu->capture_mode(&mode) == 0);
	mine = own();
	CHECK(mine.context == made && mine.context != shared.context);
	for (int call = 0; call < 3; call++) {
		multiply("gpu");
		expect_own(&mine);
	}
	mode = THREAD_LOCAL_CAPTURES;
	CHECK(cu->capture_mode(&mode) == 0 && mode == THREAD_LOCAL_CAPTURES);
	CHECK(cu->context_pop(&popped) == 0 && popped == made);
	multiply("gpu");
	expect_own(&shared);
}

static void a_context_of_its_own_stays_current(void)
{
	run("A=1", has_a_context_of_its_own, NULL);
	if (child_driver_is_stand_in())
		run("SB_STAND_IN=devices=2,seed=1", has_a_context_of_its_own, NULL);
}

static void comes_later(const void *unused)
{
	sb_cu_context current = NULL;
	struct belongings mine;

	(void)unused;
	program_open();
	multiply("gpu");
	cu = sb_driver_open();
	CHECK(cu->context_current(&current) == 0 && current == NULL);
	start_program();
	mine = own();
	multiply("gpu");
	expect_own(&mine);
}

static void a_program_that_starts_cuda_after_us_has_its_own(void)
{
	run("A=1", comes_later, NULL);
}

struct reset {
	int device;
	bool before, back; /* before our first product; the program goes on with the device */
};

static void resets(const void *argument)
{
	const struct reset *reset = argument;
	__typeof__(sb_cu_result(*)(sb_cu_device)) forget;
	struct belongings mine;
	sb_cu_context context;

	start_program();
	*(void **)&forget = program_symbol("cuDevicePrimaryCtxReset_v2");
	CHECK(forget != NULL);
	if (!reset->before)
		for (int call = 0; call < 2; call++)
			multiply("gpu");
	CHECK(forget(reset->device) == 0);
	if (reset->back) {
		CHECK(cu->primary_retain(&context, reset->device) == 0);
		CHECK(cu->context_push(context) == 0);
		mine = own();
	}
	for (int call = 0; call < 2; call++) {
		multiply(reset->before ? "gpu" : "cpu");
		if (reset->back)
			expect_own(&mine);
	}
	/* It may do so again, and CUDA is no worse for us. */
	CHECK(forget(reset->device) == 0);
	CHECK(cu->primary_retain(&context, reset->device) == 0);
	CHECK(cu->context_push(context) == 0);
	mine = own();
	multiply("cpu");
	expect_own(&mine);
}

static void a_reset_of_the_device_leaves_every_answer_right(void)
{
	for (int kind = 0; kind < 4; kind++) {
		const struct reset reset = {.before = kind & 1, .back = kind & 2},
				   other = {.device = 1, .back = kind & 2};

		run("SHIMBLAS_DEVICE=0", resets, &reset);
		if (child_driver_is_stand_in() && !reset.before)
			run("SB_STAND_IN=devices=2 SHIMBLAS_DEVICE=all", resets, &other);
	}
}

/* From before our first product, which starts CUDA and makes what all of them use. */
static void captures(const void *unused)
{
	__typeof__(sb_cu_result(*)(sb_cu_stream, int)) begin;
	__typeof__(sb_cu_result(*)(sb_cu_stream, void **)) end;
	__typeof__(sb_cu_result(*)(void *)) destroy;
	struct belongings mine;
	sb_cu_stream stream;
	void *graph = NULL;

	(void)unused;
	start_program();
	*(void **)&begin = program_symbol("cuStreamBeginCapture_v2");
	*(void **)&end = program_symbol("cuStreamEndCapture");
	*(void **)&destroy = program_symbol("cuGraphDestroy");
	CHECK(begin && end && destroy);
	mine = own();
	CHECK(cu->stream_create(&stream, 0) == 0);
	for (int round = 0; round < 2; round++) {
		CHECK(begin(stream, SB_CU_CAPTURE_MODE_GLOBAL) == 0);
		for (int call = 0; call < 3; call++)
			multiply("gpu");
		CHECK(end(stream, &graph) == 0 && graph);
		CHECK(destroy(graph) == 0);
		expect_own(&mine);
	}
}

static void a_capture_in_progress_goes_on(void)
{
	run("A=1", captures, NULL);
	if (child_driver_is_stand_in())
		run("SB_STAND_IN=seed=2 SHIMBLAS_DEVICE_MEMORY=4M", captures, NULL);
}

/* A device that the program has broken, before our first product or after it. */
static void has_an_error_of_its_own(const void *first)
{
	__typeof__(int (*)(const char *)) configure;
	struct belongings mine;
	sb_cu_context current;
	sb_cu_result error;

	start_program();
	*(void **)&configure = program_symbol("stand_in_configure");
	mine = own();
	if (!first)
		multiply("gpu");
	CHECK(configure("lose=stream_query:1") == 0);
	error = cu->stream_query(mine.stream);
	CHECK(error != 0);
	for (int call = 0; call < 2; call++) {
		multiply("cpu");
		CHECK(cu->context_current(&current) == 0 && current == mine.context);
		CHECK(cu->stream_query(mine.stream) == error);
	}
}

static void an_error_of_its_own_stays_its_own(void)
{
	run("A=1", has_an_error_of_its_own, NULL);
	run("A=1", has_an_error_of_its_own, "first");
}

static void goes_on(const void *fault)
{
	__typeof__(int (*)(const char *)) configure;
	struct belongings mine;

	start_program();
	*(void **)&configure = program_symbol("stand_in_configure");
	mine = own();
	CHECK(configure(fault) == 0);
	CHECK(program_multiplies(&shape) == RIGHT);
	expect_own(&mine);
	CHECK(program_multiplies(&shape) == RIGHT);
	expect_own(&mine);
}

static void what_fails_for_us_does_not_fail_for_the_program(void)
{
	static const char *const faults[] = {"from=memory_create:1",
					     "from=host_alloc:1",
					     "from=module_load:1",
					     "fail=launch:1:INVALID_VALUE",
					     "fail=copy_2d:1:INVALID_VALUE",
					     "from=capture_mode:1:INVALID_VALUE",
					     "fail=event_record:2:INVALID_VALUE"};

	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		run("A=1", goes_on, faults[i]);
}

/* The last cases, which order faults of the stand-in. */
enum { ORDERED = 2 };

int main(void)
{
	const struct suite_case tests[] = {
		{"a context of its own stays current", a_context_of_its_own_stays_current},
		{"a program that starts CUDA after us has its own",
		 a_program_that_starts_cuda_after_us_has_its_own},
		{"a reset of the device leaves every answer right",
		 a_reset_of_the_device_leaves_every_answer_right},
		{"a capture in progress goes on", a_capture_in_progress_goes_on},
		{"an error of its own stays its own", an_error_of_its_own_stays_its_own},
		{"what fails for us does not fail for the program",
		 what_fails_for_us_does_not_fail_for_the_program},
	};
	const size_t count = sizeof tests / sizeof *tests;

	if (!child_driver())
		return suite_skip("no driver to test with");
	/* A real device has no faults to order. */
	return suite_run("program_cuda", tests,
			 child_driver_is_stand_in() ? count : count - ORDERED);
}
