/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver library: what is no driver, or none for us, is told quietly. */
#include "child.h"

#include <fcntl.h>

#include "driver.h"

static char captured[4096];

/* Runs body in a child and keeps what it wrote to standard error. */
static int captured_child(const char *pairs, void (*body)(const void *), const void *argument)
{
	char path[] = "/tmp/shimblas-test-XXXXXX";
	int file = mkstemp(path), kept = dup(2), result;
	ssize_t length;

	dup2(file, 2);
	result = in_child(pairs, body, argument);
	dup2(kept, 2);
	length = pread(file, captured, sizeof captured - 1, 0);
	captured[length > 0 ? length : 0] = '\0';
	close(file);
	close(kept);
	unlink(path);
	return result;
}

static int lines(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void expect_usable(const void *unused)
{
	(void)unused;
	CHECK(sb_driver() == NULL);
	CHECK(sb_driver_status().state == SB_DRIVER_UNOPENED);
	CHECK(sb_driver_open() != NULL);
	CHECK(sb_driver_open() == sb_driver());
	CHECK(sb_driver_status().state == SB_DRIVER_USABLE);
	CHECK(sb_driver_status().version >= 1000 * SB_CUDA_MAJOR);
#define SB_DRIVER(slot, base, symbol, version, parameters) CHECK(sb_driver()->slot != NULL);
#include "driver.def"
#undef SB_DRIVER
	CHECK(dlerror() == NULL);
}

static void expect_state(const void *argument)
{
	enum sb_driver_state state = *(const enum sb_driver_state *)argument;

	CHECK(sb_driver_open() == NULL);
	CHECK(sb_driver_open() == NULL);
	CHECK(sb_driver_status().state == state);
	CHECK(dlerror() == NULL);
}

static void a_driver_fills_every_slot(void)
{
	CU_ASSERT_EQUAL(captured_child("A=1", expect_usable, NULL), 0);
	CU_ASSERT_STRING_EQUAL(captured, "");
}

static void a_path_that_does_not_exist_is_one_line(void)
{
	enum sb_driver_state state = SB_DRIVER_ABSENT;

	CU_ASSERT_EQUAL(captured_child("SHIMBLAS_DRIVER=/nowhere/libcuda.so", expect_state, &state),
			0);
	CU_ASSERT_EQUAL(lines(captured), 1);
	CU_ASSERT(strstr(captured, "/nowhere/libcuda.so") != NULL);
}

static void a_library_that_is_no_driver_is_one_line(void)
{
	enum sb_driver_state state = SB_DRIVER_BROKEN;

	CU_ASSERT_EQUAL(captured_child("SHIMBLAS_DRIVER=libm.so.6", expect_state, &state), 0);
	CU_ASSERT_EQUAL(lines(captured), 1);
	CU_ASSERT(strstr(captured, "cuInit") != NULL);
}

static void an_older_driver_is_quietly_too_old(void)
{
	enum sb_driver_state state = SB_DRIVER_TOO_OLD;

	CU_ASSERT_EQUAL(captured_child("SB_STAND_IN=driver=12080", expect_state, &state), 0);
	CU_ASSERT_STRING_EQUAL(captured, "");
}

static void a_newer_driver_is_usable(void)
{
	CU_ASSERT_EQUAL(captured_child("SB_STAND_IN=driver=14000", expect_usable, NULL), 0);
}

static void errors_of_one_call_are_told_from_the_others(void)
{
	CU_ASSERT(sb_driver_survives(SB_CU_SUCCESS));
	CU_ASSERT(sb_driver_survives(SB_CU_ERROR_OUT_OF_MEMORY));
	CU_ASSERT(!sb_driver_survives(SB_CU_ERROR_LAUNCH_FAILED));
	CU_ASSERT(!sb_driver_survives(SB_CU_ERROR_ILLEGAL_ADDRESS));
	CU_ASSERT(!sb_driver_survives(SB_CU_ERROR_DEINITIALIZED));
	CU_ASSERT(!sb_driver_survives(12345));
	CU_ASSERT_PTR_NOT_NULL(sb_driver_error(SB_CU_ERROR_UNKNOWN));
}

int main(void)
{
	const struct suite_case tests[] = {
		{"a driver fills every slot", a_driver_fills_every_slot},
		{"a path that does not exist is one line", a_path_that_does_not_exist_is_one_line},
		{"a library that is no driver is one line",
		 a_library_that_is_no_driver_is_one_line},
		{"an older driver is quietly too old", an_older_driver_is_quietly_too_old},
		{"a newer driver is usable", a_newer_driver_is_usable},
		{"errors of one call are told from the others",
		 errors_of_one_call_are_told_from_the_others},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("driver", tests);
}
