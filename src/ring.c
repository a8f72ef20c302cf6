/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include <string.h>

#include "arena.h"
#include "copy_threads.h"
#include "settings.h"
#include "timeline.h"

#define SLOTS	    SB_RING_SLOTS
#define RINGS	    2
#define SLOT_LEAST  ((size_t)4 << 10)
#define CHUNK_LEAST ((size_t)256 << 10)

struct slot {
	char *memory;
	sb_cu_event event;
	bool forgotten; /* on its way down, and nobody wants it */
	struct sb_copy_job job;
	void (*work)(void *slot, size_t piece);
	struct sb_timeline *timeline; /* of the call, or NULL */
	int step;		      /* of it */
	struct sb_lines lines;
	struct sb_chunk chunk;
	sb_cu_event after; /* of the last chunk of an upload */
	bool *queued;
	struct sb_download *download;
	sb_ring_commit *commit;
	void *context;
};

/*
 * Counts of slots, ever: `given` out, of these `passed` on from their first station (filled and
 * queued; arrived and being committed), of these free again.
 */
struct ring {
	struct slot slots[SLOTS];
	size_t given, passed, freed;
	size_t expected, bytes; /* that go through it, and that have been given a slot */
};

static struct rings {
	struct ring up, down;
	bool made;
} rings[SB_DEVICES];

static size_t slot_bytes; /* of every device's; 0: not known yet */
static size_t slot_wish = (size_t)2 << 20;

static struct ring *up_of(const struct sb_device *device)
{
	return &rings[device->index].up;
}

static struct ring *down_of(const struct sb_device *device)
{
	return &rings[device->index].down;
}

static enum sb_status make_events(struct sb_device *device, struct ring *ring)
{
	enum sb_status status = SB_OK;

	for (int i = 0; status == SB_OK && i < SLOTS; i++)
		if (!ring->slots[i].event)
			status = sb_device_check(
				device,
				device->cu->event_create(&ring->slots[i].event,
							 SB_CU_EVENT_DISABLE_TIMING),
				"making an event");
	return status;
}

void sb_ring_wish(size_t slot)
{
	slot_wish = slot;
}

/* Every device's share of the pinned memory, which is for the whole team. */
static enum sb_status share_out(struct sb_device *device, char **base)
{
	size_t most = sb_settings()->slot ? (size_t)sb_settings()->slot : slot_wish, bytes;
	size_t slots = (size_t)sb_device_made()->count * RINGS * SLOTS;
	enum sb_status status;
	void *memory;

	most = most < SLOT_LEAST ? SLOT_LEAST : most;
	status = sb_arena_pinned(device, slots * SLOT_LEAST, slots * most, &memory, &bytes);
	if (status != SB_OK)
		return status;
	/* Whole pages, so that lines of floats never straddle an element. */
	slot_bytes = bytes / slots / 4096 * 4096;
	*base = (char *)memory + (size_t)device->index * RINGS * SLOTS * slot_bytes;
	return SB_OK;
}

enum sb_status sb_ring_prepare(struct sb_device *device)
{
	struct rings *own = &rings[device->index];
	enum sb_status status;
	char *base;

	if (own->made)
		return SB_OK;
	status = make_events(device, &own->up);
	if (status == SB_OK)
		status = make_events(device, &own->down);
	if (status == SB_OK)
		status = share_out(device, &base);
	if (status != SB_OK)
		return status;
	for (size_t i = 0; i < SLOTS; i++) {
		own->up.slots[i].memory = base + i * slot_bytes;
		own->down.slots[i].memory = base + (SLOTS + i) * slot_bytes;
	}
	own->made = true;
	return SB_OK;
}

size_t sb_ring_slot(void)
{
	return slot_bytes;
}

void sb_ring_expect(struct sb_device *device, size_t bytes_up, size_t bytes_down)
{
	struct ring *up = up_of(device), *down = down_of(device);

	up->expected = bytes_up;
	down->expected = bytes_down;
	up->bytes = down->bytes = 0;
}

static struct slot *slot_of(struct ring *ring, size_t number)
{
	return &ring->slots[number % SLOTS];
}

