/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "element.h"
#include "profiler.h"
#include "settings.h"

#define FIRST_ROOM 256
#define LOOKS	   4	 /* at the two clocks, of which the closest counts */
#define CLOSE	   15e-6 /* enough */

_Thread_local struct sb_timeline *sb_timeline_here;

const char *const sb_timeline_words[SB_TIMELINE_KINDS] = {
	[SB_TIMELINE_STEP] = "step",	   [SB_TIMELINE_COPY] = "copy",
	[SB_TIMELINE_FILL] = "fill",	   [SB_TIMELINE_COMMIT] = "commit",
	[SB_TIMELINE_PAGES] = "pages",	   [SB_TIMELINE_TAKE] = "wait for the device",
	[SB_TIMELINE_PREPARE] = "prepare", [SB_TIMELINE_WAIT] = "wait",
	[SB_TIMELINE_BACKEND] = "backend",
};

/* Events with times, kept from call to call; belongs to who has taken the device. */
static struct pool {
	sb_cu_event *events;
	size_t made, used, room;
} pools[SB_TIMELINE_DEVICES];

static bool recorded(void)
{
	return sb_settings()->verbose >= 2 || *sb_settings()->trace;
}

bool sb_timeline_wanted(void)
{
	return recorded() || sb_profiler_listens();
}

static void name_call(char *name, size_t size, const struct sb_call *call)
{
	snprintf(name, size, "%s %c%c %" PRId64 "x%" PRId64 "x%" PRId64,
		 sb_element(call->type)->operation, call->trans_a ? 't' : 'n',
		 call->trans_b ? 't' : 'n', call->m, call->n, call->k);
}

void sb_timeline_open(const struct sb_call *call, bool on_device)
{
	struct sb_timeline *timeline;

	sb_timeline_drop();
	if (!sb_timeline_wanted())
		return;
	timeline = calloc(1, sizeof *timeline);
	if (!timeline)
		return;
	timeline->recorded = recorded();
	timeline->caller = gettid();
	timeline->on_device = on_device;
	name_call(timeline->name, sizeof timeline->name, call);
	pthread_mutex_init(&timeline->lock, NULL);
	if (sb_profiler_listens())
		sb_profiler_begin(timeline->name);
	timeline->begin = sb_clock_now();
	sb_timeline_here = timeline;
}

bool sb_timeline_reopen(void)
{
	struct sb_timeline *timeline = sb_timeline_here;

	if (!timeline->ended)
		return false;
	timeline->ended = false;
	if (sb_profiler_listens())
		sb_profiler_begin(timeline->name);
	return true;
}

void sb_timeline_close(void)
{
	struct sb_timeline *timeline = sb_timeline_here;

	if (!timeline || timeline->ended)
		return;
	timeline->end = sb_clock_now();
	timeline->ended = true;
	if (sb_profiler_listens())
		sb_profiler_end();
}

void sb_timeline_drop(void)
{
	struct sb_timeline *timeline = sb_timeline_here;

	sb_timeline_here = NULL;
	if (!timeline)
		return;
	pthread_mutex_destroy(&timeline->lock);
	free(timeline->spans);
	free(timeline);
}

/* With the lock held. The number of a new span, counted from 1; 0 if there is no room. */
static size_t add(struct sb_timeline *timeline, const struct sb_timeline_span *span)
{
	if (timeline->count == timeline->room) {
		size_t room = timeline->room ? 2 * timeline->room : FIRST_ROOM;
		struct sb_timeline_span *spans = NULL;

		if (room <= SB_TIMELINE_SPANS)
			spans = realloc(timeline->spans, room * sizeof *spans);
		if (!spans) {
			timeline->dropped++;
			return 0;
		}
		timeline->spans = spans;
		timeline->room = room;
	}
	timeline->spans[timeline->count++] = *span;
	return timeline->count;
}

