/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory apart from its addresses, as far as a region needs it that grows and shrinks at its end: a
 * reservation is an allocation whose length is that of what is mapped, from its beginning on
 * without a gap. Mapping elsewhere is a violation. Granules are far smaller than those of a real
 * device, so that what goes beyond what was asked for is seen.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <sys/mman.h>
#include "stand_in_world.h"

enum { PAGE = 4096, GRANULE = 256 };

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

sb_cu_result stand_in_memory_granularity(size_t *bytes, const struct sb_cu_memory_kind *kind,
					 int option)
{
	sb_cu_result error = world_enter(SLOT_memory_granularity);

	if (error)
		return error;
	if (option != SB_CU_MEMORY_GRANULARITY_LEAST || kind->place.type != SB_CU_MEMORY_ON_DEVICE)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	*bytes = GRANULE;
	return world_leave(0);
}

sb_cu_result stand_in_memory_reserve(sb_cu_deviceptr *pointer, size_t bytes, size_t alignment,
				     sb_cu_deviceptr at, unsigned long long flags)
{
	sb_cu_result error = world_enter(SLOT_memory_reserve);
	struct CUctx_st *top = context_top();
	struct allocation *allocation;
	size_t map_bytes = whole_pages(bytes) + 2 * PAGE;
	char *map;

	if (error)
		return error;
	if (!top || !bytes || bytes % GRANULE || alignment || at || flags)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	map = mmap(NULL, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	allocation = calloc(1, sizeof *allocation);
	if (!allocation) {
		munmap(map, map_bytes);
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	}
	allocation->base = map + PAGE;
	allocation->kind = MEMORY_DEVICE;
	allocation->map = map;
	allocation->map_bytes = map_bytes;
	allocation->context = top;
	allocation->reserved = bytes;
	allocation->next = world.allocations;
	world.allocations = allocation;
	*pointer = (sb_cu_deviceptr)(uintptr_t)allocation->base;
	return world_leave(0);
}

sb_cu_result stand_in_memory_create(sb_cu_memory *memory, size_t bytes,
				    const struct sb_cu_memory_kind *kind, unsigned long long flags)
{
	sb_cu_result error = world_enter(SLOT_memory_create);
	int device = kind->place.device;
	struct backing *backing;

	if (error)
		return error;
	if (!bytes || bytes % GRANULE || flags || kind->type != SB_CU_MEMORY_PINNED_ALLOCATION ||
	    kind->place.type != SB_CU_MEMORY_ON_DEVICE || device < 0 ||
	    device >= world.settings.devices)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if ((world.settings.most && bytes > (size_t)world.settings.most) ||
	    bytes > (size_t)world.settings.memory - world.used[device])
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	backing = calloc(1, sizeof *backing);
	if (!backing)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	*backing = (struct backing){
		.next = world.backings, .name = ++world.names, .device = device, .bytes = bytes};
	world.backings = backing;
	world.used[device] += bytes;
	*memory = backing->name;
	return world_leave(0);
}

/* Memory goes when it is neither mapped nor held. */
static void give_up(struct backing **at)
{
	struct backing *backing = *at;

	if (backing->at || !backing->released)
		return;
	*at = backing->next;
	world.used[backing->device] -= backing->bytes;
	free(backing);
}

static struct backing **find_backing(sb_cu_memory name)
{
	struct backing **at = &world.backings;

	while (*at && (*at)->name != name)
		at = &(*at)->next;
	return at;
}

/* The reservation that holds these addresses. */
static struct allocation *find_reservation(sb_cu_deviceptr at, size_t bytes)
{
	const char *pointer = (const char *)(uintptr_t)at;

	for (struct allocation *a = world.allocations; a; a = a->next)
		if (a->reserved && pointer >= a->base && pointer < a->base + a->reserved &&
		    bytes <= (size_t)(a->base + a->reserved - pointer))
			return a;
	world_violation("%zu bytes at %p are not reserved", bytes, (const void *)pointer);
	return NULL;
}

sb_cu_result stand_in_memory_map(sb_cu_deviceptr at, size_t bytes, size_t offset,
				 sb_cu_memory memory, unsigned long long flags)
{
	sb_cu_result error = world_enter(SLOT_memory_map);
	struct backing *backing;
	struct allocation *a;

	if (error)
		return error;
	backing = *find_backing(memory);
	a = find_reservation(at, bytes);
	if (!a || !backing || backing->at || backing->bytes != bytes || offset || flags)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if ((char *)(uintptr_t)at != a->base + a->bytes) {
		world_violation("memory is mapped %zu bytes into a reservation that has %zu",
				(size_t)((char *)(uintptr_t)at - a->base), a->bytes);
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	}
	backing->at = a->base + a->bytes;
	return world_leave(0);
}

sb_cu_result stand_in_memory_access(sb_cu_deviceptr at, size_t bytes,
				    const struct sb_cu_memory_access *access, size_t count)
{
	sb_cu_result error = world_enter(SLOT_memory_access);
	struct backing *backing;
	struct allocation *a;
	unsigned devices = 0;
	char *from;

	if (error)
		return error;
	a = find_reservation(at, bytes);
	backing = world.backings;
	while (backing && backing->at != (char *)(uintptr_t)at)
		backing = backing->next;
	if (!a || !backing || backing->bytes != bytes || count == 0)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < count; i++) {
		int device = access[i].place.device;

		if (access[i].place.type != SB_CU_MEMORY_ON_DEVICE ||
		    access[i].flags != SB_CU_MEMORY_READ_WRITE || device < 0 ||
		    device >= world.settings.devices ||
		    (device != backing->device && !device_linked(device, backing->device)))
			return world_leave(SB_CU_ERROR_INVALID_DEVICE);
		devices |= 1u << device;
	}
	/* Fresh memory is NaNs; a page that two parts share begins anew with the second. */
	from = a->base + a->bytes / PAGE * PAGE;
	if (mprotect(from, whole_pages((size_t)(a->base + a->bytes + bytes - from)),
		     PROT_READ | PROT_WRITE) ||
	    !memory_poison(from, whole_pages((size_t)(a->base + a->bytes + bytes - from))))
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	a->devices = a->bytes ? a->devices & devices : devices;
	a->bytes += bytes;
	memory_seal(true);
	return world_leave(0);
}