static size_t chunk_limit(const struct ring *ring)
{
	size_t left = ring->expected > ring->bytes ? ring->expected - ring->bytes : 0;
	size_t limit = ring->bytes < left / 4 ? ring->bytes : left / 4;

	limit = limit < CHUNK_LEAST ? CHUNK_LEAST : limit / 4096 * 4096;
	return limit < slot_bytes ? limit : slot_bytes;
}

/* Cuts the next chunk into the next slot; NULL if there is no more. */
static struct slot *give(struct ring *ring, const struct sb_lines *lines, struct sb_cut *cut,
			 int step)
{
	struct slot *slot = slot_of(ring, ring->given);

	if (!sb_lines_next(lines, chunk_limit(ring), cut, &slot->chunk))
		return NULL;
	slot->lines = *lines;
	slot->after = NULL;
	slot->queued = NULL;
	slot->forgotten = false;
	slot->timeline = sb_timeline_here;
	slot->step = step;
	ring->bytes += slot->chunk.width * slot->chunk.height;
	ring->given++;
	return slot;
}

static bool at_end(const struct sb_lines *lines, const struct sb_cut *cut)
{
	return cut->line >= lines->height || lines->width == 0;
}

static void fill(void *context, size_t index);

/* A piece of whichever work, told to the call's timeline. */
static void work(void *context, size_t index)
{
	struct slot *slot = context;
	enum sb_timeline_kind kind = slot->work == fill ? SB_TIMELINE_FILL : SB_TIMELINE_COMMIT;
	struct sb_chunk piece;
	double begin;

	if (!slot->timeline) {
		slot->work(slot, index);
		return;
	}
	piece = sb_lines_piece(&slot->chunk, index);
	begin = sb_timeline_begin(slot->timeline, kind);
	slot->work(slot, index);
	sb_timeline_end(slot->timeline, kind, slot->step, begin, piece.width * piece.height);
}

static void submit(struct slot *slot, void (*what)(void *, size_t), enum sb_copy_rank rank)
{
	slot->work = what;
	slot->job.work = work;
	slot->job.context = slot;
	slot->job.pieces = sb_lines_pieces(&slot->chunk);
	while (!sb_copy_threads_submit(&slot->job, rank))
		(void)sb_copy_threads_help();
}

static void fill(void *context, size_t index)
{
	struct slot *slot = context;
	struct sb_chunk piece = sb_lines_piece(&slot->chunk, index);

	sb_lines_gather(&slot->lines, &slot->chunk, &piece, slot->memory);
}

bool sb_ring_feed(struct sb_device *device, struct sb_upload *upload)
{
	struct ring *up = up_of(device);

	while (up->given - up->freed < SLOTS && !at_end(&upload->lines, &upload->cut)) {
		struct slot *slot = give(up, &upload->lines, &upload->cut, upload->step);

		if (at_end(&upload->lines, &upload->cut)) {
			slot->after = upload->after;
			slot->queued = upload->queued;
		}
		submit(slot, fill, SB_COPY_UP);
	}
	return at_end(&upload->lines, &upload->cut);
}

/* The copy of a slot's chunk, from or to the slot. */
static enum sb_status queue(struct sb_device *device, const struct slot *slot, bool upwards)
{
	const struct sb_chunk *chunk = &slot->chunk;
	struct sb_lines lines = slot->lines;

	lines.host = slot->memory;
	lines.host_pitch = chunk->width;
	lines.device += chunk->line * lines.device_pitch + chunk->start;
	lines.width = chunk->width;
	lines.height = chunk->height;
	sb_timeline_resume(slot->step);
	return sb_ring_copy(device, &lines, upwards, slot->event);
}

static enum sb_status announce(struct sb_device *device, enum sb_stream stream, sb_cu_event after,
			       bool *queued)
{
	enum sb_status status = SB_OK;

	if (after)
		status = sb_device_check(device,
					 device->cu->event_record(after, device->streams[stream]),
					 "recording an event");
	if (queued && status == SB_OK)
		*queued = true;
	return status;
}

enum sb_status sb_ring_fetch(struct sb_device *device, struct sb_download *download, bool *all)
{
	struct ring *down = down_of(device);
	enum sb_status status = SB_OK;

