/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer.h"

#include "copy_threads.h"

bool sb_transfer_direct(const struct sb_lines *lines)
{
	return lines->height == 1 ||
	       (lines->host_pitch < SB_TRANSFER_PITCH && lines->device_pitch < SB_TRANSFER_PITCH);
}

enum sb_status sb_transfer_up(struct sb_device *device, const struct sb_lines *lines, bool direct,
			      double seconds)
{
	bool queued = false;
	struct sb_upload upload = {.lines = *lines, .queued = &queued};
	struct sb_idle idle = {0};
	enum sb_status status = SB_OK;

	if (direct && sb_transfer_direct(lines))
		return sb_ring_copy(device, lines, true, NULL);
	if (sb_lines_bytes(lines) == 0)
		return SB_OK;
	sb_ring_expect(device, sb_lines_bytes(lines), 0);
	sb_copy_threads_open();
	while (status == SB_OK && !queued) {
		bool moved = false;

		sb_ring_feed(device, &upload);
		status = sb_ring_turn(device, &moved);
		if (status == SB_OK)
			status = sb_ring_idle(device, &idle, moved, seconds);
	}
	sb_ring_settle(device);
	sb_copy_threads_close();
	return status;
}

enum sb_status sb_transfer_down(struct sb_device *device, const struct sb_lines *lines,
				sb_ring_commit *commit, void *context, double seconds)
{
	struct sb_download download = {.lines = *lines, .commit = commit, .context = context};
	struct sb_idle idle = {0};
	enum sb_status status = SB_OK;
	bool all = sb_lines_bytes(lines) == 0;

	sb_ring_expect(device, 0, sb_lines_bytes(lines));
	sb_copy_threads_open();
	while (status == SB_OK && (!all || sb_ring_busy(device))) {
		bool moved = false;

		if (!all)
			status = sb_ring_fetch(device, &download, &all);
		if (status == SB_OK)
			status = sb_ring_turn(device, &moved);
		if (status == SB_OK)
			status = sb_ring_idle(device, &idle, moved, seconds);
	}
	sb_ring_settle(device);
	sb_copy_threads_close();
	return status;
}
