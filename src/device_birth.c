/* SPDX-License-Identifier: BSD-3-Clause */
/* How the devices of a team come to be: which they are, their streams and events, their links. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

static struct sb_team team;

struct sb_team *sb_device_made(void)
{
	return &team;
}

void sb_device_names(unsigned devices, char text[SB_DEVICE_NAMES])
{
	size_t length = 0;

	strcpy(text, "-");
	for (int i = 0; i < SB_DEVICES; i++)
		if (devices >> i & 1 && length < SB_DEVICE_NAMES)
			length += (size_t)snprintf(text + length, SB_DEVICE_NAMES - length,
						   length ? ",%d" : "%d", team.devices[i].ordinal);
}

static bool listed(const int *ordinals, int count, long ordinal)
{
	for (int i = 0; i < count; i++)
		if (ordinals[i] == ordinal)
			return true;
	return false;
}

/* A list that has been checked. Numbers that no device can have become the highest that none has.
 */
static void read_list(struct sb_device_wish *wish, const char *text)
{
	if (strcmp(text, "all") == 0) {
		wish->count = -1;
		return;
	}
	while (*text && wish->count < SB_DEVICES) {
		char *end;
		long ordinal = strtol(text, &end, 10);

		if (ordinal > 1024)
			ordinal = 1024;
		if (!listed(wish->ordinals, wish->count, ordinal))
			wish->ordinals[wish->count++] = (int)ordinal;
		text = *end ? end + 1 : end;
	}
}

struct sb_device_wish sb_device_wish(void)
{
	struct sb_device_wish wish = {.handle = sb_driver_current_device(), .rank = -1};

	read_list(&wish, sb_settings()->device);
	if (sb_settings()->local_rank >= 0 && sb_settings()->local_rank < 1 << 30)
		wish.rank = (int)sb_settings()->local_rank;
	return wish;
}

static int choose_one(const struct sb_driver *cu, const struct sb_device_wish *wish, int devices)
{
	sb_cu_device handle;

	if (wish->handle >= 0)
		for (int i = 0; i < devices; i++)
			if (cu->device_get(&handle, i) == SB_CU_SUCCESS && handle == wish->handle)
				return i;
	return wish->rank >= 0 ? wish->rank % devices : 0;
}

/* How many devices, and which; 0 if one that was asked for does not exist. */
static int choose(const struct sb_driver *cu, const struct sb_device_wish *wish,
		  int ordinals[SB_DEVICES])
{
	int devices = 0;

	if (cu->device_count(&devices) != SB_CU_SUCCESS || devices <= 0)
		return 0;
	if (wish->count == 0) {
		ordinals[0] = choose_one(cu, wish, devices);
		return 1;
	}
	if (wish->count < 0) {
		devices = devices < SB_DEVICES ? devices : SB_DEVICES;
		for (int i = 0; i < devices; i++)
			ordinals[i] = i;
		return devices;
	}
	for (int i = 0; i < wish->count; i++) {
		ordinals[i] = wish->ordinals[i];
		if (ordinals[i] >= devices)
			return 0;
	}
	return wish->count;
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

/* With its context current. */
static bool make_streams(struct sb_device *device, bool alone)
{
	const struct sb_driver *cu = device->cu;
	bool ok = true;

	/* Products wait for what is packed; beyond the device's range it counts as its highest. */
	for (int i = 0; ok && i < SB_STREAMS; i++)
		if (i != SB_STREAM_PEER || !alone)
			ok = cu->stream_create_ranked(
				     &device->streams[i], SB_CU_STREAM_NON_BLOCKING,
				     i == SB_STREAM_PACK ? -100 : 0) == SB_CU_SUCCESS;
	for (int i = 0; ok && i < SB_DEVICE_EVENTS; i++)
		ok = cu->event_create(&device->events[i], SB_CU_EVENT_DISABLE_TIMING) ==
		     SB_CU_SUCCESS;
	return ok;
}

/* The context is released with all that is in it; but the program may be using the same. */
static void unmake(struct sb_device *device)
{
	const struct sb_driver *cu = device->cu;

	if (device->mark)
		cu->memory_free(device->mark);
	for (int i = 0; i < SB_DEVICE_EVENTS && device->events[i]; i++)
		cu->event_destroy(device->events[i]);
	for (int i = 0; i < SB_STREAMS; i++)
		if (device->streams[i])
			cu->stream_destroy(device->streams[i]);
	cu->primary_release(device->handle);
}

/* On failure nothing of it is kept. */
static bool make(struct sb_device *device, bool alone)
{
	const struct sb_driver *cu = device->cu;
	struct sb_visit visit;
	bool made;

	if (cu->device_get(&device->handle, device->ordinal) != SB_CU_SUCCESS ||
	    !read_attributes(device) ||
	    cu->primary_retain(&device->context, device->handle) != SB_CU_SUCCESS)
		return false;
	made = sb_device_enter(device, &visit) == SB_OK;
	if (made) {
		made = make_streams(device, alone);
		sb_device_leave(device, &visit);
	}
	if (!made)
		unmake(device);
	return made;
}

/* A device that cannot reach another, or may not, is no failure: the host serves each of them. */
static bool link_to(struct sb_device *device, const struct sb_device *other)
{
	const struct sb_driver *cu = device->cu;
	sb_cu_result result;
	int can = 0;

	if (cu->device_can_access(&can, device->handle, other->handle) != SB_CU_SUCCESS || !can)
		return false;
	result = cu->context_enable_peer(other->context, 0);
	/* The program may have done it before us. */
	return result == SB_CU_SUCCESS || result == SB_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

static bool link_all(void)
{
	bool linked = true;

	for (int i = 0; i < team.count && linked; i++) {
		struct sb_visit visit;

		linked = sb_device_enter(&team.devices[i], &visit) == SB_OK;
		if (!linked)
			break;
		for (int j = 0; j < team.count && linked; j++)
			linked = i == j || link_to(&team.devices[i], &team.devices[j]);
		sb_device_leave(&team.devices[i], &visit);
	}
	return linked;
}

/*
 * A context takes a tenth of a second to make and as long to take down, which whoever waits for the
 * end of a process need not be made to wait for.
 */
static bool is_vain(const struct sb_device_wish *wish)
{
	return wish->vain && atomic_load(wish->vain);
}

enum sb_status sb_device_birth(const struct sb_driver *cu, struct sb_device_wish wish)
{
	int ordinals[SB_DEVICES], count;

	if (cu->init(0) != SB_CU_SUCCESS)
		return SB_NO_DEVICE;
	count = choose(cu, &wish, ordinals);
	for (team.count = 0; team.count < count; team.count++) {
		struct sb_device *device = &team.devices[team.count];

		*device = (struct sb_device){
			.cu = cu, .index = team.count, .ordinal = ordinals[team.count]};
		if (is_vain(&wish) || !make(device, count == 1))
			break;
	}
	if (count > 0 && team.count == count) {
		team.linked = count > 1 && link_all();
		return SB_OK;
	}
	while (team.count > 0)
		unmake(&team.devices[--team.count]);
	return SB_NO_DEVICE;
}
