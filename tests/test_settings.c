/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment is read once in a process, so every row runs in a child. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"
#include "suite.h"
#include "trace.h"

enum field { MODE, MATH, VERBOSE, THREADS, PINNED, DEVICE_MEMORY, REPRODUCIBLE };

static const struct trial {
	const char *variable, *value;
	enum field field;
	bool accepted;
	int64_t wanted;
} trials[] = {
	{"SHIMBLAS_MODE", "auto", MODE, true, SB_MODE_AUTO},
	{"SHIMBLAS_MODE", "cpu", MODE, true, SB_MODE_CPU},
	{"SHIMBLAS_MODE", "gpu", MODE, true, SB_MODE_GPU},
	{"SHIMBLAS_MODE", "check", MODE, true, SB_MODE_CHECK},
	{"SHIMBLAS_MODE", "GPU", MODE, false, SB_MODE_AUTO},
	{"SHIMBLAS_MODE", "gp", MODE, false, SB_MODE_AUTO},
	{"SHIMBLAS_MODE", "gpuu", MODE, false, SB_MODE_AUTO},
	{"SHIMBLAS_MODE", "cpu|gpu", MODE, false, SB_MODE_AUTO},
	{"SHIMBLAS_MODE", " gpu", MODE, false, SB_MODE_AUTO},
	{"SHIMBLAS_MATH", "strict", MATH, true, SB_MATH_STRICT},
	{"SHIMBLAS_MATH", "emulated", MATH, true, SB_MATH_EMULATED},
	{"SHIMBLAS_MATH", "tf32", MATH, false, SB_MATH_STRICT},
	{"SHIMBLAS_VERBOSE", "2", VERBOSE, true, 2},
	{"SHIMBLAS_VERBOSE", "3", VERBOSE, false, 0},
	{"SHIMBLAS_VERBOSE", "-1", VERBOSE, false, 0},
	{"SHIMBLAS_VERBOSE", "yes", VERBOSE, false, 0},
	{"SHIMBLAS_REPRODUCIBLE", "1", REPRODUCIBLE, true, 1},
	{"SHIMBLAS_REPRODUCIBLE", "01", REPRODUCIBLE, false, 0},
	{"SHIMBLAS_THREADS", "12", THREADS, true, 12},
	{"SHIMBLAS_THREADS", "0", THREADS, true, 0},
	{"SHIMBLAS_THREADS", "-3", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "+3", THREADS, false, 0},
	{"SHIMBLAS_THREADS", " 3", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "3 ", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "3K", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "1.5", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "0x10", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "9223372036854775807", THREADS, true, INT64_MAX},
	{"SHIMBLAS_THREADS", "9223372036854775808", THREADS, false, 0},
	{"SHIMBLAS_THREADS", "99999999999999999999999", THREADS, false, 0},
	{"SHIMBLAS_PINNED_MEMORY", "4096", PINNED, true, 4096},
	{"SHIMBLAS_PINNED_MEMORY", "3K", PINNED, true, 3 << 10},
	{"SHIMBLAS_PINNED_MEMORY", "3k", PINNED, true, 3 << 10},
	{"SHIMBLAS_PINNED_MEMORY", "3M", PINNED, true, 3 << 20},
	{"SHIMBLAS_PINNED_MEMORY", "3g", PINNED, true, 3LL << 30},
	{"SHIMBLAS_PINNED_MEMORY", "3T", PINNED, true, 3LL << 40},
	{"SHIMBLAS_PINNED_MEMORY", "3 ", PINNED, false, 128 << 20},
	{"SHIMBLAS_PINNED_MEMORY", "3KB", PINNED, false, 128 << 20},
	{"SHIMBLAS_PINNED_MEMORY", "3P", PINNED, false, 128 << 20},
	{"SHIMBLAS_PINNED_MEMORY", "K", PINNED, false, 128 << 20},
	{"SHIMBLAS_PINNED_MEMORY", "3\xcb", PINNED, false, 128 << 20},
	{"SHIMBLAS_PINNED_MEMORY", "8388607T", PINNED, true, 8388607LL << 40},
	{"SHIMBLAS_PINNED_MEMORY", "8388608T", PINNED, false, 128 << 20},
	{"SHIMBLAS_DEVICE_MEMORY", "2G", DEVICE_MEMORY, true, 2LL << 30},
	{"SHIMBLAS_DEVICE_MEMORY", "all", DEVICE_MEMORY, false, 0},
};

static const struct trial *trial;

static int row_of(const char *variable)
{
	for (int row = 0; row < sb_settings_count(); row++)
		if (strcmp(sb_settings_row(row)->variable, variable) == 0)
			return row;
	return -1;
}

static int64_t value_of(enum field field)
{
	const struct sb_settings *settings = sb_settings();

	switch (field) {
	case MODE:
		return settings->mode;
	case MATH:
		return settings->math;
	case VERBOSE:
		return settings->verbose;
	case THREADS:
		return settings->threads;
	case PINNED:
		return (int64_t)settings->pinned_memory;
	case DEVICE_MEMORY:
		return (int64_t)settings->device_memory;
	case REPRODUCIBLE:
		return settings->reproducible;
	}
	return -1;
}

static void read_trial(void)
{
	int row;

	setenv(trial->variable, trial->value, 1);
	errno = 1234;
	SUITE_EXPECT(value_of(trial->field) == trial->wanted);
	SUITE_EXPECT(errno == 1234);
	row = row_of(trial->variable);
	if (trial->accepted) {
		SUITE_EXPECT(strcmp(sb_settings_given(row), trial->value) == 0);
		SUITE_EXPECT(!sb_settings_refused(row));
	} else {
		SUITE_EXPECT(strcmp(sb_settings_refused(row), trial->value) == 0);
		SUITE_EXPECT(!sb_settings_given(row));
	}
	sb_trace_refused_settings();
	sb_trace_refused_settings();
}

