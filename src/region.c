/* SPDX-License-Identifier: BSD-3-Clause */
#include "region.h"

static size_t round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) / to * to;
}

static struct sb_cu_memory_kind kind_of(const struct sb_device *device)
{
	return (struct sb_cu_memory_kind){
		.type = SB_CU_MEMORY_PINNED_ALLOCATION,
		.place = {.type = SB_CU_MEMORY_ON_DEVICE, .device = device->handle},
	};
}

/* Reserves the addresses; where that cannot be, allocations are plain from now on. */
static void ask(struct sb_device *device, struct sb_region *region)
{
	const struct sb_driver *cu = device->cu;
	const struct sb_cu_memory_kind kind = kind_of(device);
	int able = 0;

	region->asked = true;
	region->plain = true;
	if (!cu->memory_granularity || !cu->memory_reserve || !cu->memory_create ||
	    !cu->memory_map || !cu->memory_access || !cu->memory_unmap || !cu->memory_release)
		return;
	if (cu->device_attribute(&able, SB_CU_ATTR_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
				 device->handle) != SB_CU_SUCCESS ||
	    !able ||
	    cu->memory_granularity(&region->granule, &kind, SB_CU_MEMORY_GRANULARITY_LEAST) !=
		    SB_CU_SUCCESS ||
	    region->granule == 0)
		return;
	region->reserved = round_up(device->memory, region->granule);
	region->plain =
		cu->memory_reserve(&region->base, region->reserved, 0, 0, 0) != SB_CU_SUCCESS;
}

static enum sb_status allow(struct sb_device *device, sb_cu_deviceptr at, size_t bytes)
{
	const struct sb_team *team = sb_device_team();
	struct sb_cu_memory_access access[SB_DEVICES];
	size_t count = 0;

	/* Panels go from device to device where they reach each other. */
	for (int i = 0; team && team->linked && i < team->count; i++)
		access[count++] = (struct sb_cu_memory_access){
			.place = {SB_CU_MEMORY_ON_DEVICE, team->devices[i].handle},
			.flags = SB_CU_MEMORY_READ_WRITE};
	if (count == 0)
		access[count++] = (struct sb_cu_memory_access){
			.place = {SB_CU_MEMORY_ON_DEVICE, device->handle},
			.flags = SB_CU_MEMORY_READ_WRITE};
	return sb_device_check(device, device->cu->memory_access(at, bytes, access, count),
			       "opening device memory to the devices");
}

static enum sb_status add(struct sb_device *device, struct sb_region *region, int part,
			  size_t bytes)
{
	const struct sb_driver *cu = device->cu;
	const struct sb_cu_memory_kind kind = kind_of(device);
	sb_cu_deviceptr at = region->base + region->bytes;
	sb_cu_memory memory;
	enum sb_status status;

	if (bytes == 0)
		return SB_OK;
	if (bytes > region->reserved - region->bytes)
		return SB_NO_MEMORY;
	status = sb_device_check(device, cu->memory_create(&memory, bytes, &kind, 0),
				 "allocating device memory");
	if (status != SB_OK)
		return status;
	status = sb_device_check(device, cu->memory_map(at, bytes, 0, memory, 0),
				 "mapping device memory");
	/* Mapped memory lives until it is unmapped. */
	if (cu->memory_release(memory) != SB_CU_SUCCESS && status == SB_OK)
		status = sb_device_lose(device, "device memory cannot be released");
	if (status != SB_OK)
		return status;
	status = allow(device, at, bytes);
	if (status != SB_OK) {
		/* Where it stays mapped nothing else can be. */
		if (cu->memory_unmap(at, bytes) != SB_CU_SUCCESS)
			status = sb_device_lose(device, "device memory cannot be unmapped");
		return status;
	}
	region->parts[part] = bytes;
	region->bytes += bytes;
	return SB_OK;
}

/* The last part there is. What cannot be unmapped is still there, and can be used and dropped
 * again. */
static enum sb_status drop(struct sb_device *device, struct sb_region *region, int part)
{
	size_t bytes = region->parts[part], at = region->bytes - bytes;
	enum sb_status status;

	if (bytes == 0)
		return SB_OK;
	status = sb_device_check(device, device->cu->memory_unmap(region->base + at, bytes),
				 "unmapping device memory");
	if (status != SB_OK)
		return status;
	region->parts[part] = 0;
	region->bytes = at;
	return SB_OK;
}

static enum sb_status drop_plain(struct sb_device *device, struct sb_region *region)
{
	sb_cu_deviceptr base = region->base;

	region->base = 0;
	region->bytes = 0;
	if (!base)
		return SB_OK;
	return sb_device_check(device, device->cu->memory_free(base), "freeing device memory");
}

static enum sb_status grow_plain(struct sb_device *device, struct sb_region *region, size_t bytes)
{
	enum sb_status status = drop_plain(device, region);

	if (status == SB_OK)
		status = sb_device_check(device, device->cu->memory_alloc(&region->base, bytes),
					 "allocating device memory");
	if (status == SB_OK)
		region->bytes = bytes;
	else
		region->base = 0;
	return status;
}

enum sb_status sb_region_grow(struct sb_device *device, struct sb_region *region, size_t bytes,
			      size_t keep)
{
	enum sb_status status;
	size_t kept;

	if (bytes <= region->bytes)
		return SB_OK;
	if (!region->asked)
		ask(device, region);
	if (region->plain)
		return grow_plain(device, region, bytes);
	bytes = round_up(bytes, region->granule);
	kept = keep / region->granule * region->granule;
	if (kept > bytes)
		kept = bytes;
	status = drop(device, region, SB_REGION_BEYOND);
	if (status == SB_OK && kept > region->parts[SB_REGION_KEPT]) {
		status = drop(device, region, SB_REGION_KEPT);
		if (status == SB_OK)
			status = add(device, region, SB_REGION_KEPT, kept);
	}
	if (status == SB_OK)
		status = add(device, region, SB_REGION_BEYOND, bytes - region->bytes);
	if (status != SB_OK)
		(void)sb_region_shrink(device, region, 0);
	return status;
}

enum sb_status sb_region_shrink(struct sb_device *device, struct sb_region *region, size_t keep)
{
	enum sb_status status;

	if (region->bytes <= keep)
		return SB_OK;
	if (region->plain)
		return drop_plain(device, region);
	status = drop(device, region, SB_REGION_BEYOND);
	if (status == SB_OK && region->bytes > keep)
		status = drop(device, region, SB_REGION_KEPT);
	return status;
}
