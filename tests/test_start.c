/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of CUDA: when it is bought, who waits for it, what forks and ends meanwhile. */
#include "child.h"

#include <stdatomic.h>

#include "clock.h"
#include "process.h"
#include "start.h"

static void purchase(const void *unused)
{
	enum sb_reason why;

	(void)unused;
	sb_process_start();
	sb_start_missed(0.1);
	sb_start_missed(-5);
	CHECK(sb_start_missed(0.1) > 0.19);
	CHECK(sb_device_health(&why) == SB_HEALTH_UNBORN);
	CHECK(sb_driver_status().state == SB_DRIVER_UNOPENED);
	sb_start_missed(0.1);
	CHECK(sb_device_health(&why) != SB_HEALTH_UNBORN);
	CHECK(sb_start_wait(20) == SB_HEALTH_READY);
}

/* Where a start costs two seconds, less is not enough, and more in one call is no overflow. */
static void dear_purchase(const void *unused)
{
	enum sb_reason why;

	(void)unused;
	sb_process_start();
	sb_start_set_price(2);
	CHECK(sb_start_missed(1.9) > 1.8);
	CHECK(sb_device_health(&why) == SB_HEALTH_UNBORN);
	CHECK(sb_start_missed(1e12) < 4);
	CHECK(sb_device_health(&why) != SB_HEALTH_UNBORN);
	CHECK(sb_start_wait(20) == SB_HEALTH_READY);
}

static void a_start_is_bought_when_it_has_been_missed(void)
{
	CU_ASSERT_EQUAL(in_child("A=1", purchase, NULL), 0);
	CU_ASSERT_EQUAL(in_child("A=1", dear_purchase, NULL), 0);
}

static void deadline(const void *unused)
{
	double began = sb_clock_now();
	enum sb_reason why;

	(void)unused;
	sb_process_start();
	sb_start_buy();
	CHECK(sb_clock_now() - began < 0.5);
	CHECK(sb_start_wait(0.2) == SB_HEALTH_STARTING);
	CHECK(sb_clock_now() - began < 0.9);
	CHECK(sb_device_health(&why) == SB_HEALTH_STARTING && why == SB_REASON_STARTING);
}

static void nobody_waits_without_a_deadline_but_the_exit_does(void)
{
	double began = sb_clock_now();

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=start=1500", deadline, NULL), 0);
	CU_ASSERT(sb_clock_now() - began > 1.4 && sb_clock_now() - began < 8);
}

static void fork_after(const void *started)
{
	enum sb_reason why;
	pid_t child;

	if (*(const int *)started)
		CHECK(child_start() == SB_HEALTH_READY);
	else
		sb_process_start();
	child = fork();
	if (child == 0) {
		if (*(const int *)started) {
			CHECK(sb_device_health(&why) == SB_HEALTH_UNUSABLE &&
			      why == SB_REASON_FORKED);
			CHECK(child_start() == SB_HEALTH_UNUSABLE);
		} else {
			CHECK(child_start() == SB_HEALTH_READY);
		}
		exit(child_failures);
	}
	CHECK(child_ended_well(child));
	CHECK(child_start() == SB_HEALTH_READY);
}

static void fork_while_starting(const void *unused)
{
	enum sb_reason why;
	pid_t child;

	(void)unused;
	sb_process_start();
	sb_start_buy();
	child = fork();
	if (child == 0) {
		double began = sb_clock_now();

		CHECK(sb_device_health(&why) == SB_HEALTH_UNUSABLE && why == SB_REASON_FORKED);
		CHECK(sb_start_wait(20) == SB_HEALTH_UNUSABLE && sb_clock_now() - began < 5);
		/* Nobody starts anything here: the end of this process has nothing to wait for. */
		exit(child_failures);
	}
	CHECK(child_ended_well(child));
}

/* The helper is in atexit() for a while, where a test says so. */
static bool slow_atexit;
static atomic_bool in_atexit;
extern int __real_atexit(void (*handler)(void)); /* NOLINT: the linker's name */
extern int __wrap_atexit(void (*handler)(void)); /* NOLINT */

