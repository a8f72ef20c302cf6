/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite.h"

#include <CUnit/Basic.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The library may be loaded before the sanitizer's own, two libraries of one source stand for two
 * of one name, and children of a process with a BLAS's threads start threads.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0:detect_odr_violation=0";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

static char *said;
static bool child_failed;
static char scratch[] = "/tmp/suite-XXXXXX";
static bool skipped;
static pid_t owner; /* of the scratch folder */

int suite_run(const char *name, const struct suite_case *cases, size_t count)
{
	CU_pSuite suite;
	unsigned failures;

	if (CU_initialize_registry() != CUE_SUCCESS || !(suite = CU_add_suite(name, NULL, NULL)))
		return 1;
	for (size_t i = 0; i < count; i++)
		if (!CU_add_test(suite, cases[i].name, cases[i].run))
			return 1;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	free(said);
	said = NULL;
	return failures ? 1 : skipped ? 77 : 0;
}

int suite_skip(const char *why)
{
	skipped = true;
	printf("\nskip: %s\n", why);
	return 77;
}

const char *suite_built(const char *file)
{
	const char *folder = getenv("builddir");
	char *path;

	if (asprintf(&path, "%s/%s", folder ? folder : ".", file) < 0)
		abort();
	return path;
}

const char *suite_library(void)
{
	const char *path = getenv("SB_LIBRARY");

	return path ? path : suite_built("libshimblas.so.0");
}

void *suite_symbol(const char *name)
{
	static void *library;
	void *symbol;

	if (!library)
		library = dlopen(suite_library(), RTLD_NOW | RTLD_LOCAL);
	symbol = library ? dlsym(library, name) : NULL;
	if (!symbol) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(1);
	}
	return symbol;
}

static void remove_scratch(void)
{
	char *command;

	if (getpid() != owner)
		return;
	if (asprintf(&command, "rm -rf '%s'", scratch) > 0) {
		if (system(command) != 0)
			fprintf(stderr, "%s is left\n", scratch);
		free(command);
	}
}

bool suite_sanitized(void)
{
	const char *said = getenv("SB_SANITIZED");

	return said && strcmp(said, "yes") == 0;
}

const char *suite_scratch(void)
{
	if (!owner) {
		if (!mkdtemp(scratch))
			abort();
		owner = getpid();
		atexit(remove_scratch);
	}
	return scratch;
}

void suite_expect(bool holds, const char *condition, const char *file, int line)
{
	if (holds)
		return;
	child_failed = true;
	printf("    child: %s:%d: %s\n", file, line, condition);
	fflush(stdout);
}

static void read_back(FILE *file)
{
	long length = (fseek(file, 0, SEEK_END), ftell(file));

	free(said);
	said = calloc(1, (size_t)length + 1);
	rewind(file);
	if (said && fread(said, 1, (size_t)length, file) != (size_t)length)
		*said = '\0';
}

int suite_child(void (*run)(void))
{
	FILE *err = tmpfile();
	int status;
	pid_t child;

	if (!err)
		return 1;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(60);
		dup2(fileno(err), STDERR_FILENO);
		run();
		fflush(NULL);
		_exit(child_failed);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = 256;
	read_back(err);
	fclose(err);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void suite_exit(void)
{
	fflush(NULL);
	exit(child_failed);
}

const char *suite_child_said(void)
{
	return said ? said : "";
}

int suite_child_lines(void)
{
	int lines = 0;

	for (const char *at = suite_child_said(); (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	return lines;
}

void suite_child_passes(void (*run)(void), const char *name, const char *file, unsigned line)
{
	int status = suite_child(run);

	if (status)
		printf("    %s: exit status %d, stderr: %s\n", name, status, suite_child_said());
	CU_assertImplementation(status == 0, line, name, file, "", CU_FALSE);
}

uint64_t suite_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

float suite_uniform(void)
{
	return (float)((double)(suite_random() >> 40) / (double)(1 << 23) - 1);
}

int64_t suite_between(int64_t low, int64_t high)
{
	return low + (int64_t)(suite_random() % (uint64_t)(high - low + 1));
}

void suite_fill(float *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = suite_uniform();
}