static void every_kind_is_read_and_bad_values_are_told_once(void)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		int status;

		trial = &trials[i];
		status = suite_child(read_trial);
		if (status || suite_child_lines() != !trial->accepted)
			printf("    %s='%s': %s\n", trial->variable, trial->value,
			       suite_child_said());
		CU_ASSERT_EQUAL(status, 0);
		CU_ASSERT_EQUAL(suite_child_lines(), !trial->accepted);
		if (trial->accepted)
			continue;
		CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), trial->variable));
		CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), trial->value));
		CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "makes no sense"));
	}
}

static void read_defaults(void)
{
	const struct sb_settings *settings = sb_settings();

	SUITE_EXPECT(settings->mode == SB_MODE_AUTO && settings->verbose == 0);
	SUITE_EXPECT(settings->pinned_memory == 128 << 20 && settings->device_memory == 0);
	SUITE_EXPECT(settings->threads == 0 && settings->reproducible == 0);
	SUITE_EXPECT(!*settings->report && !*settings->logfile && !*settings->backend);
	SUITE_EXPECT(!*settings->driver && !*settings->device && !*settings->kernel);
	SUITE_EXPECT(!*settings->profile);
	SUITE_EXPECT(settings->local_rank == -1 && settings->run_id == -1);
	SUITE_EXPECT(!sb_settings_timed());
}

static void without_variables_defaults_hold(void)
{
	SUITE_CHILD_PASSES(read_defaults);
}

static void read_empty(void)
{
	setenv("SHIMBLAS_MODE", "", 1);
	setenv("SHIMBLAS_REPORT", "", 1);
	setenv("SHIMBLAS_PINNED_MEMORY", "", 1);
	read_defaults();
	for (int row = 0; row < sb_settings_count(); row++)
		SUITE_EXPECT(!sb_settings_given(row) && !sb_settings_refused(row));
}

static void an_empty_value_is_none(void)
{
	SUITE_CHILD_PASSES(read_empty);
}

static void read_texts(void)
{
	setenv("SHIMBLAS_REPORT", "/tmp/a b.json", 1);
	setenv("SHIMBLAS_BACKEND", "libx.so", 1);
	SUITE_EXPECT(strcmp(sb_settings()->report, "/tmp/a b.json") == 0);
	SUITE_EXPECT(strcmp(sb_settings()->backend, "libx.so") == 0);
	SUITE_EXPECT(sb_settings_timed());
	/* The program may do with its environment what it likes. */
	setenv("SHIMBLAS_REPORT", "elsewhere", 1);
	clearenv();
	SUITE_EXPECT(strcmp(sb_settings()->report, "/tmp/a b.json") == 0);
}

static void texts_are_kept_whatever_becomes_of_the_environment(void)
{
	SUITE_CHILD_PASSES(read_texts);
}

static void read_many_refused(void)
{
	setenv("SHIMBLAS_MODE", "fast", 1);
	setenv("SHIMBLAS_THREADS", "many", 1);
	setenv("SHIMBLAS_PINNED_MEMORY", "1X", 1);
	sb_trace_refused_settings();
}

static void each_bad_value_has_a_line_of_its_own(void)
{
	SUITE_CHILD_PASSES(read_many_refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "using 128M"));
}

static void read_ranks(void)
{
	setenv("SLURM_LOCALID", "3", 1);
	setenv("OMPI_COMM_WORLD_LOCAL_RANK", "bad", 1);
	setenv("SHIMBLAS_RUN_ID", "77", 1);
	SUITE_EXPECT(sb_settings()->local_rank == 3);
	SUITE_EXPECT(sb_settings()->run_id == 77);
}

static void ranks_come_from_the_launchers(void)
{
	SUITE_CHILD_PASSES(read_ranks);
}

static void every_default_in_the_table_is_a_value_it_takes(void)
{
	for (int row = 0; row < sb_settings_count(); row++) {
		const struct sb_setting *setting = sb_settings_row(row);

		CU_ASSERT_EQUAL(strncmp(setting->variable, "SHIMBLAS_", 9), 0);
		CU_ASSERT(strlen(setting->text) > 10);
		CU_ASSERT(setting->kind == SB_SETTING_TEXT || setting->kind == SB_SETTING_LIST ||
			  *setting->fallback);
		if (setting->kind == SB_SETTING_CHOICE)
			CU_ASSERT_PTR_NOT_NULL(strstr(setting->values, setting->fallback));
	}
}

static const struct suite_case cases[] = {
	{"every kind is read; bad values are told once and replaced",
	 every_kind_is_read_and_bad_values_are_told_once},
	{"without variables the defaults hold", without_variables_defaults_hold},
	{"an empty value is none", an_empty_value_is_none},
	{"texts are kept whatever becomes of the environment",
	 texts_are_kept_whatever_becomes_of_the_environment},
	{"each bad value has a line of its own", each_bad_value_has_a_line_of_its_own},
	{"ranks come from the launchers", ranks_come_from_the_launchers},
	{"every default in the table is a value it takes",
	 every_default_in_the_table_is_a_value_it_takes},
};

int main(void)
{
	for (int row = 0; row < sb_settings_count(); row++)
		unsetenv(sb_settings_row(row)->variable);
	return SUITE("settings", cases);
}
