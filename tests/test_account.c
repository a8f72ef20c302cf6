/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "distance.h"
#include "made_up.h"
#include "offload.h"
#include "reference.h"
#include "settings.h"
#include "stats.h"
#include "suite.h"

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	(void)finish;
	(void)context;
	decision->kernel = "made_up";
	decision->devices = 1;
	sb_reference(call);
	return SB_OK;
}

static void tell(void)
{
	struct sb_call call = distance_random(5);

	setenv("SHIMBLAS_VERBOSE", "1", 1);
	setenv("SHIMBLAS_MODE", "gpu", 1);
	call.m = call.n = call.k = 2;
	call.lda = call.ldb = call.ldc = 9;
	call.trans_a = true;
	call.trans_b = false;
	call.alpha = 1;
	free((void *)call.a);
	free((void *)call.b);
	free(call.c);
	distance_open(&call);
	made_up_call(&call);
	call.alpha = 0;
	made_up_call(&call);
}

static void a_line_tells_of_each_call(void)
{
	const char *said;

	SUITE_CHILD_PASSES(tell);
	said = suite_child_said();
	CU_ASSERT_EQUAL(suite_child_lines(), 2);
	CU_ASSERT_EQUAL(strstr(said, "shimblas: sgemm tn m=2 n=2 k=2 lda=9 ldb=9 ldc=9 side=gpu "
				     "kernel=made_up math=- device=0 ms="),
			said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, " reason=forced\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, " side=cpu kernel=- math=- device=- "));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, " reason=invalid\n"));
}

static char report[512];

static void report_and_exit(void)
{
	struct sb_call call = distance_random(5);

	setenv("SHIMBLAS_REPORT", report, 1);
	made_up_call(&call);
	suite_exit();
}

static double seconds_of_a_call(void)
{
	struct sb_call call = distance_random(5);
	struct sb_last last = {0};

	made_up_call(&call);
	SUITE_EXPECT(sb_stats_last(&last));
	return last.outcome.seconds;
}

static void untimed(void)
{
	SUITE_EXPECT(seconds_of_a_call() == 0);
}

static void timed(void)
{
	setenv("SHIMBLAS_REPORT", "/dev/null", 1);
	SUITE_EXPECT(seconds_of_a_call() > 0);
}

static void the_clock_is_read_only_if_somebody_asks(void)
{
	SUITE_CHILD_PASSES(untimed);
	SUITE_CHILD_PASSES(timed);
}

static void exit_without_a_call(void)
{
	setenv("SHIMBLAS_REPORT", report, 1);
	sb_settings();
	suite_exit();
}

static void fork_a_child_without_a_call(void)
{
	struct sb_call call = distance_random(5);
	pid_t child;

	setenv("SHIMBLAS_REPORT", report, 1);
	made_up_call(&call);
	child = fork();
	if (!child)
		suite_exit();
	SUITE_EXPECT(child > 0 && waitpid(child, NULL, 0) == child);
	SUITE_EXPECT(access(report, F_OK) != 0);
}

/* As the children of a pool that was not needed. */
static void a_forked_child_that_made_no_call_reports_nothing(void)
{
	snprintf(report, sizeof report, "%s/forked.json", suite_scratch());
	SUITE_CHILD_PASSES(fork_a_child_without_a_call);
}

static void a_process_that_called_reports_at_its_end(void)
{
	snprintf(report, sizeof report, "%s/report.json", suite_scratch());
	CU_ASSERT_EQUAL(suite_child(exit_without_a_call), 0);
	CU_ASSERT_PTR_NULL(fopen(report, "r"));
	CU_ASSERT_EQUAL(suite_child(report_and_exit), 0);
	CU_ASSERT_PTR_NOT_NULL(fopen(report, "r"));
}

static void exit_as_the_one_that_was_run(void)
{
	char self[32];

	snprintf(self, sizeof self, "%ld", (long)getpid());
	setenv("SHIMBLAS_RUN_ID", self, 1);
	setenv("SHIMBLAS_REPORT", "-", 1);
	suite_exit();
}

static void the_one_that_was_run_reports_even_so(void)
{
	CU_ASSERT_EQUAL(suite_child(exit_as_the_one_that_was_run), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "all                           0 "));
}

static void report_nowhere(void)
{
	struct sb_call call = distance_random(5);

	setenv("SHIMBLAS_REPORT", "/nonexistent/report", 1);
	made_up_call(&call);
	suite_exit();
}

static void a_report_that_cannot_be_written_is_told_of(void)
{
	CU_ASSERT_EQUAL(suite_child(report_nowhere), 0);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "SHIMBLAS_REPORT=/nonexistent/report"));
}

static const struct suite_case cases[] = {
	{"a line tells of each call", a_line_tells_of_each_call},
	{"the clock is read only if somebody asks", the_clock_is_read_only_if_somebody_asks},
	{"a process that called reports at its end", a_process_that_called_reports_at_its_end},
	{"a forked child that made no call reports nothing",
	 a_forked_child_that_made_no_call_reports_nothing},
	{"the one that was run reports even so", the_one_that_was_run_reports_even_so},
	{"a report that cannot be written is told of", a_report_that_cannot_be_written_is_told_of},
};

int main(void)
{
	for (int row = 0; row < sb_settings_count(); row++)
		unsetenv(sb_settings_row(row)->variable);
	suite_scratch();
	return SUITE("account", cases);
}
