/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies and sets. Between pinned and device memory they are asynchronous: the source is read and
 * the destination written when the operation runs. As with the real driver a pageable source has
 * been read when the call returns, though nothing has been written; and a copy to pageable memory
 * is finished when the call returns.
 */
#include <stdlib.h>
#include <string.h>
#include "stand_in_world.h"

enum place { DEVICE, HOST };

struct end {
	char *at;
	size_t pitch;
	enum place place; /* what the caller says; DEVICE must be an allocation of ours */
	bool ours;
};

/* Whether rows of the copy fit where they are said to lie. */
static bool resolve(struct end *end, size_t width, size_t height, const char *what)
{
	size_t bytes = (height - 1) * end->pitch + width;

	end->ours = memory_find(end->at) != NULL;
	if (end->place == DEVICE || end->ours)
		return memory_holds(end->at, bytes, what);
	if (!end->at)
		world_violation("%s is NULL", what);
	return end->at != NULL;
}

/* The device that has it, or -1. */
static int device_of(const struct end *end)
{
	const struct allocation *a = memory_find(end->at);

	return a && a->kind == MEMORY_DEVICE ? a->context->device : -1;
}

static void count(const struct end *to, const struct end *from, size_t bytes)
{
	int here = device_of(to), there = device_of(from);

	if (here >= 0 && there < 0)
		world.bytes[WAY_UP][here] += (long)bytes;
	else if (here < 0 && there >= 0)
		world.bytes[WAY_DOWN][there] += (long)bytes;
	else if (here != there)
		world.bytes[WAY_PEER][here] += (long)bytes;
}

/* Does the stream's device reach both ends of a copy between devices? The host's memory all do. */
static bool reached(const struct CUstream_st *stream, const struct end *to, const struct end *from,
		    size_t width, size_t height)
{
	if (device_of(to) < 0 || device_of(from) < 0 || !width || !height)
		return true;
	return memory_reach(stream->context, to->at, (height - 1) * to->pitch + width,
			    "copy between devices") &&
	       memory_reach(stream->context, from->at, (height - 1) * from->pitch + width,
			    "copy between devices");
}

static sb_cu_result copy(struct end to, struct end from, size_t width, size_t height,
			 sb_cu_stream stream)
{
	sb_cu_result error = 0;
	struct CUstream_st *resolved = stream_resolve(stream, &error);
	struct operation *operation;

	if (error || width == 0 || height == 0)
		return error;
	if (!resolve(&to, width, height, "destination of a copy") ||
	    !resolve(&from, width, height, "source of a copy"))
		return SB_CU_ERROR_INVALID_VALUE;
	count(&to, &from, width * height);
	operation = stream_add(resolved, OPERATION_COPY);
	operation->to = to.at;
	operation->from = from.at;
	operation->width = width;
	operation->height = height;
	operation->to_pitch = to.pitch;
	operation->from_pitch = from.pitch;
	operation->watch_to = to.ours;
	operation->watch_from = from.ours;
	if (!to.ours)
		return stream_finish(resolved);
	if (!from.ours) {
		operation->staged = malloc(width * height);
		if (!operation->staged)
			abort();
		for (size_t row = 0; row < height; row++)
			memcpy((char *)operation->staged + row * width, from.at + row * from.pitch,
			       width);
		operation->from = operation->staged;
		operation->from_pitch = width;
	}
	return 0;
}

static struct end device(sb_cu_deviceptr pointer, size_t pitch)
{
	return (struct end){.at = (char *)(uintptr_t)pointer, .pitch = pitch, .place = DEVICE};
}

static struct end host(const void *pointer, size_t pitch)
{
	return (struct end){.at = (char *)(uintptr_t)pointer, .pitch = pitch, .place = HOST};
}

sb_cu_result stand_in_copy_up(sb_cu_deviceptr to, const void *from, size_t bytes,
			      sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_copy_up);

	if (error)
		return error;
	return world_leave(copy(device(to, bytes), host(from, bytes), bytes, 1, stream));
}