	while (down->given - down->freed < SLOTS && !at_end(&download->lines, &download->cut)) {
		struct slot *slot = give(down, &download->lines, &download->cut, download->step);

		slot->download = download;
		slot->commit = download->commit;
		slot->context = download->context;
		status = queue(device, slot, false);
		if (status == SB_OK && at_end(&download->lines, &download->cut))
			status =
				announce(device, SB_STREAM_DOWN, download->after, download->queued);
		if (status != SB_OK)
			return status;
	}
	*all = at_end(&download->lines, &download->cut);
	return status;
}

static enum sb_status turn_up(struct sb_device *device, bool *moved)
{
	struct ring *up = up_of(device);
	enum sb_status status = SB_OK;

	for (; up->passed < up->given && status == SB_OK; up->passed++) {
		struct slot *slot = slot_of(up, up->passed);

		if (!sb_copy_threads_done(&slot->job))
			break;
		status = queue(device, slot, true);
		if (status == SB_OK)
			status = announce(device, SB_STREAM_UP, slot->after, slot->queued);
		*moved = true;
	}
	/* Nobody asks for slots while there are plenty. */
	for (bool happened = true; status == SB_OK && happened && up->freed < up->passed &&
				   up->given - up->freed > SLOTS / 2;) {
		/* Refilled before its copy has run, a slot would deliver the next chunk twice. */
		status = sb_device_poll(device, slot_of(up, up->freed)->event, &happened);
		if (status == SB_OK && happened) {
			up->freed++;
			*moved = true;
		}
	}
	return status;
}

static void commit(void *context, size_t index)
{
	struct slot *slot = context;
	struct sb_chunk piece = sb_lines_piece(&slot->chunk, index);

	slot->commit(slot->context, &piece,
		     slot->memory + (piece.line - slot->chunk.line) * slot->chunk.width +
			     (piece.start - slot->chunk.start),
		     slot->chunk.width);
}

/* What comes after a chunk. */
static struct sb_cut beyond(const struct slot *slot)
{
	const struct sb_chunk *chunk = &slot->chunk;
	struct sb_cut cut = {.line = chunk->line, .start = chunk->start + chunk->width};

	if (cut.start == slot->lines.width)
		cut = (struct sb_cut){.line = chunk->line + chunk->height};
	return cut;
}

static enum sb_status turn_down(struct sb_device *device, bool *moved)
{
	struct ring *down = down_of(device);
	enum sb_status status = SB_OK;

	for (bool happened = true; happened && down->passed < down->given;) {
		struct slot *slot = slot_of(down, down->passed);

		status = sb_device_poll(device, slot->event, &happened);
		if (status != SB_OK)
			return status;
		if (!happened)
			break;
		if (!slot->forgotten) {
			slot->download->committed = beyond(slot);
			submit(slot, commit, SB_COPY_DOWN);
		}
		down->passed++;
		*moved = true;
	}
	for (; down->freed < down->passed; down->freed++) {
		struct slot *slot = slot_of(down, down->freed);

		if (!slot->forgotten && !sb_copy_threads_done(&slot->job))
			break;
		*moved = true;
	}
	return status;
}

enum sb_status sb_ring_turn(struct sb_device *device, bool *moved)
{
	enum sb_status status = turn_up(device, moved);

	return status == SB_OK ? turn_down(device, moved) : status;
}

bool sb_ring_busy(const struct sb_device *device)
{
	const struct ring *up = up_of(device), *down = down_of(device);

	return up->passed < up->given || down->freed < down->given;
}

void sb_ring_settle(struct sb_device *device)
{
	struct ring *up = up_of(device), *down = down_of(device);

	for (size_t i = up->passed; i < up->given; i++)
		sb_copy_threads_finish(&slot_of(up, i)->job);
	/* Never queued: free at once. */
	up->given = up->passed;
	for (size_t i = down->freed; i < down->passed; i++)
		if (!slot_of(down, i)->forgotten)
			sb_copy_threads_finish(&slot_of(down, i)->job);
	for (size_t i = down->passed; i < down->given; i++)
		slot_of(down, i)->forgotten = true;
}
