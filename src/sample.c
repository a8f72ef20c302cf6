/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample.h"

#include <string.h>

#include "clock.h"

enum { REPEAT = 3, MEASURED = 3 }; /* the first of the link's sizes */

static const double patience = 1;

static bool copy(struct sb_device *device, sb_cu_deviceptr on_device, void *host, size_t bytes,
		 bool up)
{
	enum sb_stream stream = up ? SB_STREAM_UP : SB_STREAM_DOWN;
	sb_cu_result result =
		up ? device->cu->copy_up(on_device, host, bytes, device->streams[stream])
		   : device->cu->copy_down(host, on_device, bytes, device->streams[stream]);

	return result == SB_CU_SUCCESS &&
	       device->cu->event_record(device->events[0], device->streams[stream]) ==
		       SB_CU_SUCCESS &&
	       sb_device_wait(device, device->events[0], patience) == SB_OK;
}

/* The shortest of a few: whatever disturbs a copy makes it longer. 0 if one failed. */
static double shortest(struct sb_device *device, sb_cu_deviceptr on_device, void *host,
		       size_t bytes, bool up)
{
	double least = 0;

	for (int i = 0; i < REPEAT; i++) {
		double start = sb_clock_now(), seconds;

		if (!copy(device, on_device, host, bytes, up))
			return 0;
		seconds = sb_clock_now() - start;
		if (i == 0 || seconds < least)
			least = seconds;
	}
	return least;
}

/* Sizes that were not tried, at the rate of the last that was. */
static void extend(double *seconds)
{
	for (int i = MEASURED; i < SB_LINK_SIZES; i++)
		seconds[i] = seconds[MEASURED - 1] * (double)sb_link_sizes[i] /
			     (double)sb_link_sizes[MEASURED - 1];
}

static bool measure(struct sb_device *device, sb_cu_deviceptr on_device, void *host,
		    struct sb_profile_sample *sample)
{
	for (int up = 0; up < 2; up++) {
		double *seconds = sample->link[up ? SB_PINNED_UP : SB_PINNED_DOWN];

		for (int i = 0; i < MEASURED; i++) {
			seconds[i] = shortest(device, on_device, host, sb_link_sizes[i], up);
			if (!(seconds[i] > 0))
				return false;
		}
		extend(seconds);
	}
	return true;
}

bool sb_sample_take(struct sb_device *device, struct sb_profile_sample *sample)
{
	const size_t bytes = sb_link_sizes[MEASURED - 1];
	sb_cu_deviceptr on_device;
	struct sb_visit visit;
	bool measured = false;
	void *host;

	memset(sample, 0, sizeof *sample);
	if (sb_device_enter(device, &visit) != SB_OK)
		return false;
	if (device->cu->host_alloc(&host, bytes, 0) != SB_CU_SUCCESS)
		goto leave;
	if (device->cu->memory_alloc(&on_device, bytes) != SB_CU_SUCCESS)
		goto free_host;
	measured = measure(device, on_device, host, sample);
	/* A copy that was not waited for may still be on its way: then nothing is given back. */
	if (!measured)
		goto leave;
	(void)device->cu->memory_free(on_device);
free_host:
	(void)device->cu->host_free(host);
leave:
	sb_device_leave(device, &visit);
	return measured;
}
