/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: strided copies between the caller's memory and the device, of one matrix and waited for.
 * Uploads run on the device's stream UP, downloads on its stream DOWN. A call's own copies, many at
 * once, use the rings themselves (ring.h).
 *
 * Called by the one who has taken and entered the device, after sb_ring_prepare().
 */
#ifndef SB_TRANSFER_H
#define SB_TRANSFER_H

#include "device.h"
#include "lines.h"
#include "ring.h"

/*
 * Host to device. On return the copies are queued; pageable memory has been read. With direct,
 * which pinned memory allows, it is read in one piece where it can be, until the stream has passed.
 * SB_LOST if nothing moves for `seconds`.
 */
enum sb_status sb_transfer_up(struct sb_device *device, const struct sb_lines *lines, bool direct,
			      double seconds);

/*
 * Device to host through the ring: pieces are handed to `commit` when they have arrived, several at
 * a time. lines->host is not touched here. On failure some have been committed and others not.
 */
enum sb_status sb_transfer_down(struct sb_device *device, const struct sb_lines *lines,
				sb_ring_commit *commit, void *context, double seconds);

#define SB_TRANSFER_PITCH ((size_t)1 << 31) /* copy engines take pitches below this */

/* Can the copy engine do these lines in one piece? (Its pitches are limited.) */
bool sb_transfer_direct(const struct sb_lines *lines);

#endif