int __wrap_atexit(void (*handler)(void)) /* NOLINT */
{
	int failed;

	atomic_store(&in_atexit, true);
	if (slow_atexit)
		usleep(200000);
	failed = __real_atexit(handler);
	atomic_store(&in_atexit, false);
	return failed;
}

/*
 * The C library's lock of the list stays locked in a child of that moment, whose exit() hangs. (So
 * it would in one of the moment when the driver registers its own, which nobody can help: it
 * sleeps.)
 */
static void fork_while_registering(const void *unused)
{
	double began = sb_clock_now();
	pid_t child;

	(void)unused;
	slow_atexit = true;
	sb_process_start();
	sb_start_buy();
	while (!atomic_load(&in_atexit) && sb_clock_now() - began < 20)
		usleep(1000);
	CHECK(atomic_load(&in_atexit));
	child = fork();
	if (child == 0) {
		CHECK(!atomic_load(&in_atexit));
		exit(child_failures);
	}
	CHECK(child_ended_well(child));
}

static void no_fork_meets_an_exit_handler_on_its_way(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=start=300", fork_while_registering, NULL), 0);
}

static void a_forked_child_uses_cuda_only_if_its_parent_did_not(void)
{
	int yes = 1, no = 0;

	CU_ASSERT_EQUAL(in_child("A=1", fork_after, &yes), 0);
	CU_ASSERT_EQUAL(in_child("A=1", fork_after, &no), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=start=300", fork_while_starting, NULL), 0);
}

/* Ends, or becomes another program, in the middle of the start. */
static void end_while_starting(const void *how)
{
	sb_process_start();
	sb_start_buy();
	usleep(50000);
	switch (*(const char *)how) {
	case 'x':
		execl("/bin/true", "true", (char *)NULL);
		exit(1);
	case '_':
		_exit(0);
	case 'f':
		fork_while_starting(NULL);
		break;
	}
}

/* How often the driver was asked to do something while `end_while_starting` came by. */
static long calls_of(const char *slot, const char *environment)
{
	const char *report = strstr(environment, "report=") + strlen("report=");
	char name[64], line[256];
	long calls = -1, n;
	FILE *file;

	unlink(report);
	CU_ASSERT_EQUAL(in_child(environment, end_while_starting, "exit"), 0);
	file = fopen(report, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "%63s %ld", name, &n) == 2 && strcmp(name, slot) == 0)
			calls = n;
	fclose(file);
	return calls;
}

static void what_is_not_needed_any_more_is_not_started(void)
{
	char environment[300];

	snprintf(environment, sizeof environment, "SB_STAND_IN=start=300,report=%s/calls",
		 suite_scratch());
	CU_ASSERT_EQUAL(calls_of("init", environment), 1);
	CU_ASSERT(calls_of("primary_retain", environment) <= 0);
}

static void a_start_does_not_outlive_its_process(void)
{
	/* exit() waits for the start, what ends at once or becomes another program does not. */
	static const struct {
		const char *how;
		int waits;
	} rows[] = {{"exit", 1}, {"_exit", 0}, {"x", 0}, {"fork", 1}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double began = sb_clock_now(), took;

		CU_ASSERT_EQUAL(in_child("SB_STAND_IN=start=700", end_while_starting, rows[i].how),
				0);
		took = sb_clock_now() - began;
		CU_ASSERT(took < 10);
		CU_ASSERT(!rows[i].waits || took > 0.6);
	}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"a start is bought when it has been missed",
		 a_start_is_bought_when_it_has_been_missed},
		{"nobody waits without a deadline, but the exit does",
		 nobody_waits_without_a_deadline_but_the_exit_does},
		{"a forked child uses CUDA only if its parent did not",
		 a_forked_child_uses_cuda_only_if_its_parent_did_not},
		{"no fork meets an exit handler on its way",
		 no_fork_meets_an_exit_handler_on_its_way},
		{"what is not needed any more is not started",
		 what_is_not_needed_any_more_is_not_started},
		{"a start does not outlive its process", a_start_does_not_outlive_its_process},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("start", tests);
}
