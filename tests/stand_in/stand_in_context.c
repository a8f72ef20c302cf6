/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: a primary one of each device, counted; those a program makes itself; and the stack of
 * current ones that every thread has.
 */
#include <stdlib.h>
#include "stand_in_world.h"

enum { STACK = 32 };

/* In static memory: the loader ends a process that has none left for thread-local data. */
static _Thread_local struct {
	struct CUctx_st *at[STACK];
	int depth;
} stack __attribute__((tls_model("initial-exec")));

static _Thread_local int capture_mode
	__attribute__((tls_model("initial-exec"))); /* SB_CU_CAPTURE_MODE_GLOBAL */

int context_capture_mode(void)
{
	return capture_mode;
}

void context_init(struct CUctx_st *context, int device)
{
	context->tag = TAG_LIVE;
	context->device = device;
	context->peers = 0;
	context->null.tag = TAG_LIVE;
	context->null.context = context;
}

void context_clear(struct CUctx_st *context)
{
	stream_clear(&context->null);
	for (struct CUstream_st *s = context->streams; s; s = s->next) {
		stream_clear(s);
		if (s->tag == TAG_LIVE)
			world.live_streams--;
		world.captures -= s->captured;
		s->captured = false;
		s->tag = TAG_DEAD;
	}
	for (struct CUevent_st *e = world.events; e; e = e->next) {
		if (e->context != context || e->tag != TAG_LIVE)
			continue;
		marker_give(e->last);
		e->last = NULL;
		e->tag = TAG_DEAD;
		world.live_events--;
	}
	module_clear(context);
	memory_clear(context);
	context->tag = TAG_DEAD;
}

bool context_valid(struct CUctx_st *context)
{
	for (struct CUctx_st *c = context_each(NULL); c; c = context_each(c))
		if (c == context)
			return true;
	return false;
}

bool context_captures(const struct CUctx_st *context)
{
	for (const struct CUstream_st *s = context->streams; s; s = s->next)
		if (s->captured && !(s->flags & SB_CU_STREAM_NON_BLOCKING))
			return true;
	return false;
}

struct CUctx_st *context_each(struct CUctx_st *last)
{
	struct CUctx_st *next = last && !last->primary ? last->next : world.contexts;
	int device = !last ? 0 : last->primary ? last->device + 1 : DEVICES;

	for (; device < DEVICES; device++)
		if (world.primary[device].tag == TAG_LIVE)
			return &world.primary[device];
	while (next && next->tag != TAG_LIVE)
		next = next->next;
	return next;
}

struct CUctx_st *context_top(void)
{
	struct CUctx_st *top = stack.depth ? stack.at[stack.depth - 1] : NULL;

	return top && top->tag == TAG_LIVE ? top : NULL;
}

sb_cu_result context_set(struct CUctx_st *context)
{
	if (context && !context_valid(context))
		return SB_CU_ERROR_INVALID_CONTEXT;
	if (stack.depth)
		stack.depth--;
	if (context)
		stack.at[stack.depth++] = context;
	return 0;
}

sb_cu_result stand_in_primary_retain(sb_cu_context *context, sb_cu_device device)
{
	sb_cu_result error = world_enter(SLOT_primary_retain);
	struct CUctx_st *primary;

	if (error)
		return error;
	if (device < 0 || device >= world.settings.devices)
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	primary = &world.primary[device];
	primary->primary = true;
	/* After a reset whoever retains it brings it back. */
	if (primary->retained++ == 0 || primary->tag == TAG_DEAD)
		context_init(primary, device);
	*context = primary;
	return world_leave(0);
}

sb_cu_result stand_in_primary_release(sb_cu_device device)
{
	sb_cu_result error = world_enter(SLOT_primary_release);
	struct CUctx_st *primary;

	if (error)
		return error;
	if (device < 0 || device >= world.settings.devices)
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	primary = &world.primary[device];
	if (primary->retained == 0) {
		world_violation("primary context %d released more often than retained", device);
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	}
	if (primary->retained == 1 && primary->tag == TAG_LIVE) {
		error = stream_finish_context(primary);
		context_clear(primary);
	}
	primary->retained--;
	return world_leave(error);
}

sb_cu_result stand_in_primary_state(sb_cu_device device, unsigned *flags, int *active)
{
	sb_cu_result error = world_enter(SLOT_primary_state);

	if (error)
		return error;
	if (device < 0 || device >= world.settings.devices)
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	*flags = 0;
	*active = world.primary[device].tag == TAG_LIVE;
	return world_leave(0);
}

sb_cu_result context_push(struct CUctx_st *context)
{
	/* One that was reset, and nobody has brought back. */
	if (context && context->primary && context->tag == TAG_DEAD && context->retained)
		return SB_CU_ERROR_CONTEXT_IS_DESTROYED;
	if (!context || !context_valid(context)) {
		world_violation("a context is pushed that does not exist");
		return SB_CU_ERROR_INVALID_CONTEXT;
	}
	if (stack.depth == STACK) {
		world_violation("%d contexts pushed by one thread and never popped", STACK);
		return SB_CU_ERROR_INVALID_VALUE;
	}
	stack.at[stack.depth++] = context;
	return 0;
}

sb_cu_result stand_in_context_push(sb_cu_context context)
{
	sb_cu_result error = world_enter(SLOT_context_push);

	return error ? error : world_leave(context_push(context));
}

sb_cu_result stand_in_context_pop(sb_cu_context *context)
{
	sb_cu_result error = world_enter(SLOT_context_pop);

	if (error)
		return error;
	if (stack.depth == 0) {
		world_violation("a context is popped and none is current");
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	}
	stack.depth--;
	if (context)
		*context = stack.at[stack.depth];
	return world_leave(0);
}

sb_cu_result stand_in_context_current(sb_cu_context *context)
{
	sb_cu_result error = world_enter(SLOT_context_current);

	if (error)
		return error;
	*context = stack.depth ? stack.at[stack.depth - 1] : NULL;
	return world_leave(0);
}

sb_cu_result stand_in_context_device(sb_cu_device *device)
{
	sb_cu_result error = world_enter(SLOT_context_device);
	struct CUctx_st *top = context_top();

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	*device = top->device;
	return world_leave(0);
}

sb_cu_result stand_in_context_enable_peer(sb_cu_context peer, unsigned flags)
{
	sb_cu_result error = world_enter(SLOT_context_enable_peer);
	struct CUctx_st *top = context_top();

	if (error)
		return error;
	if (!top || !context_valid(peer))
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (flags)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if (!device_linked(top->device, peer->device))
		return world_leave(ERROR_PEER_ACCESS_UNSUPPORTED);
	if (top->peers & 1u << peer->device)
		return world_leave(SB_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	top->peers |= 1u << peer->device;
	return world_leave(0);
}

sb_cu_result stand_in_capture_mode(int *mode)
{
	sb_cu_result error = world_enter(SLOT_capture_mode);
	int old = capture_mode;

	if (error)
		return error;
	if (*mode < SB_CU_CAPTURE_MODE_GLOBAL || *mode > SB_CU_CAPTURE_MODE_RELAXED)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	capture_mode = *mode;
	*mode = old;
	return world_leave(0);
}