static size_t append(struct sb_timeline *timeline, const struct sb_timeline_span *span)
{
	size_t number = 0;

	if (!timeline->recorded)
		return 0;
	pthread_mutex_lock(&timeline->lock);
	number = add(timeline, span);
	pthread_mutex_unlock(&timeline->lock);
	return number;
}

double sb_timeline_start(const char *name)
{
	if (sb_profiler_listens())
		sb_profiler_begin(name);
	return sb_clock_now();
}

void sb_timeline_stop(struct sb_timeline *timeline, enum sb_timeline_kind kind, int step,
		      double start, size_t bytes)
{
	const struct sb_timeline_span span = {
		.kind = kind,
		.step = step,
		.thread = gettid(),
		.caller = sb_timeline_here != NULL,
		.begin = start,
		.end = sb_clock_now(),
		.bytes = bytes,
	};

	(void)append(timeline, &span);
	if (sb_profiler_listens())
		sb_profiler_end();
}

void sb_timeline_record_wait(double since)
{
	struct sb_timeline *timeline = sb_timeline_here;
	struct sb_timeline_span span = {
		.kind = SB_TIMELINE_WAIT,
		.thread = timeline->caller,
		.caller = true,
		.begin = since,
		.end = sb_clock_now(),
	};

	pthread_mutex_lock(&timeline->lock);
	if (timeline->waiting && timeline->spans[timeline->waiting - 1].begin == since)
		timeline->spans[timeline->waiting - 1].end = span.end;
	else if (timeline->recorded)
		timeline->waiting = add(timeline, &span);
	pthread_mutex_unlock(&timeline->lock);
}

/* The pool of a device that is recorded now, or NULL. */
static struct pool *pool_of(const struct sb_device *device)
{
	struct sb_timeline *timeline = sb_timeline_here;

	if (!timeline->recorded || device->ordinal >= SB_TIMELINE_DEVICES ||
	    timeline->clocks[device->ordinal].device != device)
		return NULL;
	return &pools[device->ordinal];
}

/* Records the pool's next event; NULL if it cannot: then one span has no time. */
static sb_cu_event record(struct sb_device *device, struct pool *pool, enum sb_stream stream)
{
	if (pool->used == pool->room) {
		size_t room = pool->room ? 2 * pool->room : FIRST_ROOM;
		sb_cu_event *events = realloc(pool->events, room * sizeof *events);

		if (!events)
			return NULL;
		pool->events = events;
		pool->room = room;
	}
	if (pool->used == pool->made) {
		if (device->cu->event_create(&pool->events[pool->made], SB_CU_EVENT_DEFAULT) !=
		    SB_CU_SUCCESS)
			return NULL;
		pool->made++;
	}
	if (device->cu->event_record(pool->events[pool->used], device->streams[stream]) !=
	    SB_CU_SUCCESS)
		return NULL;
	return pool->events[pool->used++];
}

void sb_timeline_enter(struct sb_device *device, double patience)
{
	struct sb_timeline *timeline = sb_timeline_here;
	struct sb_timeline_clock *clock;
	double least = INFINITY;

	if (!timeline || !timeline->recorded || device->ordinal >= SB_TIMELINE_DEVICES)
		return;
	clock = &timeline->clocks[device->ordinal];
	pools[device->ordinal].used = 0;
	for (int i = 0; i < LOOKS && least > CLOSE; i++) {
		double before = sb_clock_now(), apart;
		sb_cu_event event = record(device, &pools[device->ordinal], SB_STREAM_UP);

		if (!event || sb_device_wait(device, event, patience) != SB_OK)
			return;
		apart = sb_clock_now() - before;
		if (apart >= least)
			continue;
		least = apart;
		clock->reference = event;
		clock->host = before + apart / 2;
	}
	clock->device = device;
	timeline->doubt = least / 2 > timeline->doubt ? least / 2 : timeline->doubt;
}

