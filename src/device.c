/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "process.h"
#include "settings.h"
#include "trace.h"

static struct sb_device the_device;
static atomic_int health = SB_HEALTH_UNBORN;
static atomic_int unusable_reason = SB_REASON_NO_GPU;
static atomic_int queue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct sb_device_wish sb_device_wish(void)
{
	struct sb_device_wish wish = {.handle = -1, .ordinal = -1, .rank = -1};
	const char *list = sb_settings()->device;
	char *end;
	long first = strtol(list, &end, 10);

	if (end != list && first >= 0 && first < 1024)
		wish.ordinal = (int)first;
	wish.handle = sb_driver_current_device();
	if (sb_settings()->local_rank >= 0 && sb_settings()->local_rank < 1 << 30)
		wish.rank = (int)sb_settings()->local_rank;
	return wish;
}

static int choose(const struct sb_driver *cu, struct sb_device_wish wish)
{
	sb_cu_device handle;
	int count = 0;

	if (cu->device_count(&count) != SB_CU_SUCCESS || count <= 0)
		return -1;
	if (wish.ordinal >= 0)
		return wish.ordinal < count ? wish.ordinal : -1;
	if (wish.handle >= 0)
		for (int i = 0; i < count; i++)
			if (cu->device_get(&handle, i) == SB_CU_SUCCESS && handle == wish.handle)
				return i;
	return wish.rank >= 0 ? wish.rank % count : 0;
}

static bool read_attributes(struct sb_device *device)
{
	const struct sb_driver *cu = device->cu;
	int major = 0, minor = 0;
	const struct {
		int attribute, *value;
	} wanted[] = {
		{SB_CU_ATTR_COMPUTE_CAPABILITY_MAJOR, &major},
		{SB_CU_ATTR_COMPUTE_CAPABILITY_MINOR, &minor},
		{SB_CU_ATTR_MULTIPROCESSOR_COUNT, &device->multiprocessors},
		{SB_CU_ATTR_CLOCK_RATE, &device->clock_khz},
		{SB_CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &device->shared_optin},
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (cu->device_attribute(wanted[i].value, wanted[i].attribute, device->handle) !=
		    SB_CU_SUCCESS)
			return false;
	device->arch = 10 * major + minor;
	return cu->device_name(device->name, (int)sizeof device->name - 1, device->handle) ==
		       SB_CU_SUCCESS &&
	       cu->device_memory(&device->memory, device->handle) == SB_CU_SUCCESS;
}

static bool make_streams(struct sb_device *device)
{
	const struct sb_driver *cu = device->cu;
	bool ok = true;

	/* Products wait for what is packed; beyond the device's range it counts as its highest. */
	for (int i = 0; ok && i < SB_STREAMS; i++)
		ok = cu->stream_create_ranked(&device->streams[i], SB_CU_STREAM_NON_BLOCKING,
					      i == SB_STREAM_PACK ? -100 : 0) == SB_CU_SUCCESS;
	for (int i = 0; ok && i < SB_DEVICE_EVENTS; i++)
		ok = cu->event_create(&device->events[i], SB_CU_EVENT_DISABLE_TIMING) ==
		     SB_CU_SUCCESS;
	return ok;
}

enum sb_status sb_device_birth(const struct sb_driver *cu, struct sb_device_wish wish)
{
	struct sb_device *device = &the_device;
	struct sb_visit visit;
	bool made;

	if (cu->init(0) != SB_CU_SUCCESS)
		return SB_NO_DEVICE;
	*device = (struct sb_device){.cu = cu, .ordinal = choose(cu, wish)};
	if (device->ordinal < 0 ||
	    cu->device_get(&device->handle, device->ordinal) != SB_CU_SUCCESS ||
	    !read_attributes(device) ||
	    cu->primary_retain(&device->context, device->handle) != SB_CU_SUCCESS)
		return SB_NO_DEVICE;
	if (sb_device_enter(device, &visit) != SB_OK)
		goto release;
	made = make_streams(device);
	sb_device_leave(device, &visit);
	if (made)
		return SB_OK;
	for (int i = 0; i < SB_DEVICE_EVENTS && device->events[i]; i++)
		cu->event_destroy(device->events[i]);
	for (int i = 0; i < SB_STREAMS && device->streams[i]; i++)
		cu->stream_destroy(device->streams[i]);
release:
	cu->primary_release(device->handle);
	return SB_NO_DEVICE;
}

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

struct sb_device *sb_device_made(void)
{
	return &the_device;
}

struct sb_device *sb_device(void)
{
	enum sb_reason why;

	return sb_device_health(&why) == SB_HEALTH_READY ? &the_device : NULL;
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

		(void)device->cu->context_pop(&popped);
		goto out;
	}
	return SB_OK;
out:
	errno = visit->error_number;
	return status;
}

void sb_device_leave(struct sb_device *device, const struct sb_visit *visit)
{
	int mode = visit->capture_mode;
	sb_cu_context popped;

	/* If even these fail there is nothing to be done but to use the device no more. */
	(void)sb_device_check(device, device->cu->capture_mode(&mode),
			      "putting the capture mode back");
	(void)sb_device_check(device, device->cu->context_pop(&popped),
			      "putting the program's context back");
	errno = visit->error_number;
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
		return SB_PLACE_PAGEABLE;
	}
	if (managed)
		return SB_PLACE_PAGEABLE;
	if (memory_type == SB_CU_MEMORY_HOST)
		return SB_PLACE_PINNED;
	if (memory_type == SB_CU_MEMORY_DEVICE)
		return ordinal == device->ordinal ? SB_PLACE_DEVICE : SB_PLACE_ELSEWHERE;
	return SB_PLACE_PAGEABLE;
}

enum sb_place sb_device_place(struct sb_device *device, const void *pointer, size_t bytes)
{
	enum sb_place first = place_of(device, pointer);
	enum sb_place last = place_of(device, (const char *)pointer + bytes - 1);

	return first == last ? first : SB_PLACE_PAGEABLE;
}
