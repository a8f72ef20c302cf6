/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program with CUDA of its own calls and our library does not: for tests that play such a
 * program. They count as no slot and never fail on request.
 */
#include <stdlib.h>
#include "stand_in_world.h"

EXPORTED sb_cu_result cuCtxSetCurrent(sb_cu_context context);
EXPORTED sb_cu_result cuCtxCreate_v2(sb_cu_context *context, unsigned flags, sb_cu_device device);
EXPORTED sb_cu_result cuCtxDestroy_v2(sb_cu_context context);
EXPORTED sb_cu_result cuCtxSynchronize(void);
EXPORTED sb_cu_result cuDevicePrimaryCtxReset_v2(sb_cu_device device);
EXPORTED sb_cu_result cuStreamBeginCapture_v2(sb_cu_stream stream, int mode);
EXPORTED sb_cu_result cuStreamEndCapture(sb_cu_stream stream, void **graph);
EXPORTED sb_cu_result cuGraphDestroy(void *graph);
EXPORTED sb_cu_result cuMemAllocManaged(sb_cu_deviceptr *pointer, size_t bytes, unsigned flags);
EXPORTED sb_cu_result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
EXPORTED sb_cu_result cuMemHostUnregister(void *pointer);

static sb_cu_result enter(void)
{
	world_lock();
	if (world.started && !world_lost(context_top()))
		return 0;
	return world_leave(world.started ? world_lost(context_top()) : SB_CU_ERROR_NOT_INITIALIZED);
}

sb_cu_result cuCtxSetCurrent(sb_cu_context context)
{
	sb_cu_result error = enter();

	return error ? error : world_leave(context_set(context));
}

sb_cu_result cuCtxCreate_v2(sb_cu_context *context, unsigned flags, sb_cu_device device)
{
	sb_cu_result error = enter();
	struct CUctx_st *made;

	(void)flags;
	if (error)
		return error;
	if (device < 0 || device >= world.settings.devices)
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	made = calloc(1, sizeof *made);
	if (!made)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	context_init(made, device);
	made->next = world.contexts;
	world.contexts = made;
	*context = made;
	return world_leave(context_push(made));
}

sb_cu_result cuCtxDestroy_v2(sb_cu_context context)
{
	sb_cu_result error = enter();

	if (error)
		return error;
	if (!context || context->primary || !context_valid(context))
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	error = stream_finish_context(context);
	if (context_top() == context)
		context_set(NULL);
	context_clear(context);
	return world_leave(error);
}

sb_cu_result cuCtxSynchronize(void)
{
	sb_cu_result error = enter();

	if (error)
		return error;
	if (!context_top())
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	return world_leave(stream_finish_context(context_top()));
}

/* All that is in it goes, whoever has made it; who has retained it has still to release it. */
sb_cu_result cuDevicePrimaryCtxReset_v2(sb_cu_device device)
{
	sb_cu_result error = enter();
	struct CUctx_st *primary;

	if (error)
		return error;
	if (device < 0 || device >= world.settings.devices)
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	primary = &world.primary[device];
	if (primary->tag == TAG_LIVE) {
		error = stream_finish_context(primary);
		context_clear(primary);
	}
	return world_leave(error);
}

/* What is queued there meanwhile is nothing that anybody here looks at. */
sb_cu_result cuStreamBeginCapture_v2(sb_cu_stream stream, int mode)
{
	sb_cu_result error = enter();
	struct CUstream_st *captured;

	(void)mode;
	if (error)
		return error;
	captured = (uintptr_t)stream > 1 ? stream_resolve(stream, &error) : NULL;
	if (!captured || captured->captured)
		return world_leave(ERROR_STREAM_CAPTURE_UNSUPPORTED);
	captured->captured = true;
	world.captures++;
	return world_leave(0);
}

sb_cu_result cuStreamEndCapture(sb_cu_stream stream, void **graph)
{
	sb_cu_result error = enter();
	struct CUstream_st *captured;

	if (error)
		return error;
	captured = stream_resolve(stream, &error);
	if (!captured || !captured->captured)
		return world_leave(ERROR_STREAM_CAPTURE_INVALIDATED);
	captured->captured = false;
	world.captures--;
	*graph = &world;
	return world_leave(0);
}

sb_cu_result cuGraphDestroy(void *graph)
{
	return graph == &world ? 0 : SB_CU_ERROR_INVALID_VALUE;
}

sb_cu_result cuMemAllocManaged(sb_cu_deviceptr *pointer, size_t bytes, unsigned flags)
{
	sb_cu_result error = enter();
	void *base;

	(void)flags;
	if (error)
		return error;
	if (!context_top())
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (!bytes)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	error = memory_take(context_top(), MEMORY_MANAGED, bytes, &base);
	if (!error)
		*pointer = (sb_cu_deviceptr)(uintptr_t)base;
	return world_leave(error);
}

sb_cu_result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
	sb_cu_result error = enter();

	(void)flags;
	if (error)
		return error;
	if (!context_top())
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	return world_leave(memory_register(context_top(), pointer, bytes));
}

sb_cu_result cuMemHostUnregister(void *pointer)
{
	sb_cu_result error = enter();

	return error ? error : world_leave(memory_give(pointer, true));
}
