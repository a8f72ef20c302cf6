/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: memory on a device that grows and shrinks where it is: addresses for the whole card are
 * reserved once, and memory is put behind as many of them as a plan needs. So what a large plan has
 * beyond what is kept between calls comes and goes by itself, and what is kept is not touched.
 *
 * A driver that cannot part memory from addresses gives plain allocations instead, one at a time.
 */
#ifndef SB_REGION_H
#define SB_REGION_H

#include "device.h"

enum { SB_REGION_KEPT, SB_REGION_BEYOND, SB_REGION_PARTS };

struct sb_region {
	sb_cu_deviceptr base;
	size_t bytes;		       /* that are there now */
	size_t parts[SB_REGION_PARTS]; /* of these; kept, and beyond that */
	size_t reserved, granule;      /* bytes of addresses, and what a part is a multiple of */
	bool asked, plain; /* has the driver been asked, and is it to be plain allocations */
};

/*
 * Makes it at least `bytes` long, `keep` of them in a part of their own. What was in it may be
 * lost. SB_OK, or what the driver's failure means: then there is nothing left of it.
 */
enum sb_status sb_region_grow(struct sb_device *device, struct sb_region *region, size_t bytes,
			      size_t keep);

/* Gives back what is beyond `keep`, or more; nothing of it may be in use any more. */
enum sb_status sb_region_shrink(struct sb_device *device, struct sb_region *region, size_t keep);

#endif
