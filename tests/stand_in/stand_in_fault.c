/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way into and out of every function of the stand-in: one lock, the count of calls, the faults
 * that were asked for, the states in which the real driver refuses, and the list of violations.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "stand_in.h"
#include "stand_in_world.h"

struct world world;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static _Atomic pid_t owner; /* the process that called cuInit; 0 before */
static atomic_bool ended;   /* exit handlers are running */

const char *const slot_names[SLOTS] = {
#define SB_DRIVER(slot, base, symbol, version, parameters) #slot,
#include "../../src/driver.def"
#undef SB_DRIVER
};

static const char *const way_names[WAYS] = {"up", "down", "peer"};

enum { BEFORE_INIT = 1, AFTER_LOSS = 2, QUEUES = 4, UNSAFE = 8 };

/*
 * What differs from a function that needs cuInit, fails after a loss, is done on return and harms
 * no other thread's stream capture.
 */
static const unsigned char traits[SLOTS] = {
	[SLOT_init] = BEFORE_INIT | AFTER_LOSS,
	[SLOT_driver_version] = BEFORE_INIT | AFTER_LOSS,
	[SLOT_error_name] = BEFORE_INIT | AFTER_LOSS,
	[SLOT_device_count] = AFTER_LOSS,
	[SLOT_device_get] = AFTER_LOSS,
	[SLOT_device_name] = AFTER_LOSS,
	[SLOT_device_attribute] = AFTER_LOSS,
	[SLOT_device_memory] = AFTER_LOSS,
	[SLOT_primary_state] = AFTER_LOSS,
	[SLOT_context_push] = AFTER_LOSS,
	[SLOT_context_pop] = AFTER_LOSS,
	[SLOT_context_current] = AFTER_LOSS,
	[SLOT_context_device] = AFTER_LOSS,
	[SLOT_capture_mode] = AFTER_LOSS,
	[SLOT_memory_alloc] = UNSAFE,
	[SLOT_memory_free] = UNSAFE,
	[SLOT_memory_create] = UNSAFE,
	[SLOT_memory_map] = UNSAFE,
	[SLOT_memory_access] = UNSAFE,
	[SLOT_memory_unmap] = UNSAFE,
	[SLOT_memory_release] = UNSAFE,
	[SLOT_host_alloc] = UNSAFE,
	[SLOT_host_free] = UNSAFE,
	[SLOT_module_load] = UNSAFE,
	[SLOT_module_unload] = UNSAFE,
	[SLOT_copy_up] = QUEUES,
	[SLOT_copy_down] = QUEUES,
	[SLOT_copy_across] = QUEUES,
	[SLOT_copy_peer] = QUEUES,
	[SLOT_copy_2d] = QUEUES,
	[SLOT_set_words] = QUEUES,
	[SLOT_launch] = QUEUES,
	[SLOT_event_record] = QUEUES,
	[SLOT_stream_wait_event] = QUEUES,
};

void world_lock(void)
{
	pthread_mutex_lock(&lock);
}

void world_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void world_wait_for_ever(void)
{
	for (;;)
		pthread_cond_wait(&never, &lock);
}

int64_t world_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void world_sleep_until(int64_t due)
{
	int64_t left = due - world_now();
	struct timespec time;

	if (left <= 0)
		return;
	time.tv_sec = left / 1000000000;
	time.tv_nsec = left % 1000000000;
	world_unlock();
	nanosleep(&time, NULL);
	world_lock();
}

unsigned world_random(unsigned below)
{
	unsigned long x = world.random; /* xorshift64* */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	world.random = x;
	return (unsigned)((x * 0x2545f4914f6cdd1dUL) >> 33) % below;
}

void world_violation(const char *format, ...)
{
	char text[sizeof world.error];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (!world.error[0])
		memcpy(world.error, text, sizeof text);
	fprintf(stderr, "stand-in: %s\n", text);
	if (world.settings.abort)
		abort();
}

int slot_find(const char *name, size_t length)
{
	for (int i = 0; i < SLOTS; i++)
		if (strlen(slot_names[i]) == length && memcmp(slot_names[i], name, length) == 0)
			return i;
	return -1;
}

static sb_cu_result usual_error(const struct fault *fault)
{
	if (fault->error)
		return fault->error;
	if (fault->kind == FAULT_LOSE || fault->kind == FAULT_CRASH)
		return SB_CU_ERROR_LAUNCH_FAILED;
	switch (fault->slot) {
	case SLOT_init:
		return SB_CU_ERROR_NO_DEVICE;
	case SLOT_memory_alloc:
	case SLOT_memory_create:
	case SLOT_host_alloc:
	case SLOT_primary_retain:
		return SB_CU_ERROR_OUT_OF_MEMORY;
	case SLOT_module_load:
		return SB_CU_ERROR_NO_BINARY_FOR_GPU;
	case SLOT_module_function:
		return SB_CU_ERROR_NOT_FOUND;
	case SLOT_launch:
		return SB_CU_ERROR_LAUNCH_OUT_OF_RESOURCES;
	default:
		return SB_CU_ERROR_UNKNOWN;
	}
}

