/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer.h"

#include <string.h>

#include "arena.h"

#define SLOTS	   4 /* of each direction */
#define SLOT_LEAST ((size_t)16 << 10)
#define SLOT_MOST  ((size_t)4 << 20)
#define RINGS	   2

struct ring {
	char *base;
	sb_cu_event events[SLOTS];
	bool used[SLOTS]; /* its event has been recorded: someone may still read the slot */
	size_t next;
};

static struct {
	size_t slot; /* bytes of a slot; 0: not made yet */
	struct ring up, down;
} rings;

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Pieces of one line, and lines of one chunk: one of the two is 1. */
static void cut(const struct sb_lines *lines, size_t slot, size_t *pieces, size_t *together)
{
	*pieces = (lines->width + slot - 1) / slot;
	*together = *pieces > 1 ? 1 : slot / lines->width;
}

size_t sb_transfer_chunks(const struct sb_lines *lines, size_t slot)
{
	size_t pieces, together;

	if (lines->width == 0 || lines->height == 0)
		return 0;
	cut(lines, slot, &pieces, &together);
	return pieces > 1 ? pieces * lines->height : (lines->height + together - 1) / together;
}

struct sb_chunk sb_transfer_chunk(const struct sb_lines *lines, size_t slot, size_t index)
{
	struct sb_chunk chunk;
	size_t pieces, together;

	cut(lines, slot, &pieces, &together);
	chunk.line = index / pieces * together;
	chunk.height = least_of(together, lines->height - chunk.line);
	chunk.start = index % pieces * slot;
	chunk.width = least_of(slot, lines->width - chunk.start);
	return chunk;
}

static enum sb_status make_events(struct sb_device *device, struct ring *ring)
{
	enum sb_status status = SB_OK;

	for (int i = 0; status == SB_OK && i < SLOTS; i++)
		if (!ring->events[i])
			status = sb_device_check(
				device,
				device->cu->event_create(&ring->events[i],
							 SB_CU_EVENT_DISABLE_TIMING),
				"making an event");
	return status;
}

enum sb_status sb_transfer_prepare(struct sb_device *device)
{
	enum sb_status status;
	void *base;
	size_t bytes;

	if (rings.slot)
		return SB_OK;
	status = make_events(device, &rings.up);
	if (status == SB_OK)
		status = make_events(device, &rings.down);
	if (status == SB_OK)
		status = sb_arena_pinned(device, RINGS * SLOTS * SLOT_LEAST,
					 RINGS * SLOTS * SLOT_MOST, &base, &bytes);
	if (status != SB_OK)
		return status;
	/* Whole pages, so that lines of floats never straddle an element. */
	rings.slot = bytes / (RINGS * SLOTS) / 4096 * 4096;
	rings.up.base = base;
	rings.down.base = (char *)base + SLOTS * rings.slot;
	return SB_OK;
}

static struct sb_cu_memcpy2d copy_up(const void *host, size_t host_pitch, sb_cu_deviceptr device,
				     size_t device_pitch, size_t width, size_t height)
{
	return (struct sb_cu_memcpy2d){.src_type = SB_CU_MEMORY_HOST,
				       .src_host = host,
				       .src_pitch = host_pitch,
				       .dst_type = SB_CU_MEMORY_DEVICE,
				       .dst_device = device,
				       .dst_pitch = device_pitch,
				       .width_bytes = width,
				       .height = height};
}

static struct sb_cu_memcpy2d copy_down(void *host, size_t host_pitch, sb_cu_deviceptr device,
				       size_t device_pitch, size_t width, size_t height)
{
	return (struct sb_cu_memcpy2d){.src_type = SB_CU_MEMORY_DEVICE,
				       .src_device = device,
				       .src_pitch = device_pitch,
				       .dst_type = SB_CU_MEMORY_HOST,
				       .dst_host = host,
				       .dst_pitch = host_pitch,
				       .width_bytes = width,
				       .height = height};
}

static enum sb_status queue(struct sb_device *device, struct sb_cu_memcpy2d *copy,
			    enum sb_stream stream, sb_cu_event event)
{
	enum sb_status status;

