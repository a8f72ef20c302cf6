/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: strided copies between the caller's memory and the device: exactly width x height bytes,
 * nothing of the gaps between lines is read or written on either side.
 *
 * Pageable memory goes through a ring of pinned slots in chunks: the CPU fills a slot while the
 * copy engine empties the one before. A slot is filled again only after its event. Pinned memory is
 * copied directly. Uploads run on the device's stream UP, downloads on its stream DOWN.
 *
 * Called by the one who has taken and entered the device.
 */
#ifndef SB_TRANSFER_H
#define SB_TRANSFER_H

#include "device.h"

/* `height` lines of `width` bytes. Pitches are in bytes, from line to line. */
struct sb_lines {
	void *host; /* only read by uploads */
	size_t host_pitch;
	sb_cu_deviceptr device;
	size_t device_pitch;
	size_t width, height;
};

/* A piece of lines that fits a slot: lines [line, line + height), bytes [start, start + width). */
struct sb_chunk {
	size_t line, height, start, width;
};

/* How many chunks lines are cut into for slots of `slot` bytes, and the index-th of them. */
size_t sb_transfer_chunks(const struct sb_lines *lines, size_t slot);
struct sb_chunk sb_transfer_chunk(const struct sb_lines *lines, size_t slot, size_t index);

/* Makes the ring. SB_NO_MEMORY if not even the smallest can be had. Costs nothing afterwards. */
enum sb_status sb_transfer_prepare(struct sb_device *device);

/*
 * Host to device. On return the copies are queued; pageable memory has been read. With direct,
 * which pinned memory allows, it is read in one piece where it can be, until the stream has passed.
 * Waits, for slots, at most `seconds` each.
 */
enum sb_status sb_transfer_up(struct sb_device *device, const struct sb_lines *lines, bool direct,
			      double seconds);

/*
 * Device to host through the ring: each chunk, in order, is handed to `commit` when it has arrived,
 * with its pitch in the slot. lines->host is not touched here. On failure some chunks have been
 * committed and the others have not.
 */
typedef void (*sb_transfer_commit)(void *context, const struct sb_chunk *chunk, const void *from,
				   size_t pitch);
enum sb_status sb_transfer_down(struct sb_device *device, const struct sb_lines *lines,
				sb_transfer_commit commit, void *context, double seconds);

#define SB_TRANSFER_PITCH ((size_t)1 << 31) /* copy engines take pitches below this */

/* Can the copy engine do these lines in one piece? (Its pitches are limited.) */
bool sb_transfer_direct(const struct sb_lines *lines);

/* Device to pinned host memory, where sb_transfer_direct(); on return the copy is queued. */
enum sb_status sb_transfer_down_direct(struct sb_device *device, const struct sb_lines *lines);

#endif
