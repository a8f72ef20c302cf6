/* SPDX-License-Identifier: BSD-3-Clause */
/* The device as the command uses it: started at once, waited for, and held while it is looked at.
 */
#ifndef SB_GPU_H
#define SB_GPU_H

#include <stddef.h>

#include "device.h"
#include "page.h"
#include "transfer.h"

/* The device, started if it was not; NULL if there is none that can be used. */
struct sb_device *sb_gpu_device(void);
/* The sentence that says why there is none. */
const char *sb_gpu_why_not(void);

/* Lets the profile in force get to know the device, as the library does when it starts one. */
void sb_gpu_meet(struct sb_device *device);

/*
 * Why NVIDIA's libraries cannot be measured here, or NULL if they can: without a device of their
 * own driver's some of them do not fail but crash.
 */
const char *sb_gpu_no_peers(void);

/* Takes and enters the device; false if it cannot be had. */
bool sb_gpu_visit(struct sb_device *device, struct sb_visit *visit);
void sb_gpu_depart(struct sb_device *device, const struct sb_visit *visit);

/* Which devices share the large products, what the first is called, and whether they are linked. */
void sb_gpu_say_team(struct sb_page *page, const struct sb_team *team);

/* Pinned host memory; NULL if there is none. */
void *sb_gpu_take_pinned(size_t bytes);
void sb_gpu_give_pinned(void *memory);

/* With the device entered. Waits until the stream has passed what was queued on it. */
bool sb_gpu_passed(struct sb_device *device, enum sb_stream stream, double patience);
/* Copies lines of host memory, pinned or not, and waits for the end. False: the device failed. */
bool sb_gpu_copy(struct sb_device *device, struct sb_lines *lines, bool up, bool pinned,
		 double patience);

#endif
