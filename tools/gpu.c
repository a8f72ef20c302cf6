/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu.h"

#include <string.h>

#include "sample.h"
#include "settings.h"
#include "start.h"

/* More than a host of many GPUs takes to start CUDA. */
#define PATIENCE 60.0

struct sb_device *sb_gpu_device(void)
{
	sb_start_buy();
	return sb_start_wait(PATIENCE) == SB_HEALTH_READY ? sb_device() : NULL;
}

const char *sb_gpu_why_not(void)
{
	enum sb_reason why = SB_REASON_NO_GPU;

	(void)sb_device_health(&why);
	return sb_reason_text(why);
}

void sb_gpu_meet(struct sb_device *device)
{
	struct sb_profile_sample sample;
	bool measured = false;

	if (sb_profile_unknown(device) && sb_device_take(device, PATIENCE)) {
		measured = sb_sample_take(device, &sample);
		sb_device_give(device);
	}
	sb_profile_meet(device, measured ? &sample : NULL);
}

const char *sb_gpu_no_peers(void)
{
	if (*sb_settings()->driver)
		return "not measured: SHIMBLAS_DRIVER names another driver than theirs";
	return sb_gpu_device() ? NULL : sb_gpu_why_not();
}

bool sb_gpu_visit(struct sb_device *device, struct sb_visit *visit)
{
	if (!sb_device_take(device, PATIENCE))
		return false;
	if (sb_device_enter(device, visit) == SB_OK)
		return true;
	sb_device_give(device);
	return false;
}

void sb_gpu_depart(struct sb_device *device, const struct sb_visit *visit)
{
	sb_device_leave(device, visit);
	sb_device_give(device);
}

void sb_gpu_say_team(struct sb_page *page, const struct sb_team *team)
{
	char names[SB_DEVICE_NAMES];

	sb_device_names((1u << team->count) - 1, names);
	sb_page_say(page, "device", "%s (%s)", names, team->devices->name);
	if (team->count > 1)
		sb_page_say(page, "links", "%s",
			    team->linked ? "each of these devices reaches the memory of the others"
					 : "not every device reaches every other: each is sent all "
					   "that it needs from the host");
}

void *sb_gpu_take_pinned(size_t bytes)
{
	struct sb_device *device = sb_gpu_device();
	struct sb_visit visit;
	void *memory = NULL;

	if (!device || !sb_gpu_visit(device, &visit))
		return NULL;
	if (device->cu->host_alloc(&memory, bytes, SB_CU_HOST_ALLOC_PORTABLE) != SB_CU_SUCCESS)
		memory = NULL;
	sb_gpu_depart(device, &visit);
	return memory;
}

void sb_gpu_give_pinned(void *memory)
{
	struct sb_device *device = sb_device();
	struct sb_visit visit;

	if (!device || !sb_gpu_visit(device, &visit))
		return;
	(void)device->cu->host_free(memory);
	sb_gpu_depart(device, &visit);
}

/* A piece that has come home, put where a program would want it. */
static void commit(void *context, const struct sb_chunk *piece, const void *from, size_t pitch)
{
	const struct sb_lines *lines = context;

	for (size_t i = 0; i < piece->height; i++)
		memcpy((char *)lines->host + (piece->line + i) * lines->host_pitch + piece->start,
		       (const char *)from + i * pitch, piece->width);
}

bool sb_gpu_passed(struct sb_device *device, enum sb_stream stream, double patience)
{
	sb_cu_event event = device->events[0];

	return device->cu->event_record(event, device->streams[stream]) == SB_CU_SUCCESS &&
	       sb_device_wait(device, event, patience) == SB_OK;
}

bool sb_gpu_copy(struct sb_device *device, struct sb_lines *lines, bool up, bool pinned,
		 double patience)
{
	if (up)
		return sb_transfer_up(device, lines, pinned, patience) == SB_OK &&
		       sb_gpu_passed(device, SB_STREAM_UP, patience);
	if (pinned)
		return sb_ring_copy(device, lines, false, NULL) == SB_OK &&
		       sb_gpu_passed(device, SB_STREAM_DOWN, patience);
	return sb_transfer_down(device, lines, commit, lines, patience) == SB_OK;
}
