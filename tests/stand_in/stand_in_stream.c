/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: queues of operations, and who decides when they run. Nothing runs because it was queued.
 * A synchronisation runs just what it needs, a query perhaps one operation of that; and with a seed
 * any call may first run something that no one waits for. So an order that streams, events and
 * synchronisations do not enforce is an order that some seed breaks.
 */
#include <stdlib.h>
#include <string.h>
#include "stand_in_world.h"

static bool blocking(const struct CUstream_st *stream)
{
	return !(stream->flags & SB_CU_STREAM_NON_BLOCKING);
}

/* What the first operation of a stream has to wait for: the head of the stream returned, or NULL.
 */
static struct CUstream_st *blocker(const struct CUstream_st *stream)
{
	const struct operation *head = stream->head;
	struct CUctx_st *context = stream->context;

	if (head->kind == OPERATION_WAIT && !head->marker->done)
		return head->marker->record->stream;
	if (stream == &context->null) {
		for (struct CUstream_st *s = context->streams; s; s = s->next)
			if (blocking(s) && s->head && s->head->order < head->order)
				return s;
	} else if (blocking(stream) && context->null.head &&
		   context->null.head->order < head->order) {
		return &context->null;
	}
	return NULL;
}

/* Does it wait for an event whose record was lost with its device? */
static bool waits_in_vain(const struct CUstream_st *stream)
{
	const struct operation *head = stream->head;

	return head->kind == OPERATION_WAIT && !head->marker->done && !head->marker->record;
}

/*
 * The operation to run first on the way to a stream's next; orders only fall, so this ends. NULL:
 * nothing will ever let it go on.
 */
static struct operation *towards(struct CUstream_st *stream)
{
	struct CUstream_st *before;

	while (!waits_in_vain(stream) && (before = blocker(stream)))
		stream = before;
	return waits_in_vain(stream) ? NULL : stream->head;
}

static void move(const struct operation *operation)
{
	const char *from = operation->from;
	char *to = operation->to;

	for (size_t row = 0; row < operation->height; row++) {
		memcpy(to, from, operation->width);
		to += operation->to_pitch;
		from += operation->from_pitch;
	}
}

static size_t span(size_t width, size_t height, size_t pitch)
{
	return height ? (height - 1) * pitch + width : 0;
}

/* Pageable memory is not watched; what was in an allocation when it was queued still has to be. */
static bool still_there(const struct operation *operation)
{
	size_t to = span(operation->width, operation->height, operation->to_pitch);
	size_t from = span(operation->width, operation->height, operation->from_pitch);

	return (!operation->watch_to || memory_holds(operation->to, to, "destination of a copy")) &&
	       (!operation->watch_from || memory_holds(operation->from, from, "source of a copy"));
}

static void carry_out(struct operation *operation)
{
	sb_cu_result error = operation->crash;

	switch (error ? OPERATION_WAIT : operation->kind) {
	case OPERATION_COPY:
		if (still_there(operation))
			move(operation);
		else
			error = SB_CU_ERROR_ILLEGAL_ADDRESS;
		break;
	case OPERATION_SET:
		if (!still_there(operation)) {
			error = SB_CU_ERROR_ILLEGAL_ADDRESS;
			break;
		}
		for (size_t i = 0; i < operation->width / 4; i++)
			memcpy(operation->to + 4 * i, &operation->word, 4);
		break;
	case OPERATION_LAUNCH:
		error = launch_run(operation);
		break;
	case OPERATION_RECORD:
		operation->marker->done = true;
		operation->marker->record = NULL;
		operation->marker->at = world_now();
		break;
	case OPERATION_WAIT:
		break;
	}
	if (error)
		world.lost[operation->stream->context->device] = error;
}

static void drop(struct operation *operation)
{
	if (operation->kind == OPERATION_RECORD)
		operation->marker->record = NULL;
	marker_give(operation->marker);
	free(operation->staged);
	free(operation->launch);
	free(operation);
	world.pending--;
}

static void run(struct operation *operation)
{
	struct CUstream_st *stream = operation->stream;

	memory_seal(false);
	carry_out(operation);
	memory_seal(true);
	stream->head = operation->next;
	if (!stream->head)
		stream->tail = NULL;
	drop(operation);
}

struct operation *stream_add(struct CUstream_st *stream, enum operation_kind kind)
{
	struct operation *operation = calloc(1, sizeof *operation);
	int64_t now = world_now();

	if (!operation)
		abort();
	operation->stream = stream;
	operation->kind = kind;
	operation->order = ++world.orders;
	operation->hangs = world.hang;
	operation->crash = world.crash;
	if (world.settings.slow && kind < OPERATION_RECORD) {
		stream->due =
			(stream->due > now ? stream->due : now) + 1000000 * world.settings.slow;
	}
	operation->due = stream->due;
	if (stream->tail)
		stream->tail->next = operation;
	else
		stream->head = operation;
	stream->tail = operation;
	stream->patience = 0;
	world.pending++;
	return operation;
}

sb_cu_result stream_finish_until(struct CUstream_st *stream, unsigned long order)
{
	while (!world_lost(stream->context) && stream->head && stream->head->order <= order) {
		struct operation *next = towards(stream);

		/* What waits for a lost device waits for ever. */
		if (!next || next->hangs || world_lost(next->stream->context))
			world_wait_for_ever();
		if (next->due > world_now())
			world_sleep_until(next->due);
		else
			run(next);
	}
	return world_lost(stream->context);
}

sb_cu_result stream_finish(struct CUstream_st *stream)
{
	return stream_finish_until(stream, world.orders);
}

