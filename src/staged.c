/* SPDX-License-Identifier: BSD-3-Clause */
#include "staged.h"

#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "transfer.h"

/* Nobody else could answer, and each of those before us is bounded: wait for them all. */
#define TAKE_PATIENCE 3600.0

/* A matrix of `lines` columns of `width` elements each, copied to host memory without gaps. */
struct copy {
	const void *pointer;
	int64_t ld, width, lines;
	enum sb_place place;
	float *host;
};

struct stage {
	struct sb_device *device;
	struct copy copies[3];
	double patience;
};

static bool staged(const struct copy *copy)
{
	return (copy->place == SB_PLACE_DEVICE || copy->place == SB_PLACE_ELSEWHERE) &&
	       copy->width && copy->lines;
}

static struct sb_lines lines_of(const struct copy *copy)
{
	return (struct sb_lines){
		.host = copy->host,
		.host_pitch = (size_t)copy->width * sizeof(float),
		.device = (sb_cu_deviceptr)(uintptr_t)copy->pointer,
		.device_pitch = (size_t)copy->ld * sizeof(float),
		.width = (size_t)copy->width * sizeof(float),
		.height = (size_t)copy->lines,
	};
}

static void commit(void *context, const struct sb_chunk *chunk, const void *from, size_t pitch)
{
	struct copy *copy = context;
	size_t line = (size_t)copy->width * sizeof(float);

	for (size_t i = 0; i < chunk->height; i++)
		memcpy((char *)copy->host + (chunk->line + i) * line + chunk->start,
		       (const char *)from + i * pitch, chunk->width);
}

/* Makes the stream that reads it wait for what the program has queued on the other device. */
static enum sb_status await_owner(struct sb_device *device, const void *pointer)
{
	const struct sb_driver *cu = device->cu;
	sb_cu_context owner = NULL;
	int attribute = SB_CU_POINTER_CONTEXT;
	void *value = &owner;
	sb_cu_event event;
	enum sb_status status = sb_device_check(
		device,
		cu->pointer_attributes(1, &attribute, &value, (sb_cu_deviceptr)(uintptr_t)pointer),
		"looking at a pointer");

	if (status != SB_OK || !owner)
		return status;
	status = sb_device_check(device, cu->context_push(owner), "making a context current");
	if (status != SB_OK)
		return status;
	status = sb_device_check(device, cu->event_create(&event, SB_CU_EVENT_DISABLE_TIMING),
				 "making an event");
	if (status == SB_OK) {
		status = sb_device_check(device, cu->event_record(event, NULL),
					 "recording an event");
		if (status == SB_OK)
			status = sb_device_check(
				device,
				cu->stream_wait_event(device->streams[SB_STREAM_DOWN], event, 0),
				"making a stream wait");
		(void)cu->event_destroy(event);
	}
	return sb_device_step_back(device) == SB_OK ? status : SB_LOST;
}

/* With the device taken and entered. */
static enum sb_status bring_down(struct stage *s)
{
	/* What the program and we have queued must have written before it is read. */
	enum sb_status status = sb_carry_await_program(s->device, SB_STREAM_DOWN);

	for (int i = 0; i < 3 && status == SB_OK; i++) {
		struct copy *copy = &s->copies[i];
		struct sb_lines lines;

		if (!staged(copy))
			continue;
		if (copy->place == SB_PLACE_ELSEWHERE)
			status = await_owner(s->device, copy->pointer);
		copy->host = malloc((size_t)copy->width * (size_t)copy->lines * sizeof(float));
		if (status == SB_OK && !copy->host)
			status = SB_NO_MEMORY;
		if (status != SB_OK)
			break;
		lines = lines_of(copy);
		status = sb_transfer_down(s->device, &lines, commit, copy, s->patience);
	}
	return status;
}

static enum sb_status take_up(struct stage *s)
{
	struct sb_lines lines = lines_of(&s->copies[2]);
	enum sb_status status = sb_transfer_up(s->device, &lines, false, s->patience);

	/* The program may read C at once, in streams that do not wait for ours. */
	return status == SB_OK ? sb_carry_drain(s->device, s->patience) : status;
}

/* Takes the device and does one of the two, each of which waits for its copies. */
static enum sb_status visit(struct stage *s, enum sb_status (*act)(struct stage *s))
{
	enum sb_status status;
	struct sb_visit visit;

	if (!sb_device_take(s->device, TAKE_PATIENCE))
		return SB_BUSY;
	/* Whoever had it may have lost it. */
	status = sb_device() ? sb_device_enter(s->device, &visit) : SB_LOST;
	if (status == SB_OK) {
		status = sb_ring_prepare(s->device);
		if (status == SB_OK)
			status = act(s);
		sb_device_leave(s->device, &visit);
	}
	sb_device_give(s->device);
	return status;
}

enum sb_status sb_staged_run(struct sb_device *device, const struct sb_call *call,
			     const enum sb_place places[3], sb_staged_compute *compute,
			     void *context, double patience)
{
	const bool a = call->trans_a, b = call->trans_b;
	struct stage s = {
		.device = device,
		.copies = {{call->a, call->lda, a ? call->k : call->m, a ? call->m : call->k,
			    places[0], NULL},
			   {call->b, call->ldb, b ? call->n : call->k, b ? call->k : call->n,
			    places[1], NULL},
			   {call->c, call->ldc, call->m, call->n, places[2], NULL}},
		.patience = patience,
	};
	const struct copy *copies = s.copies;
	struct sb_call there = *call;
	enum sb_status status = visit(&s, bring_down);

	if (status == SB_OK) {
		there.a = copies[0].host ? copies[0].host : call->a;
		there.lda = copies[0].host ? copies[0].width : call->lda;
		there.b = copies[1].host ? copies[1].host : call->b;
		there.ldb = copies[1].host ? copies[1].width : call->ldb;
		there.c = copies[2].host ? copies[2].host : call->c;
		there.ldc = copies[2].host ? copies[2].width : call->ldc;
		compute(context, &there);
		if (copies[2].host)
			status = visit(&s, take_up);
	}
	for (int i = 0; i < 3; i++)
		free(s.copies[i].host);
	return status;
}