bool memory_open_to(const struct allocation *allocation, int device)
{
	return allocation->devices & 1u << device;
}

void memory_unback(const struct allocation *allocation)
{
	struct backing **at = &world.backings;

	while (*at) {
		struct backing *backing = *at;

		if (backing->at >= allocation->base &&
		    backing->at < allocation->base + allocation->reserved) {
			backing->at = NULL;
			give_up(at);
		}
		if (*at == backing)
			at = &backing->next;
	}
}

/* Nothing promises that it waits for the work that uses the memory. */
sb_cu_result stand_in_memory_unmap(sb_cu_deviceptr at, size_t bytes)
{
	sb_cu_result error = world_enter(SLOT_memory_unmap);
	char *from = (char *)(uintptr_t)at;
	struct backing **backing = &world.backings;
	struct allocation *a;

	if (error)
		return error;
	a = find_reservation(at, bytes);
	while (*backing && (*backing)->at != from)
		backing = &(*backing)->next;
	if (!a || !*backing || (*backing)->bytes != bytes)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if (stream_uses(from, bytes))
		world_violation("device memory %p is unmapped while a copy that uses it is queued",
				(void *)from);
	if (from + bytes == a->base + a->bytes)
		a->bytes -= bytes;
	else if (from != a->base + a->bytes) /* mapped, and never opened */
		world_violation("device memory %p is unmapped from the middle", (void *)from);
	from = a->base + whole_pages(a->bytes);
	mmap(from, (size_t)(a->map + a->map_bytes - from), PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	(*backing)->at = NULL;
	give_up(backing);
	return world_leave(0);
}

sb_cu_result stand_in_memory_release(sb_cu_memory memory)
{
	sb_cu_result error = world_enter(SLOT_memory_release);
	struct backing **backing;

	if (error)
		return error;
	backing = find_backing(memory);
	if (!*backing || (*backing)->released)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	(*backing)->released = true;
	give_up(backing);
	return world_leave(0);
}
