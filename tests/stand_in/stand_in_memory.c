/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the stand-in: device, pinned and managed allocations are private mappings that end
 * at a guard page and are full of 0xFF, a NaN; what is freed stays out of reach, so that whatever
 * uses it later is seen. Untouched pages cost nothing.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "stand_in.h"
#include "stand_in_world.h"

enum { PAGE = 4096, ALIGNMENT = 256, GRAVES = 64 };
static const size_t chunk = 4 << 20;

static struct {
	char *map;
	size_t bytes;
} graves[GRAVES]; /* the last freed mappings */
static unsigned burials;

/*
 * 0xFF in every byte of [map, map + bytes), whole pages: large ones are private copies of one file,
 * so that only what is written takes memory.
 */
bool memory_poison(char *map, size_t bytes)
{
	static int file = -1;

	if (bytes <= chunk) {
		memset(map, 0xff, bytes);
		return true;
	}
	if (file < 0) {
		char *fill;

		file = memfd_create("stand-in", MFD_CLOEXEC);
		if (file < 0 || ftruncate(file, (off_t)chunk))
			return false;
		fill = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		if (fill == MAP_FAILED)
			return false;
		memset(fill, 0xff, chunk);
		munmap(fill, chunk);
	}
	for (size_t done = 0; done < bytes; done += chunk) {
		size_t part = bytes - done < chunk ? bytes - done : chunk;

		if (mmap(map + done, part, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED)
			return false;
	}
	return true;
}

sb_cu_result memory_take(struct CUctx_st *context, enum memory_kind kind, size_t bytes, void **base)
{
	size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t body = (bytes + PAGE - 1) / PAGE * PAGE;
	struct allocation *allocation;
	char *map;

	if (bytes > (size_t)1 << 46)
		return SB_CU_ERROR_OUT_OF_MEMORY;
	map = mmap(NULL, body + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (map == MAP_FAILED)
		return SB_CU_ERROR_OUT_OF_MEMORY;
	allocation = calloc(1, sizeof *allocation);
	if (!allocation || mprotect(map + PAGE, body, PROT_READ | PROT_WRITE) ||
	    !memory_poison(map + PAGE, body)) {
		free(allocation);
		munmap(map, body + 2 * PAGE);
		return SB_CU_ERROR_OUT_OF_MEMORY;
	}
	/* against the guard behind it, as far as the alignment allows */
	allocation->base = map + PAGE + body - rounded;
	allocation->kind = kind;
	allocation->number = ++world.numbers;
	allocation->bytes = bytes;
	allocation->map = map;
	allocation->map_bytes = body + 2 * PAGE;
	allocation->context = context;
	allocation->next = world.allocations;
	world.allocations = allocation;
	if (kind == MEMORY_DEVICE)
		world.used[context->device] += bytes;
	*base = allocation->base;
	memory_seal(true);
	return 0;
}

sb_cu_result memory_register(struct CUctx_st *context, void *base, size_t bytes)
{
	struct allocation *allocation;

	if (!base || !bytes || memory_find(base))
		return SB_CU_ERROR_INVALID_VALUE;
	allocation = calloc(1, sizeof *allocation);
	if (!allocation)
		return SB_CU_ERROR_OUT_OF_MEMORY;
	allocation->base = base;
	allocation->kind = MEMORY_REGISTERED;
	allocation->number = ++world.numbers;
	allocation->bytes = bytes;
	allocation->context = context;
	allocation->next = world.allocations;
	world.allocations = allocation;
	return 0;
}

/* Unlinks *at and puts its pages out of everyone's reach. */
static void bury(struct allocation **at)
{
	struct allocation *allocation = *at;
	unsigned grave = burials % GRAVES;

	*at = allocation->next;
	if (allocation->kind == MEMORY_DEVICE && !allocation->reserved)
		world.used[allocation->context->device] -= allocation->bytes;
	if (allocation->reserved)
		memory_unback(allocation);
	if (allocation->map) {
		burials++;
		if (graves[grave].map)
			munmap(graves[grave].map, graves[grave].bytes);
		graves[grave].map = allocation->map;
		graves[grave].bytes = allocation->map_bytes;
		mmap(allocation->map, allocation->map_bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	}
	free(allocation);
}

sb_cu_result memory_give(void *base, bool host)
{
	for (struct allocation **at = &world.allocations; *at; at = &(*at)->next) {
		enum memory_kind kind = (*at)->kind;

		if ((*at)->base != base ||
		    host != (kind == MEMORY_PINNED || kind == MEMORY_REGISTERED))
			continue;
		bury(at);
		return 0;
	}
	world_violation("%p is freed, which is no allocation", base);
	return SB_CU_ERROR_INVALID_VALUE;
}

void memory_clear(struct CUctx_st *context)
{
	struct allocation **at = &world.allocations;

	while (*at) {
		if ((*at)->context == context)
			bury(at);
		else
			at = &(*at)->next;
	}
}

struct allocation *memory_find(const void *pointer)
{
	for (struct allocation *a = world.allocations; a; a = a->next)
		if ((const char *)pointer >= a->base && (const char *)pointer < a->base + a->bytes)
			return a;
	return NULL;
}

bool memory_holds(const void *pointer, size_t bytes, const char *what)
{
	struct allocation *a = memory_find(pointer);
	size_t left = a ? (size_t)(a->base + a->bytes - (const char *)pointer) : 0;

	if (a && bytes <= left)
		return true;
	if (a)
		world_violation("%s: %zu bytes at %p, %zu too many for its allocation of %zu", what,
				bytes, pointer, bytes - left, a->bytes);
	else
		world_violation("%s: %p is in no allocation", what, pointer);
	return false;
}

bool memory_reach(struct CUctx_st *context, const void *pointer, size_t bytes, const char *what)
{
	struct allocation *a = memory_find(pointer);

	if (!a && world.settings.pageable)
		return true;
	if (!memory_holds(pointer, bytes, what))
		return false;
	if (a->reserved ? memory_open_to(a, context->device)
			: a->kind != MEMORY_DEVICE || a->context->device == context->device ||
				  context->peers & 1u << a->context->device)
		return true;
	world_violation("%s: %p is on device %d and used on %d without peer access", what, pointer,
			a->context->device, context->device);
	return false;
}

void memory_seal(bool sealed)
{
	if (!world.settings.sealed)
		return;
	for (struct allocation *a = world.allocations; a; a = a->next)
		if (a->kind == MEMORY_DEVICE)
			mprotect(a->map + PAGE,
				 a->reserved ? (a->bytes + PAGE - 1) / PAGE * PAGE
					     : a->map_bytes - 2 * PAGE,
				 sealed ? PROT_NONE : PROT_READ | PROT_WRITE);
}

sb_cu_result stand_in_memory_info(size_t *free_bytes, size_t *total_bytes)
{
	sb_cu_result error = world_enter(SLOT_memory_info);
	struct CUctx_st *top = context_top();

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	*total_bytes = (size_t)world.settings.memory;
	*free_bytes = *total_bytes - world.used[top->device];
	return world_leave(0);
}

sb_cu_result stand_in_memory_alloc(sb_cu_deviceptr *pointer, size_t bytes)
{
	sb_cu_result error = world_enter(SLOT_memory_alloc);
	struct CUctx_st *top = context_top();
	void *base = NULL;

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (bytes == 0)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if ((world.settings.most && bytes > (size_t)world.settings.most) ||
	    bytes > (size_t)world.settings.memory - world.used[top->device])
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	error = memory_take(top, MEMORY_DEVICE, bytes, &base);
	if (!error)
		*pointer = (sb_cu_deviceptr)(uintptr_t)base;
	return world_leave(error);
}

/* Waits for all work of the context, as the real one does. */
sb_cu_result stand_in_memory_free(sb_cu_deviceptr pointer)
{
	sb_cu_result error = world_enter(SLOT_memory_free);
	void *base = (void *)(uintptr_t)pointer;
	struct allocation *allocation;

	if (error || !base)
		return error ? error : world_leave(0);
	allocation = memory_find(base);
	if (allocation)
		error = stream_finish_context(allocation->context);
	return world_leave(error ? error : memory_give(base, false));
}

sb_cu_result stand_in_host_alloc(void **pointer, size_t bytes, unsigned flags)
{
	sb_cu_result error = world_enter(SLOT_host_alloc);
	struct CUctx_st *top = context_top();

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (flags & ~7u)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	*pointer = NULL;
	return world_leave(bytes ? memory_take(top, MEMORY_PINNED, bytes, pointer) : 0);
}

/* Does not wait: nothing promises that the real one does. */
sb_cu_result stand_in_host_free(void *pointer)
{
	sb_cu_result error = world_enter(SLOT_host_free);
	struct allocation *allocation;

	if (error || !pointer)
		return error ? error : world_leave(0);
	allocation = memory_find(pointer);
	if (allocation && stream_uses(allocation->base, allocation->bytes))
		world_violation("pinned memory %p is freed while a copy that uses it is queued",
				pointer);
	return world_leave(memory_give(pointer, true));
}

sb_cu_result stand_in_pointer_attributes(unsigned count, int *attributes, void **values,
					 sb_cu_deviceptr pointer)
{
	sb_cu_result error = world_enter(SLOT_pointer_attributes);
	struct allocation *a;

	if (error)
		return error;
	a = memory_find((const void *)(uintptr_t)pointer);
	for (unsigned i = 0; i < count; i++) {
		switch (attributes[i]) {
		case SB_CU_POINTER_CONTEXT:
			*(sb_cu_context *)values[i] = a ? a->context : NULL;
			break;
		case SB_CU_POINTER_MEMORY_TYPE:
			*(unsigned *)values[i] =
				!a ? 0
				: a->kind == MEMORY_DEVICE || a->kind == MEMORY_MANAGED
					? SB_CU_MEMORY_DEVICE
					: SB_CU_MEMORY_HOST;
			break;
		case SB_CU_POINTER_BUFFER_ID:
			*(unsigned long long *)values[i] = a ? a->number : 0;
			break;
		case SB_CU_POINTER_IS_MANAGED:
			*(unsigned *)values[i] = a && a->kind == MEMORY_MANAGED;
			break;
		case SB_CU_POINTER_DEVICE_ORDINAL:
			*(int *)values[i] = a ? a->context->device : -2;
			break;
		default:
			error = SB_CU_ERROR_INVALID_VALUE;
		}
	}
	return world_leave(error);
}

EXPORTED struct stand_in_live stand_in_live(void)
{
	struct stand_in_live live = {0};

	world_lock();
	for (struct allocation *a = world.allocations; a; a = a->next) {
		bool host = a->kind == MEMORY_PINNED || a->kind == MEMORY_REGISTERED;

		/* addresses with nothing behind them are no memory */
		*(host ? &live.host_memory : &live.device_memory) += a->bytes > 0;
		*(host ? &live.host_bytes : &live.device_bytes) += a->bytes;
	}
	live.streams = world.live_streams;
	live.events = world.live_events;
	live.modules = world.live_modules;
	live.pending = world.pending;
	for (struct CUctx_st *c = context_each(NULL); c; c = context_each(c))
		live.contexts += c->primary ? c->retained : 1;
	world_unlock();
	return live;
}
