/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: the memory we hold: one region on each device and one of pinned host memory.
 *
 * A device region is taken for a plan and given back after it. Between calls at most
 * sb_arena_keep() bytes stay with us; what a region has beyond them is freed when it is given back.
 * The pinned region is made at the first call and kept; all devices reach it. They are bounded by
 * SHIMBLAS_DEVICE_MEMORY, each of them, and SHIMBLAS_PINNED_MEMORY. All functions but the first are
 * called by the one who has taken and entered the device.
 */
#ifndef SB_ARENA_H
#define SB_ARENA_H

#include "device.h"

/* Of so many bytes of a device those that SHIMBLAS_DEVICE_MEMORY allows. */
size_t sb_arena_bounded(size_t bytes);

/* The most bytes kept between calls: min(2 GiB, 1/16 of the card, SHIMBLAS_DEVICE_MEMORY). */
size_t sb_arena_keep(const struct sb_device *device);

/*
 * The most bytes a plan may ask for now: what is free, less a reserve for the program (1/16 of the
 * card at most), with what we keep, within SHIMBLAS_DEVICE_MEMORY. 0 if the driver cannot say.
 */
size_t sb_arena_bound(struct sb_device *device);

/*
 * A region of at least `bytes`, aligned to 256; one at a time on a device. SB_OK, SB_NO_MEMORY, or
 * what the driver's failure means. Its contents are undefined.
 */
enum sb_status sb_arena_take(struct sb_device *device, size_t bytes, sb_cu_deviceptr *base);
void sb_arena_give(struct sb_device *device);

/*
 * Pinned host memory, kept for the life of the process: up to `most` bytes, at least `least`, by
 * halving what is asked for. The same memory is returned at every call; *bytes is its size.
 */
enum sb_status sb_arena_pinned(struct sb_device *device, size_t least, size_t most, void **base,
			       size_t *bytes);

/* Bytes held on the device now. */
size_t sb_arena_held(const struct sb_device *device);

#endif
