/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "process.h"
#include "trace.h"

static atomic_int health = SB_HEALTH_UNBORN;
static atomic_int unusable_reason = SB_REASON_NO_GPU;
static atomic_int queue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum sb_health sb_device_health(enum sb_reason *why)
{
	enum sb_health found = (enum sb_health)atomic_load(&health);

	if (sb_process_forked_live()) {
		*why = SB_REASON_FORKED;
		return SB_HEALTH_UNUSABLE;
	}
	switch (found) {
	case SB_HEALTH_UNUSABLE:
		*why = (enum sb_reason)atomic_load(&unusable_reason);
		break;
	case SB_HEALTH_LOST:
		*why = SB_REASON_LOST;
		break;
	default:
		*why = SB_REASON_STARTING;
	}
	return found;
}

bool sb_device_turn(enum sb_health from, enum sb_health to, enum sb_reason why)
{
	int expected = (int)from;

	/* Unusable is only turned to once, by the thread that starts; so the reason can go first.
	 */
	if (to == SB_HEALTH_UNUSABLE)
		atomic_store(&unusable_reason, (int)why);
	return atomic_compare_exchange_strong(&health, &expected, (int)to);
}

struct sb_team *sb_device_team(void)
{
	enum sb_reason why;

	return sb_device_health(&why) == SB_HEALTH_READY ? sb_device_made() : NULL;
}

struct sb_device *sb_device(void)
{
	struct sb_team *team = sb_device_team();

	return team ? team->devices : NULL;
}

static bool lock_within(double seconds)
{
	struct timespec until;

	if (pthread_mutex_trylock(&lock) == 0)
		return true;
	if (seconds <= 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)seconds;
	until.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return pthread_mutex_timedlock(&lock, &until) == 0;
}

bool sb_device_take(struct sb_device *device, double seconds)
{
	(void)device;
	atomic_fetch_add(&queue, 1);
	if (lock_within(seconds)) {
		sb_device_forget_waits();
		return true;
	}
	atomic_fetch_sub(&queue, 1);
	return false;
}

int sb_device_queue(struct sb_device *device)
{
	(void)device;
	return atomic_load(&queue);
}

void sb_device_give(struct sb_device *device)
{
	(void)device;
	pthread_mutex_unlock(&lock);
	atomic_fetch_sub(&queue, 1);
}

/*
 * Of a thread's contexts and its capture mode: where it is not known which are in force, or they
 * are not the program's, no device may be touched any more, whatever the failure was.
 */
static enum sb_status step(struct sb_device *device, sb_cu_result result, const char *what)
{
	enum sb_status status = sb_device_check(device, result, what);

	return status == SB_OK || status == SB_LOST ? status : sb_device_lose(device, what);
}

/* In its context. A card may be full: then the next visit marks it. */
static enum sb_status make_mark(struct sb_device *device)
{
	enum sb_status status =
		sb_device_check(device, device->cu->memory_alloc(&device->mark, 1), "marking it");

	if (status == SB_OK)
		return SB_OK;
	device->mark = 0;
	return status == SB_LOST ? SB_LOST : SB_OK;
}

/* Is there still what we have made? */
static enum sb_status look_for_mark(struct sb_device *device)
{
	int attribute = SB_CU_POINTER_BUFFER_ID;
	unsigned long long id = 0;
	void *value = &id;
	enum sb_status status;

	if (!device->mark)
		return SB_OK;
	status = sb_device_check(
		device, device->cu->pointer_attributes(1, &attribute, &value, device->mark),
		"looking for our mark");
	if (status != SB_OK)
		return status;
	if (!device->mark_id)
		device->mark_id = id;
	return id == device->mark_id ? SB_OK : sb_device_lose(device, "the program has reset it");
}

/* A device of the team that was reset has taken some of each product's memory along. */
static enum sb_status recognise(struct sb_device *device)
{
	struct sb_team *team = sb_device_made();
	enum sb_status status = device->mark ? SB_OK : make_mark(device);

	if (status == SB_OK)
		status = look_for_mark(device);
	for (int i = 0; i < team->count && status == SB_OK; i++)
		if (&team->devices[i] != device)
			status = look_for_mark(&team->devices[i]);
	return status;
}

enum sb_status sb_device_enter(struct sb_device *device, struct sb_visit *visit)
{
	enum sb_status status;

