/* SPDX-License-Identifier: BSD-3-Clause */
#include "arena.h"

#include "region.h"
#include "settings.h"

#define GIB	  ((size_t)1 << 30)
#define ALIGNMENT ((size_t)256)

static struct sb_region regions[SB_DEVICES];

static struct {
	void *base;
	size_t bytes;
} pinned;

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A bound of 0 in the settings is no bound. */
static size_t bounded(size_t bytes, uint64_t bound)
{
	return bound && bound < bytes ? (size_t)bound : bytes;
}

size_t sb_arena_bounded(size_t bytes)
{
	return bounded(bytes, sb_settings()->device_memory);
}

size_t sb_arena_keep(const struct sb_device *device)
{
	return sb_arena_bounded(least_of(2 * GIB, device->memory / 16));
}

size_t sb_arena_bound(struct sb_device *device)
{
	size_t free_bytes = 0, total = 0, reserve;

	if (sb_device_check(device, device->cu->memory_info(&free_bytes, &total),
			    "asking for free memory") != SB_OK)
		return 0;
	reserve = least_of(free_bytes, total) / 16;
	return sb_arena_bounded(free_bytes - reserve + regions[device->index].bytes);
}

enum sb_status sb_arena_take(struct sb_device *device, size_t bytes, sb_cu_deviceptr *base)
{
	struct sb_region *region = &regions[device->index];
	enum sb_status status;

	bytes = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (sb_arena_bounded(bytes) < bytes)
		return SB_NO_MEMORY;
	status = sb_region_grow(device, region, bytes, sb_arena_keep(device));
	*base = region->base;
	return status;
}

void sb_arena_give(struct sb_device *device)
{
	(void)sb_region_shrink(device, &regions[device->index], sb_arena_keep(device));
}

enum sb_status sb_arena_pinned(struct sb_device *device, size_t least, size_t most, void **base,
			       size_t *bytes)
{
	enum sb_status status = pinned.base ? SB_OK : SB_NO_MEMORY;
	size_t wanted = bounded(most, sb_settings()->pinned_memory);

	for (; status == SB_NO_MEMORY && wanted >= least; wanted /= 2) {
		status = sb_device_check(
			device,
			device->cu->host_alloc(&pinned.base, wanted, SB_CU_HOST_ALLOC_PORTABLE),
			"allocating pinned memory");
		if (status == SB_OK)
			pinned.bytes = wanted;
		else
			pinned.base = NULL;
	}
	*base = pinned.base;
	*bytes = pinned.bytes;
	return status;
}

size_t sb_arena_held(const struct sb_device *device)
{
	return regions[device->index].bytes;
}
