/* SPDX-License-Identifier: BSD-3-Clause */
#include "staged.h"

#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "transfer.h"

/* A matrix of `lines` columns of `width` elements each, copied to host memory without gaps. */
struct copy {
	float *host;
	int64_t width, lines;
	struct sb_lines device;
};

static void commit(void *context, const struct sb_chunk *chunk, const void *from, size_t pitch)
{
	struct copy *copy = context;
	size_t line = (size_t)copy->width * sizeof(float);

	for (size_t i = 0; i < chunk->height; i++)
		memcpy((char *)copy->host + (chunk->line + i) * line + chunk->start,
		       (const char *)from + i * pitch, chunk->width);
}

static enum sb_status stage_down(struct sb_device *device, struct copy *copy, const void *pointer,
				 int64_t ld, int64_t width, int64_t lines, double patience)
{
	*copy = (struct copy){
		.host = malloc((size_t)width * (size_t)lines * sizeof(float)),
		.width = width,
		.lines = lines,
		.device = {.device = (sb_cu_deviceptr)(uintptr_t)pointer,
			   .device_pitch = (size_t)ld * sizeof(float),
			   .width = (size_t)width * sizeof(float),
			   .height = (size_t)lines},
	};
	if (!copy->host)
		return SB_NO_MEMORY;
	return sb_transfer_down(device, &copy->device, commit, copy, patience);
}

static enum sb_status stage_up(struct sb_device *device, struct copy *copy, double patience)
{
	enum sb_status status;

	copy->device.host = copy->host;
	copy->device.host_pitch = copy->device.width;
	status = sb_transfer_up(device, &copy->device, false, patience);
	return status == SB_OK ? sb_carry_drain(device, patience) : status;
}

enum sb_status sb_staged_run(struct sb_device *device, const struct sb_call *call,
			     const enum sb_place places[3], sb_staged_compute *compute,
			     void *context, double patience)
{
	const int64_t widths[] = {call->trans_a ? call->k : call->m,
				  call->trans_b ? call->n : call->k, call->m};
	const int64_t lines[] = {call->trans_a ? call->m : call->k,
				 call->trans_b ? call->k : call->n, call->n};
	const void *pointers[] = {call->a, call->b, call->c};
	int64_t lds[] = {call->lda, call->ldb, call->ldc};
	struct copy copies[3] = {{0}};
	struct sb_call there = *call;
	enum sb_status status = sb_ring_prepare(device);

	/* What the program and we have queued must have written before it is read. */
	if (status == SB_OK)
		status = sb_carry_await_program(device);
	for (int i = 0; i < 3 && status == SB_OK; i++) {
		if (places[i] != SB_PLACE_DEVICE)
			continue;
		status = stage_down(device, &copies[i], pointers[i], lds[i], widths[i], lines[i],
				    patience);
		pointers[i] = copies[i].host;
		lds[i] = widths[i];
	}
	if (status == SB_OK) {
		there.a = pointers[0];
		there.b = pointers[1];
		there.c = copies[2].host ? copies[2].host : call->c;
		there.lda = lds[0];
		there.ldb = lds[1];
		there.ldc = lds[2];
		compute(context, &there);
		if (copies[2].host)
			status = stage_up(device, &copies[2], patience);
	}
	for (int i = 0; i < 3; i++)
		free(copies[i].host);
	return status;
}
