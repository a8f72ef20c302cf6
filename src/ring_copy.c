/* SPDX-License-Identifier: BSD-3-Clause */
/* What needs nothing of the rings themselves. */
#include "ring.h"

#include "copy_threads.h"
#include "timeline.h"

enum sb_status sb_ring_copy(struct sb_device *device, const struct sb_lines *lines, bool upwards,
			    sb_cu_event event)
{
	enum sb_stream way = upwards ? SB_STREAM_UP : SB_STREAM_DOWN;
	sb_cu_stream stream = device->streams[way];
	size_t span = sb_timeline_copy(device, way, sb_lines_bytes(lines));
	/* A single line has no pitch, but the driver would check the one given against its limit.
	 */
	size_t host_pitch = lines->height == 1 ? lines->width : lines->host_pitch;
	size_t device_pitch = lines->height == 1 ? lines->width : lines->device_pitch;
	struct sb_cu_memcpy2d copy = {.width_bytes = lines->width, .height = lines->height};
	enum sb_status status;

	copy.src_type = upwards ? SB_CU_MEMORY_HOST : SB_CU_MEMORY_DEVICE;
	copy.dst_type = upwards ? SB_CU_MEMORY_DEVICE : SB_CU_MEMORY_HOST;
	copy.src_host = lines->host;
	copy.dst_host = lines->host;
	copy.src_device = copy.dst_device = lines->device;
	copy.src_pitch = upwards ? host_pitch : device_pitch;
	copy.dst_pitch = upwards ? device_pitch : host_pitch;
	status = sb_device_check(device, device->cu->copy_2d(&copy, stream), "a copy");
	sb_timeline_copied(device, span);
	if (status == SB_OK && event)
		status = sb_device_check(device, device->cu->event_record(event, stream),
					 "recording an event");
	return status;
}

enum sb_status sb_ring_idle(struct sb_device *device, struct sb_idle *idle, bool moved,
			    double seconds)
{
	enum sb_status status;

	if (moved || sb_copy_threads_help()) {
		idle->since = 0;
		return SB_OK;
	}
	status = sb_device_pause(device, &idle->since, seconds);
	sb_timeline_waited(idle->since);
	return status;
}