sb_cu_result stream_finish_context(struct CUctx_st *context)
{
	unsigned long order = world.orders;
	sb_cu_result error = stream_finish_until(&context->null, order);

	for (struct CUstream_st *s = context->streams; s && !error; s = s->next)
		error = stream_finish_until(s, order);
	return error;
}

bool stream_nudge(struct CUstream_st *stream)
{
	struct operation *next = stream->head ? towards(stream) : NULL;

	if (!next || next->hangs || world_lost(next->stream->context) || next->due > world_now())
		return false;
	run(next);
	return true;
}

void stream_progress(void)
{
	/* of 256 calls so many run something; the seed's lowest bits choose how eager to be */
	static const unsigned temper[] = {255, 16, 96, 0};
	unsigned steps;

	if (world.settings.seed == 0 || world.pending == 0 ||
	    world_random(256) >= temper[world.settings.seed % 4])
		return;
	for (steps = 1 + world_random(4); steps > 0 && world.pending > 0; steps--) {
		struct CUstream_st *busy[128];
		unsigned count = 0;

		for (struct CUctx_st *c = context_each(NULL); c; c = context_each(c)) {
			if (c->null.head && count < 128)
				busy[count++] = &c->null;
			for (struct CUstream_st *s = c->streams; s; s = s->next)
				if (s->head && count < 128)
					busy[count++] = s;
		}
		if (count > 0)
			stream_nudge(busy[world_random(count)]);
	}
}

void stream_clear(struct CUstream_st *stream)
{
	while (stream->head) {
		struct operation *operation = stream->head;

		stream->head = operation->next;
		if (operation->kind == OPERATION_RECORD) {
			operation->marker->done = true;
			operation->marker->record = NULL;
		}
		drop(operation);
	}
	stream->tail = NULL;
}

static bool meets(const char *start, size_t length, const void *base, size_t bytes)
{
	return start < (const char *)base + bytes && (const char *)base < start + length;
}

static bool operation_uses(const struct operation *o, const void *base, size_t bytes)
{
	return meets(o->to, span(o->width, o->height, o->to_pitch), base, bytes) ||
	       (o->from && meets(o->from, span(o->width, o->height, o->from_pitch), base, bytes));
}

bool stream_uses(const void *base, size_t bytes)
{
	for (struct CUctx_st *c = context_each(NULL); c; c = context_each(c)) {
		for (const struct operation *o = c->null.head; o; o = o->next)
			if (operation_uses(o, base, bytes))
				return true;
		for (struct CUstream_st *s = c->streams; s; s = s->next)
			for (const struct operation *o = s->head; o; o = o->next)
				if (operation_uses(o, base, bytes))
					return true;
	}
	return false;
}

/* The stream that a handle means, 0 and 1 being the legacy null stream of the current context. */
struct CUstream_st *stream_resolve(sb_cu_stream stream, sb_cu_result *error)
{
	struct CUctx_st *top = context_top();

	*error = 0;
	if ((uintptr_t)stream <= 1) {
		if (!top)
			*error = SB_CU_ERROR_INVALID_CONTEXT;
		if (!top || !context_captures(top))
			return top ? &top->null : NULL;
		world_violation("the legacy stream ruins a capture");
		*error = ERROR_STREAM_CAPTURE_IMPLICIT;
		return NULL;
	}
	if ((uintptr_t)stream > 4096 && stream->tag == TAG_LIVE)
		return stream;
	world_violation("%p is used as a stream and is none", (void *)stream);
	*error = SB_CU_ERROR_INVALID_HANDLE;
	return NULL;
}

static sb_cu_result create(sb_cu_stream *stream, unsigned flags, sb_cu_result error)
{
	struct CUctx_st *top = context_top();
	struct CUstream_st *made;

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (flags & ~(unsigned)SB_CU_STREAM_NON_BLOCKING)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	made = calloc(1, sizeof *made);
	if (!made)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	made->tag = TAG_LIVE;
	made->context = top;
	made->flags = flags;
	made->next = top->streams;
	top->streams = made;
	world.live_streams++;
	*stream = made;
	return world_leave(0);
}

sb_cu_result stand_in_stream_create(sb_cu_stream *stream, unsigned flags)
{
	return create(stream, flags, world_enter(SLOT_stream_create));
}

/* Who comes first is nothing that an order of ours may rest on. */
sb_cu_result stand_in_stream_create_ranked(sb_cu_stream *stream, unsigned flags, int priority)
{
	(void)priority;
	return create(stream, flags, world_enter(SLOT_stream_create_ranked));
}

/* What is queued is still carried out. */
sb_cu_result stand_in_stream_destroy(sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_stream_destroy);
	struct CUstream_st *resolved;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error || (uintptr_t)stream <= 1)
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	resolved->tag = TAG_DEAD;
	world.live_streams--;
	return world_leave(0);
}

sb_cu_result stand_in_stream_query(sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_stream_query);
	struct CUstream_st *resolved;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error)
		return world_leave(error);
	if (resolved->head && patience_runs_out(&resolved->patience))
		stream_nudge(resolved);
	error = world_lost(resolved->context);
	return world_leave(error ? error : resolved->head ? SB_CU_ERROR_NOT_READY : 0);
}

sb_cu_result stand_in_stream_synchronize(sb_cu_stream stream)
{
	sb_cu_result error = world_enter(SLOT_stream_synchronize);
	struct CUstream_st *resolved;

	if (error)
		return error;
	resolved = stream_resolve(stream, &error);
	if (error)
		return world_leave(error);
	return world_leave(stream_finish(resolved));
}