	/* A single line has no pitch, but the driver would check the one given against its limit.
	 */
	if (copy->height == 1)
		copy->src_pitch = copy->dst_pitch = copy->width_bytes;
	status = sb_device_check(device, device->cu->copy_2d(copy, device->streams[stream]),
				 "a copy");

	if (status == SB_OK && event)
		status = sb_device_check(device,
					 device->cu->event_record(event, device->streams[stream]),
					 "recording an event");
	return status;
}

static void fill(char *slot, const struct sb_lines *lines, const struct sb_chunk *chunk)
{
	const char *from =
		(const char *)lines->host + chunk->line * lines->host_pitch + chunk->start;

	if (lines->host_pitch == chunk->width) {
		memcpy(slot, from, chunk->height * chunk->width);
		return;
	}
	for (size_t i = 0; i < chunk->height; i++)
		memcpy(slot + i * chunk->width, from + i * lines->host_pitch, chunk->width);
}

bool sb_transfer_direct(const struct sb_lines *lines)
{
	return lines->height == 1 ||
	       (lines->host_pitch < SB_TRANSFER_PITCH && lines->device_pitch < SB_TRANSFER_PITCH);
}

enum sb_status sb_transfer_up(struct sb_device *device, const struct sb_lines *lines, bool direct,
			      double seconds)
{
	struct ring *ring = &rings.up;
	enum sb_status status = SB_OK;
	struct sb_cu_memcpy2d copy;

	if (direct && sb_transfer_direct(lines)) {
		copy = copy_up(lines->host, lines->host_pitch, lines->device, lines->device_pitch,
			       lines->width, lines->height);
		return queue(device, &copy, SB_STREAM_UP, NULL);
	}
	for (size_t i = 0; status == SB_OK && i < sb_transfer_chunks(lines, rings.slot); i++) {
		struct sb_chunk chunk = sb_transfer_chunk(lines, rings.slot, i);
		size_t s = ring->next++ % SLOTS;
		char *slot = ring->base + s * rings.slot;

		/* Refilled before its copy has run, a slot would deliver the next chunk twice. */
		if (ring->used[s])
			status = sb_device_wait(device, ring->events[s], seconds);
		if (status != SB_OK)
			break;
		fill(slot, lines, &chunk);
		copy = copy_up(slot, chunk.width,
			       lines->device + chunk.line * lines->device_pitch + chunk.start,
			       lines->device_pitch, chunk.width, chunk.height);
		ring->used[s] = true;
		status = queue(device, &copy, SB_STREAM_UP, ring->events[s]);
	}
	return status;
}

enum sb_status sb_transfer_down(struct sb_device *device, const struct sb_lines *lines,
				sb_transfer_commit commit, void *context, double seconds)
{
	struct ring *ring = &rings.down;
	size_t count = sb_transfer_chunks(lines, rings.slot), queued = 0;
	enum sb_status status = SB_OK;

	for (size_t done = 0; done < count; done++) {
		struct sb_chunk chunk;

		/* All slots but the one being committed are kept on their way. */
		for (; status == SB_OK && queued < count && queued < done + SLOTS; queued++) {
			struct sb_cu_memcpy2d copy;
			size_t s = queued % SLOTS;

			chunk = sb_transfer_chunk(lines, rings.slot, queued);
			copy = copy_down(ring->base + s * rings.slot, chunk.width,
					 lines->device + chunk.line * lines->device_pitch +
						 chunk.start,
					 lines->device_pitch, chunk.width, chunk.height);
			status = queue(device, &copy, SB_STREAM_DOWN, ring->events[s]);
		}
		if (status != SB_OK)
			return status;
		status = sb_device_wait(device, ring->events[done % SLOTS], seconds);
		if (status != SB_OK)
			return status;
		chunk = sb_transfer_chunk(lines, rings.slot, done);
		commit(context, &chunk, ring->base + done % SLOTS * rings.slot, chunk.width);
	}
	return SB_OK;
}

enum sb_status sb_transfer_down_direct(struct sb_device *device, const struct sb_lines *lines)
{
	struct sb_cu_memcpy2d copy = copy_down(lines->host, lines->host_pitch, lines->device,
					       lines->device_pitch, lines->width, lines->height);

	return queue(device, &copy, SB_STREAM_DOWN, NULL);
}