sb_cu_result stand_in_copy_down(void *to, sb_cu_deviceptr from, size_t bytes, sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_copy_down);

	if (error)
		return error;
	return world_leave(copy(host(to, bytes), device(from, bytes), bytes, 1, stream));
}

/* Between devices copy_peer is the function to use, unless the stream's device has access. */
sb_cu_result stand_in_copy_across(sb_cu_deviceptr to, sb_cu_deviceptr from, size_t bytes,
				  sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_copy_across);
	struct CUstream_st *resolved;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error)
		return world_leave(error);
	if (bytes &&
	    (!memory_reach(resolved->context, (void *)(uintptr_t)to, bytes, "copy across") ||
	     !memory_reach(resolved->context, (void *)(uintptr_t)from, bytes, "copy across")))
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	return world_leave(copy(device(to, bytes), device(from, bytes), bytes, 1, stream));
}

static bool on_device_of(sb_cu_deviceptr pointer, sb_cu_context context)
{
	struct allocation *a = memory_find((void *)(uintptr_t)pointer);

	if (context && context_valid(context) && a && a->context->device == context->device)
		return true;
	world_violation("copy_peer: %p is not in the context given", (void *)(uintptr_t)pointer);
	return false;
}

sb_cu_result stand_in_copy_peer(sb_cu_deviceptr to, sb_cu_context to_context, sb_cu_deviceptr from,
				sb_cu_context from_context, size_t bytes, sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_copy_peer);

	if (error)
		return error;
	if (!on_device_of(to, to_context) || !on_device_of(from, from_context))
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	return world_leave(copy(device(to, bytes), device(from, bytes), bytes, 1, stream));
}

/* One end of a CUDA_MEMCPY2D; false for a type or a pitch that the real driver refuses. */
static bool end_2d(struct end *end, int type, const void *host_base, sb_cu_deviceptr device_base,
		   size_t pitch, size_t x, size_t y, size_t width, size_t height)
{
	static const size_t max_pitch = 0x7fffffff;

	if (type == SB_CU_MEMORY_HOST)
		*end = host(host_base, pitch);
	else if (type == SB_CU_MEMORY_DEVICE || type == 4) /* unified: the address tells */
		*end = device(device_base, pitch);
	else
		return false;
	if (pitch > max_pitch || (pitch < x + width && (height > 1 || y > 0 || pitch > 0)))
		return false;
	if (type == 4 && !memory_find(end->at))
		end->place = HOST;
	end->at += y * pitch + x;
	return true;
}

sb_cu_result stand_in_copy_2d(const struct sb_cu_memcpy2d *c, sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_copy_2d);
	struct CUstream_st *resolved;
	struct end to, from;

	if (error)
		return error;
	if (!end_2d(&to, c->dst_type, c->dst_host, c->dst_device, c->dst_pitch, c->dst_x_bytes,
		    c->dst_y, c->width_bytes, c->height) ||
	    !end_2d(&from, c->src_type, c->src_host, c->src_device, c->src_pitch, c->src_x_bytes,
		    c->src_y, c->width_bytes, c->height))
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	resolved = stream_resolve(stream, &error);
	if (error)
		return world_leave(error);
	if (!reached(resolved, &to, &from, c->width_bytes, c->height))
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	return world_leave(copy(to, from, c->width_bytes, c->height, stream));
}

sb_cu_result stand_in_set_words(sb_cu_deviceptr to, unsigned word, size_t count,
				sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_set_words);
	struct CUstream_st *resolved;
	struct operation *operation;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error || count == 0)
		return world_leave(error);
	if (to % 4 || count > SIZE_MAX / 4 ||
	    !memory_holds((void *)(uintptr_t)to, 4 * count, "destination of a set"))
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	operation = stream_add(resolved, OPERATION_SET);
	operation->to = (char *)(uintptr_t)to;
	operation->width = operation->to_pitch = 4 * count;
	operation->height = 1;
	operation->watch_to = true;
	operation->word = word;
	return world_leave(0);
}
