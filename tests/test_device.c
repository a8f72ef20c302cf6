/* SPDX-License-Identifier: BSD-3-Clause */
/* The device: which one it is, what it leaves as found, and how it is lost. */
#include "child.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "device.h"
#include "process.h"
#include "start.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum sb_health health(enum sb_reason *why)
{
	return sb_device_health(why);
}

static void expect_reason(const void *argument)
{
	enum sb_reason why;

	CHECK(child_start() == SB_HEALTH_UNUSABLE);
	CHECK(health(&why) == SB_HEALTH_UNUSABLE);
	CHECK(why == *(const enum sb_reason *)argument);
	CHECK(sb_device() == NULL);
}

static void what_cannot_start_says_why(void)
{
	enum sb_reason no_gpu = SB_REASON_NO_GPU, old = SB_REASON_OLD_DRIVER;

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=0", expect_reason, &no_gpu), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=fail=init:1", expect_reason, &no_gpu), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=fail=event_create:50", expect_reason, &no_gpu), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=driver=12000", expect_reason, &old), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_DEVICE=3", expect_reason, &no_gpu), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_DRIVER=/nowhere SHIMBLAS_LOGFILE=/dev/null",
				 expect_reason, &no_gpu),
			0);
}

static void expect_ordinal(const void *argument)
{
	CHECK(child_start() == SB_HEALTH_READY);
	CHECK(sb_device() && sb_device()->ordinal == *(const int *)argument);
	CHECK(sb_device() && sb_device()->multiprocessors > 0 && sb_device()->arch >= 75);
}

static void make_current(const void *argument)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context, found;

	CHECK(cu->init(0) == 0);
	CHECK(cu->primary_retain(&context, 2) == 0 && cu->context_push(context) == 0);
	expect_ordinal(argument);
	CHECK(cu->context_current(&found) == 0 && found == context);
}

static void the_device_is_the_one_asked_for(void)
{
	int zero = 0, one = 1, two = 2, three = 3;

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=4", expect_ordinal, &zero), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=4 SHIMBLAS_DEVICE=3", expect_ordinal, &three),
			0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=4 OMPI_COMM_WORLD_LOCAL_RANK=5",
				 expect_ordinal, &one),
			0);
	CU_ASSERT_EQUAL(
		in_child("SB_STAND_IN=devices=4 OMPI_COMM_WORLD_LOCAL_RANK=5", make_current, &two),
		0);
}

static void visit_is_unnoticed(const void *unused)
{
	struct sb_device *device;
	sb_cu_context own, found, popped;
	struct sb_visit visit;
	int mode = 1; /* thread local */

	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	device = sb_device();
	CHECK(device->cu->primary_retain(&own, 1) == 0);
	CHECK(device->cu->context_push(own) == 0);
	CHECK(device->cu->capture_mode(&mode) == 0);
	errno = 4711;
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->context_current(&found) == 0 && found == device->context);
	errno = 1;
	sb_device_leave(device, &visit);
	CHECK(errno == 4711);
	CHECK(device->cu->context_current(&found) == 0 && found == own);
	mode = SB_CU_CAPTURE_MODE_GLOBAL;
	CHECK(device->cu->capture_mode(&mode) == 0 && mode == 1);
	CHECK(device->cu->context_pop(&popped) == 0 && popped == own);
	CHECK(device->cu->context_current(&found) == 0 && found == NULL);
}

static void a_visit_leaves_context_capture_mode_and_errno(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=2", visit_is_unnoticed, NULL), 0);
}

static void places(const void *unused)
{
	static float pageable[64];
	struct sb_device *device;
	struct sb_visit visit;
	sb_cu_deviceptr on_device;
	void *pinned;

	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	device = sb_device();
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->memory_alloc(&on_device, 256) == 0);
	CHECK(device->cu->host_alloc(&pinned, 256, 0) == 0);
	sb_device_leave(device, &visit);
	CHECK(sb_device_place(device, pageable, sizeof pageable) == SB_PLACE_PAGEABLE);
	CHECK(sb_device_place(device, pinned, 256) == SB_PLACE_PINNED);
	CHECK(sb_device_place(device, (void *)(uintptr_t)on_device, 256) == SB_PLACE_DEVICE);
}