sb_cu_result world_lost(const struct CUctx_st *context)
{
	return world.lost[context ? context->device : 0];
}

/* The current context's device, or, where there is none, all of them. */
static void lose(sb_cu_result error)
{
	const struct CUctx_st *top = context_top();

	for (int device = 0; device < DEVICES; device++)
		if (!top || device == top->device)
			world.lost[device] = error;
}

/* What was asked to go wrong with this call. */
static sb_cu_result inject(enum slot slot)
{
	sb_cu_result error = 0;

	world.hang = false;
	world.crash = 0;
	for (int i = 0; i < world.fault_count; i++) {
		const struct fault *fault = &world.faults[i];
		bool now = fault->slot == slot && fault->call == world.calls[slot];

		if (fault->kind == FAULT_FROM && fault->slot == slot)
			now = fault->call <= world.calls[slot];
		if (!now)
			continue;
		if (fault->kind == FAULT_HANG)
			world.hang = true;
		else if (fault->kind == FAULT_CRASH)
			world.crash = usual_error(fault);
		else
			error = usual_error(fault);
		if (fault->kind == FAULT_LOSE)
			lose(error);
	}
	if (world.hang && !(traits[slot] & QUEUES))
		world_wait_for_ever();
	if (world.crash && !(traits[slot] & QUEUES))
		lose(world.crash);
	return error;
}

static void report(void)
{
	struct stand_in_live live;
	FILE *file;

	atomic_store(&ended, true);
	/* A child of fork has nothing to tell, and may find the world locked for ever. */
	if (getpid() != atomic_load(&owner))
		return;
	live = stand_in_live();
	file = world.settings.report[0] ? fopen(world.settings.report, "a") : NULL;
	if (!file)
		return;
	for (int i = 0; i < SLOTS; i++)
		if (stand_in_calls(slot_names[i]))
			fprintf(file, "%s %ld\n", slot_names[i], stand_in_calls(slot_names[i]));
	for (int way = 0; way < WAYS; way++)
		for (int device = 0; device < DEVICES; device++)
			if (world.bytes[way][device])
				fprintf(file, "bytes-%s-%d %ld\n", way_names[way], device,
					world.bytes[way][device]);
	fprintf(file,
		"live device %d host %d streams %d events %d modules %d contexts %d pending %d\n",
		live.device_memory, live.host_memory, live.streams, live.events, live.modules,
		live.contexts, live.pending);
	fclose(file);
}

sb_cu_result stand_in_init(unsigned flags)
{
	sb_cu_result error = world_enter(SLOT_init);

	if (error)
		return error;
	world_sleep_until(world_now() + 1000000 * world.settings.start);
	if (flags)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if (world.settings.devices == 0)
		return world_leave(SB_CU_ERROR_NO_DEVICE);
	if (!world.started) {
		world.started = true;
		atomic_store(&owner, getpid());
		atexit(report);
	}
	return world_leave(0);
}

sb_cu_result world_enter(enum slot slot)
{
	pid_t process = atomic_load(&owner);
	sb_cu_result error;

	/* The lock may have been held by another thread when this process was forked. */
	if (process && process != getpid())
		return SB_CU_ERROR_NOT_INITIALIZED;
	if (atomic_load(&ended))
		return SB_CU_ERROR_DEINITIALIZED;
	world_lock();
	config_start();
	world.calls[slot]++;
	error = inject(slot);
	if (!error && !(traits[slot] & AFTER_LOSS))
		error = world_lost(context_top());
	if (!error && !world.started && !(traits[slot] & BEFORE_INIT))
		error = SB_CU_ERROR_NOT_INITIALIZED;
	if (error)
		return world_leave(error);
	if ((world.settings.capturing || world.captures) && traits[slot] & UNSAFE &&
	    context_capture_mode() != SB_CU_CAPTURE_MODE_RELAXED) {
		world_violation("%s ruins a capture", slot_names[slot]);
		return world_leave(ERROR_STREAM_CAPTURE_UNSUPPORTED);
	}
	stream_progress();
	if (!(traits[slot] & AFTER_LOSS) && world_lost(context_top()))
		return world_leave(world_lost(context_top()));
	return 0;
}

sb_cu_result world_leave(sb_cu_result error)
{
	world_unlock();
	errno = ENOTTY; /* the real one leaves whatever its last ioctl did */
	return error;
}

EXPORTED long stand_in_calls(const char *slot)
{
	int i = slot_find(slot, strlen(slot));
	long calls;

	world_lock();
	calls = i < 0 ? -1 : world.calls[i];
	world_unlock();
	return calls;
}

EXPORTED long stand_in_bytes(const char *way, int device)
{
	long bytes = -1;

	world_lock();
	for (int i = 0; i < WAYS; i++)
		if (strcmp(way_names[i], way) == 0 && device >= 0 && device < DEVICES)
			bytes = world.bytes[i][device];
	world_unlock();
	return bytes;
}

EXPORTED const char *stand_in_error(void)
{
	static char text[sizeof world.error];

	world_lock();
	memcpy(text, world.error, sizeof text);
	world_unlock();
	return text[0] ? text : NULL;
}
