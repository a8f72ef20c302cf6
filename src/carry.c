/* SPDX-License-Identifier: BSD-3-Clause */
#include "carry.h"

#include <stdlib.h>

#include "carry_steps.h"
#include "copy_threads.h"
#include "fresh.h"
#include "trace.h"

/* The executor's own events come after those that plans name. */
#define DRAIN_EVENT(stream) (SB_DEVICE_EVENTS - 1 - (stream))

/* The next step of a stream from `index` on. */
static int next_of(const struct sb_plan *plan, enum sb_stream stream, int index)
{
	while (index < plan->count && plan->steps[index].stream != stream)
		index++;
	return index;
}

/* Takes a stream as far as it gets now. */
static enum sb_status advance(struct sb_carry *c, enum sb_stream stream, bool *moved)
{
	struct sb_carry_state *state = c->state;
	int *next = &state->next[stream];
	enum sb_status status = SB_OK;

	for (;;) {
		bool all = true;

		if (stream == SB_STREAM_UP && state->feeding) {
			all = sb_ring_feed(c->device, &state->upload);
			state->feeding = !all;
		} else if (stream == SB_STREAM_DOWN && state->fetching) {
			status = sb_ring_fetch(
				c->device,
				&state->homes[(state->last - 1) % SB_CARRY_HOMES].download, &all);
			state->fetching = !all;
		} else if (*next < c->plan->count &&
			   sb_carry_needs_queued(c, &c->plan->steps[*next])) {
			if (stream == SB_STREAM_DOWN &&
			    state->last - state->first == SB_CARRY_HOMES)
				return SB_OK;
			status = sb_carry_begin(c, *next);
			*next = next_of(c->plan, stream, *next + 1);
			*moved = true;
		} else {
			return SB_OK;
		}
		if (!all || status != SB_OK)
			return status;
	}
}

/* Blocks all of whose chunks the copy threads have been given leave the list. */
static void note_progress(struct sb_carry *c)
{
	struct sb_carry_state *state = c->state;

	for (; state->first < state->last; state->first++) {
		struct sb_carry_home *home = &state->homes[state->first % SB_CARRY_HOMES];
		const struct sb_cut *committed = &home->download.committed;

		if (committed->line == home->download.lines.height) {
			c->step = home->step + 1;
			c->columns = c->rows = 0;
			continue;
		}
		if (committed->line || committed->start) {
			c->step = home->step;
			c->columns = (int64_t)committed->line;
			c->rows = (int64_t)(committed->start / sizeof(float));
		}
		return;
	}
}

static bool over(const struct sb_carry *c)
{
	for (int i = 0; i < SB_STREAMS; i++)
		if (c->state->next[i] < c->plan->count)
			return false;
	return !c->state->feeding && !c->state->fetching && !sb_ring_busy(c->device);
}

static void print(const struct sb_carry *all, int count)
{
	for (int c = 0; c < count && sb_trace_wanted(2); c++)
		for (int i = 0; i < all[c].plan->count; i++) {
			char text[160];

			sb_plan_line(&all[c].plan->steps[i], text, sizeof text);
			if (count > 1)
				sb_trace_line(2, "device %d step %d: %s", all[c].device->ordinal, i,
					      text);
			else
				sb_trace_line(2, "step %d: %s", i, text);
		}
}

/* The first one's device is current all the time. */
static enum sb_status step_over(const struct sb_carry *c)
{
	return c == c->all ? SB_OK : sb_device_step_over(c->device);
}

static enum sb_status step_back(const struct sb_carry *c, enum sb_status status)
{
	enum sb_status back = c == c->all ? SB_OK : sb_device_step_back(c->device);

	return status == SB_OK || back == SB_LOST ? back : status;
}

/* Takes one device's streams and rings as far as they get now. */
static enum sb_status go_on(struct sb_carry *c, bool *moved)
{
	enum sb_status status = step_over(c);

	if (status != SB_OK)
		return status;
	for (int i = 0; i < SB_STREAMS && status == SB_OK; i++)
		status = advance(c, (enum sb_stream)i, moved);
	if (status == SB_OK)
		status = sb_ring_turn(c->device, moved);
	note_progress(c);
	return step_back(c, status);
}

static enum sb_status walk(struct sb_carry *all, int count)
{
	struct sb_idle idle = {0};
	enum sb_status status = SB_OK;
	int left = count;

	print(all, count);
	for (int c = 0; c < count; c++)
		for (int i = 0; i < SB_STREAMS; i++)
			all[c].state->next[i] = next_of(all[c].plan, (enum sb_stream)i, 0);
	while (left > 0) {
		bool moved = false;

		left = 0;
		for (int c = 0; c < count && status == SB_OK; c++) {
			if (!over(&all[c]))
				status = go_on(&all[c], &moved);
			left += !over(&all[c]);
		}
		if (status == SB_OK && left > 0)
			status = sb_ring_idle(all->device, &idle, moved, all->patience);
		if (status != SB_OK)
			break;
	}
	for (int c = 0; c < count; c++)
		sb_ring_settle(all[c].device);
	return status;
}

enum sb_status sb_carry_await_program(struct sb_device *device, enum sb_stream stream)
{
	sb_cu_event event = device->events[DRAIN_EVENT(0)];
	enum sb_status status = sb_device_check(device, device->cu->event_record(event, NULL),
						"recording an event");

