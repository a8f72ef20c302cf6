/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events. A record makes a marker; whoever waits takes hold of the marker that is the event's last
 * at that moment, so that a later record changes nothing for him.
 */
#include <stdlib.h>
#include "stand_in_world.h"

void marker_give(struct marker *marker)
{
	if (marker && --marker->references == 0)
		free(marker);
}

/* A query of unfinished work is answered with "not ready" a few times before anything moves. */
bool patience_runs_out(int *patience)
{
	if (*patience == 0)
		*patience = 1 + (int)world_random(3);
	return --*patience == 0;
}

static bool live(sb_cu_event event)
{
	if ((uintptr_t)event > 4096 && event->tag == TAG_LIVE)
		return true;
	world_violation("%p is used as an event and is none", (void *)event);
	return false;
}

sb_cu_result stand_in_event_create(sb_cu_event *event, unsigned flags)
{
	sb_cu_result error = world_enter(SLOT_event_create);
	struct CUctx_st *top = context_top();
	struct CUevent_st *made;

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (flags & ~3u) /* blocking synchronisation, no timing */
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	made = calloc(1, sizeof *made);
	if (!made)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	made->tag = TAG_LIVE;
	made->context = top;
	made->flags = flags;
	made->next = world.events;
	world.events = made;
	world.live_events++;
	*event = made;
	return world_leave(0);
}

sb_cu_result stand_in_event_destroy(sb_cu_event event)
{
	sb_cu_result error = world_enter(SLOT_event_destroy);

	if (error)
		return error;
	if (!live(event))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	marker_give(event->last);
	event->last = NULL;
	event->tag = TAG_DEAD;
	world.live_events--;
	return world_leave(0);
}

sb_cu_result stand_in_event_record(sb_cu_event event, sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_event_record);
	struct CUstream_st *resolved;
	struct marker *marker;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error)
		return world_leave(error);
	if (!live(event))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	if (event->context != resolved->context) {
		world_violation("an event is recorded in a stream of another context");
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	}
	marker = calloc(1, sizeof *marker);
	if (!marker)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	marker_give(event->last);
	event->last = marker;
	marker->references = 2;
	marker->record = stream_add(resolved, OPERATION_RECORD);
	marker->record->marker = marker;
	return world_leave(0);
}

sb_cu_result stand_in_stream_wait_event(sb_cu_stream stream, sb_cu_event event, unsigned flags)
{
	sb_cu_result error = world_enter(SLOT_stream_wait_event);
	struct CUstream_st *resolved;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error)
		return world_leave(error);
	if (!live(event))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	if (flags & ~1u)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if (event->last && (!event->last->done || world.hang || world.crash)) {
		stream_add(resolved, OPERATION_WAIT)->marker = event->last;
		event->last->references++;
	}
	return world_leave(0);
}

sb_cu_result stand_in_event_query(sb_cu_event event)
{
	sb_cu_result error = world_enter(SLOT_event_query);
	struct marker *marker;

	if (error)
		return error;
	if (!live(event))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	marker = event->last;
	if (marker && marker->record && patience_runs_out(&marker->patience))
		stream_nudge(marker->record->stream);
	if (world_lost(event->context))
		return world_leave(world_lost(event->context));
	return world_leave(marker && !marker->done ? SB_CU_ERROR_NOT_READY : 0);
}

sb_cu_result stand_in_event_synchronize(sb_cu_event event)
{
	sb_cu_result error = world_enter(SLOT_event_synchronize);
	struct marker *marker;

	if (error)
		return error;
	if (!live(event))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	marker = event->last;
	if (marker && marker->record)
		error = stream_finish_until(marker->record->stream, marker->record->order);
	else if (marker && !marker->done)
		error = world_lost(event->context);
	return world_leave(error);
}

sb_cu_result stand_in_event_elapsed(float *milliseconds, sb_cu_event start, sb_cu_event end)
{
	sb_cu_result error = world_enter(SLOT_event_elapsed);

	if (error)
		return error;
	if (!live(start) || !live(end) ||
	    (start->flags | end->flags) & SB_CU_EVENT_DISABLE_TIMING || !start->last || !end->last)
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	if (!start->last->done || !end->last->done)
		return world_leave(SB_CU_ERROR_NOT_READY);
	*milliseconds = 1e-6f * (float)(end->last->at - start->last->at);
	return world_leave(0);
}