static void operands_are_told_by_where_they_lie(void)
{
	CU_ASSERT_EQUAL(in_child("A=1", places, NULL), 0);
}

static void lose(const void *unused)
{
	enum sb_reason why;

	(void)unused;
	CHECK(child_start() == SB_HEALTH_READY);
	CHECK(sb_device_check(sb_device(), SB_CU_ERROR_OUT_OF_MEMORY, "x") == SB_NO_MEMORY);
	CHECK(sb_device_check(sb_device(), SB_CU_ERROR_INVALID_VALUE, "x") == SB_DECLINE);
	CHECK(health(&why) == SB_HEALTH_READY);
	CHECK(sb_device_check(sb_device(), SB_CU_ERROR_LAUNCH_FAILED, "x") == SB_LOST);
	CHECK(health(&why) == SB_HEALTH_LOST && why == SB_REASON_LOST);
	CHECK(sb_device() == NULL);
	CHECK(child_start() == SB_HEALTH_LOST);
}

static void a_lost_device_stays_lost(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_LOGFILE=/dev/null", lose, NULL), 0);
}

/* An event that takes three looks, during the first of which the process is stopped for a while. */
static int looks;

static sb_cu_result look(sb_cu_event event)
{
	(void)event;
	if (looks++ == 0)
		usleep(700000);
	return looks > 2 ? SB_CU_SUCCESS : SB_CU_ERROR_NOT_READY;
}

static sb_cu_result never(sb_cu_event event)
{
	(void)event;
	return SB_CU_ERROR_NOT_READY;
}

static void wait_while_stopped(const void *unused)
{
	struct sb_driver driver = {.event_query = look};
	struct sb_device device = {.cu = &driver};
	double began;

	(void)unused;
	CHECK(sb_device_wait(&device, NULL, 0.4) == SB_OK);
	CHECK(looks == 3);
	/* What was waited before counts, until somebody takes the device. */
	driver.event_query = never;
	CHECK(sb_device_wait(&device, NULL, 0.4) == SB_LOST);
	CHECK(sb_device_wait(&device, NULL, 0.4) == SB_LOST);
	began = now();
	CHECK(sb_device_take(&device, 0));
	CHECK(sb_device_wait(&device, NULL, 0.4) == SB_LOST);
	CHECK(now() - began > 0.4);
}

static void a_stopped_process_does_not_lose_its_device(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_LOGFILE=/dev/null", wait_while_stopped, NULL), 0);
}

/* Whatever a profile says, a deadline is one. */
static void nobody_waits_for_ever(void)
{
	CU_ASSERT_EQUAL(sb_device_patience(0), sb_device_least_patience);
	CU_ASSERT_EQUAL(sb_device_patience(2), 40);
	CU_ASSERT_EQUAL(sb_device_patience(1e9), 86400);
	CU_ASSERT_EQUAL(sb_device_patience(INFINITY), 86400);
	CU_ASSERT_EQUAL(sb_device_patience(NAN), sb_device_least_patience);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"nobody waits for ever", nobody_waits_for_ever},
		{"what cannot start says why", what_cannot_start_says_why},
		{"the device is the one asked for", the_device_is_the_one_asked_for},
		{"a visit leaves context, capture mode and errno",
		 a_visit_leaves_context_capture_mode_and_errno},
		{"operands are told by where they lie", operands_are_told_by_where_they_lie},
		{"a stopped process does not lose its device",
		 a_stopped_process_does_not_lose_its_device},
		{"a lost device stays lost", a_lost_device_stays_lost},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("device", tests);
}