	if (status == SB_OK)
		status = sb_device_check(
			device, device->cu->stream_wait_event(device->streams[stream], event, 0),
			"making a stream wait");
	return status;
}

bool sb_carry_writes(const struct sb_carry *c, const struct sb_step *step)
{
	return step->kind == (c->plan->buffers ? SB_STEP_DOWN : SB_STEP_GEMM);
}

enum sb_status sb_carry_drain(struct sb_device *device, double patience)
{
	enum sb_status status = SB_OK;

	/* A device alone has fewer streams. */
	for (int i = 0; status == SB_OK && i < SB_STREAMS; i++)
		if (device->streams[i])
			status = sb_device_check(
				device,
				device->cu->event_record(device->events[DRAIN_EVENT(i)],
							 device->streams[i]),
				"recording an event");
	for (int i = 0; status == SB_OK && i < SB_STREAMS; i++)
		if (device->streams[i])
			status = sb_device_wait(device, device->events[DRAIN_EVENT(i)], patience);
	/* Work whose end cannot be waited for may never end: its memory is not to be used again. */
	if (status != SB_OK && status != SB_LOST)
		status = sb_device_lose(device, "its work cannot be waited for");
	return status;
}

/* Bytes that are going to pass through the rings. */
static void expect(const struct sb_carry *c)
{
	size_t up = 0;

	for (int i = 0; i < c->plan->count; i++) {
		const struct sb_step *step = &c->plan->steps[i];

		if (step->kind == SB_STEP_UP && c->places[step->operand] == SB_PLACE_PAGEABLE)
			up += (size_t)step->count * (size_t)step->depth * sizeof(float);
	}
	sb_ring_expect(c->device, up, (size_t)c->call->m * (size_t)c->call->n * sizeof(float));
}

static enum sb_status carry_through_rings(struct sb_carry *all, int count)
{
	struct sb_fresh fresh = {.begun = false};
	enum sb_status status = SB_OK;

	for (int c = 0; c < count; c++) {
		all[c].state =
			calloc(1, sizeof *all->state + (size_t)all[c].plan->count * sizeof(bool));
		if (!all[c].state)
			status = SB_NO_MEMORY;
	}
	if (status == SB_OK) {
		sb_copy_threads_open();
		for (int c = 0; c < count; c++)
			expect(&all[c]);
		if (all->fresh)
			sb_fresh_begin(&fresh, all->fresh);
		status = walk(all, count);
		sb_fresh_end(&fresh);
		sb_copy_threads_close();
	}
	for (int c = 0; c < count; c++) {
		free(all[c].state);
		all[c].state = NULL;
	}
	return status;
}

static enum sb_status drain_all(const struct sb_carry *all, int count)
{
	enum sb_status status = SB_OK;

	for (int c = 0; c < count && status == SB_OK; c++) {
		status = step_over(&all[c]);
		if (status == SB_OK)
			status = step_back(&all[c], sb_carry_drain(all[c].device, all[c].patience));
	}
	/* What cannot be waited for, on whichever device, may touch memory of ours for ever. */
	if (status != SB_OK && status != SB_LOST)
		status = sb_device_lose(all->device, "its work cannot be waited for");
	return status;
}

enum sb_status sb_carry_out(struct sb_carry *all, int count)
{
	enum sb_status status = SB_OK, drained;

	for (int c = 0; c < count; c++) {
		all[c].all = all;
		all[c].step = 0;
		all[c].columns = all[c].rows = 0;
	}
	if (all->places[SB_OPERAND_A] == SB_PLACE_DEVICE ||
	    all->places[SB_OPERAND_B] == SB_PLACE_DEVICE || sb_carry_on_device(all->plan)) {
		/* The streams whose kernels read an operand, or write C, where it lies. */
		for (int i = SB_STREAM_PACK; status == SB_OK && i <= SB_STREAM_DOWN; i++)
			status = sb_carry_await_program(all->device, (enum sb_stream)i);
	}
	if (status == SB_OK)
		status = carry_through_rings(all, count);
	/* All that came through the rings is there, even if a device dies afterwards. */
	if (status == SB_OK && !sb_carry_on_device(all->plan) && !all->direct) {
		for (int c = 0; c < count; c++)
			all[c].step = all[c].plan->count;
		return SB_OK;
	}
	if (status != SB_LOST) {
		drained = drain_all(all, count);
		if (drained != SB_OK)
			status = drained;
	}
	for (int c = 0; c < count; c++)
		if (status != SB_OK && all[c].direct)
			all[c].step = 0;
	return status;
}

bool sb_carry_begun(const struct sb_carry *c)
{
	if (c->columns || c->rows)
		return true;
	for (int i = 0; i < c->step; i++)
		if (sb_carry_writes(c, &c->plan->steps[i]))
			return true;
	return false;
}

void sb_carry_rest(const struct sb_carry *c, sb_carry_block *rest, void *context)
{
	int64_t columns = c->columns, rows = c->rows;

	for (int i = c->step; i < c->plan->count; i++) {
		const struct sb_step *s = &c->plan->steps[i];

		if (!sb_carry_writes(c, s))
			continue;
		if (rows) {
			rest(context, s->i0 + rows, s->j0 + columns, s->m - rows, 1);
			columns++;
		}
		if (columns < s->n)
			rest(context, s->i0, s->j0 + columns, s->m, s->n - columns);
		columns = rows = 0;
	}
}