	visit->error_number = errno;
	visit->capture_mode = SB_CU_CAPTURE_MODE_RELAXED;
	status = sb_device_check(device, device->cu->context_push(device->context),
				 "making its context current");
	if (status != SB_OK)
		goto out;
	/* Else our allocations would break a capture that the program has going on this thread. */
	status = sb_device_check(device, device->cu->capture_mode(&visit->capture_mode),
				 "setting the capture mode");
	if (status != SB_OK) {
		sb_cu_context popped;

		if (step(device, device->cu->context_pop(&popped),
			 "the program's context cannot be put back") != SB_OK)
			status = SB_LOST;
		goto out;
	}
	status = recognise(device);
	if (status != SB_OK)
		sb_device_leave(device, visit);
	return status;
out:
	errno = visit->error_number;
	return status;
}

void sb_device_leave(struct sb_device *device, const struct sb_visit *visit)
{
	int mode = visit->capture_mode;
	sb_cu_context popped;

	(void)step(device, device->cu->capture_mode(&mode), "the capture mode cannot be put back");
	(void)step(device, device->cu->context_pop(&popped),
		   "the program's context cannot be put back");
	errno = visit->error_number;
}

enum sb_status sb_device_step_over(struct sb_device *device)
{
	return step(device, device->cu->context_push(device->context),
		    "its context cannot be made current");
}

enum sb_status sb_device_step_back(struct sb_device *device)
{
	sb_cu_context popped;

	return step(device, device->cu->context_pop(&popped), "another context cannot be put back");
}

enum sb_status sb_device_check(struct sb_device *device, sb_cu_result result, const char *what)
{
	char why[160];

	if (result == SB_CU_SUCCESS)
		return SB_OK;
	if (result == SB_CU_ERROR_OUT_OF_MEMORY)
		return SB_NO_MEMORY;
	if (sb_driver_survives(result)) {
		sb_trace_line(2, "device %d: %s: %s", device->ordinal, what,
			      sb_driver_error(result));
		return SB_DECLINE;
	}
	strcpy(why, what);
	strcat(why, ": ");
	strncat(why, sb_driver_error(result), sizeof why - strlen(why) - 1);
	return sb_device_lose(device, why);
}

enum sb_status sb_device_lose(struct sb_device *device, const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	enum sb_health was = (enum sb_health)atomic_exchange(&health, (int)SB_HEALTH_LOST);

	/* A process that is ending takes its device away itself: nothing to warn of. */
	if (was == SB_HEALTH_READY || was == SB_HEALTH_STARTING)
		sb_trace_once(&said, "device %d is lost (%s); the CPU goes on", device->ordinal,
			      why);
	return SB_LOST;
}

static enum sb_place place_of(struct sb_device *device, const void *pointer)
{
	unsigned memory_type = 0, managed = 0;
	int ordinal = -1;
	int attributes[] = {SB_CU_POINTER_MEMORY_TYPE, SB_CU_POINTER_IS_MANAGED,
			    SB_CU_POINTER_DEVICE_ORDINAL};
	void *values[] = {&memory_type, &managed, &ordinal};
	sb_cu_result result = device->cu->pointer_attributes(3, attributes, values,
							     (sb_cu_deviceptr)(uintptr_t)pointer);

	if (result != SB_CU_SUCCESS) {
		(void)sb_device_check(device, result, "looking at a pointer");
		/* The driver copies from wherever it is. */
		return sb_process_reads(pointer) ? SB_PLACE_PAGEABLE : SB_PLACE_ELSEWHERE;
	}
	if (managed)
		return SB_PLACE_PAGEABLE;
	if (memory_type == SB_CU_MEMORY_HOST)
		return SB_PLACE_PINNED;
	if (memory_type == SB_CU_MEMORY_DEVICE)
		return ordinal == device->ordinal ? SB_PLACE_DEVICE : SB_PLACE_ELSEWHERE;
	return SB_PLACE_PAGEABLE;
}

static bool beyond_cpu(enum sb_place place)
{
	return place == SB_PLACE_DEVICE || place == SB_PLACE_ELSEWHERE;
}

enum sb_place sb_device_place(struct sb_device *device, const void *pointer, size_t bytes)
{
	enum sb_place first = place_of(device, pointer);
	enum sb_place last = place_of(device, (const char *)pointer + bytes - 1);

	if (first == last)
		return first;
	return beyond_cpu(first) || beyond_cpu(last) ? SB_PLACE_ELSEWHERE : SB_PLACE_PAGEABLE;
}