/* The time of an event on the host's clock, or NaN. */
static double time_of(const struct sb_timeline_clock *clock, sb_cu_event event)
{
	float milliseconds;

	if (!event || clock->device->cu->event_elapsed(&milliseconds, clock->reference, event) !=
			      SB_CU_SUCCESS)
		return NAN;
	return clock->host + 1e-3 * (double)milliseconds;
}

/* A step whose work is copies lasts from the first to the last. */
static void widen(struct sb_timeline_span *step, const struct sb_timeline_span *part)
{
	step->bytes += part->bytes;
	if (isnan(part->begin) || isnan(part->end))
		return;
	step->begin = step->begin <= part->begin ? step->begin : part->begin;
	step->end = step->end >= part->end ? step->end : part->end;
}

void sb_timeline_leave(struct sb_device *device)
{
	struct sb_timeline *timeline = sb_timeline_here;
	struct sb_timeline_clock *clock;

	if (!timeline || !pool_of(device))
		return;
	clock = &timeline->clocks[device->ordinal];
	pthread_mutex_lock(&timeline->lock);
	for (size_t i = 0; i < timeline->count; i++) {
		struct sb_timeline_span *span = &timeline->spans[i];

		if (span->device != device || !span->events[0])
			continue;
		span->begin = time_of(clock, span->events[0]);
		span->end = time_of(clock, span->events[1]);
		span->events[0] = span->events[1] = NULL;
		if (span->kind == SB_TIMELINE_COPY && span->step)
			widen(&timeline->spans[span->step - 1], span);
	}
	pthread_mutex_unlock(&timeline->lock);
	clock->device = NULL;
}

void sb_timeline_step(struct sb_device *device, enum sb_stream stream, const char *name,
		      const char *kernel, double flops, bool copies)
{
	struct pool *pool = pool_of(device);
	struct sb_timeline_span span = {
		.kind = SB_TIMELINE_STEP,
		.device = device,
		.stream = stream,
		.begin = NAN,
		.end = NAN,
		.kernel = kernel,
		.flops = flops,
	};

	if (sb_profiler_listens())
		sb_profiler_begin(name);
	snprintf(span.name, sizeof span.name, "%s", name);
	if (pool && !copies)
		span.events[0] = record(device, pool, stream);
	sb_timeline_here->step = pool ? (int)append(sb_timeline_here, &span) : 0;
}

void sb_timeline_record_end(struct sb_device *device, size_t span)
{
	struct sb_timeline *timeline = sb_timeline_here;
	struct pool *pool = pool_of(device);
	enum sb_stream stream;
	sb_cu_event event;

	if (!pool)
		return;
	pthread_mutex_lock(&timeline->lock);
	stream = timeline->spans[span - 1].stream;
	pthread_mutex_unlock(&timeline->lock);
	event = record(device, pool, stream);
	pthread_mutex_lock(&timeline->lock);
	timeline->spans[span - 1].events[1] = event;
	pthread_mutex_unlock(&timeline->lock);
}

void sb_timeline_step_queued(struct sb_device *device)
{
	struct sb_timeline *timeline = sb_timeline_here;
	size_t step = (size_t)timeline->step;
	bool timed = false;

	if (sb_profiler_listens())
		sb_profiler_end();
	if (!step)
		return;
	pthread_mutex_lock(&timeline->lock);
	timed = timeline->spans[step - 1].events[0] != NULL;
	pthread_mutex_unlock(&timeline->lock);
	if (timed)
		sb_timeline_record_end(device, step);
	timeline->step = 0;
}

size_t sb_timeline_record_copy(struct sb_device *device, enum sb_stream stream, size_t bytes)
{
	struct pool *pool = pool_of(device);
	struct sb_timeline_span span = {
		.kind = SB_TIMELINE_COPY,
		.step = sb_timeline_here->step,
		.device = device,
		.stream = stream,
		.begin = NAN,
		.end = NAN,
		.bytes = bytes,
	};

	if (!pool)
		return 0;
	span.events[0] = record(device, pool, stream);
	return append(sb_timeline_here, &span);
}
