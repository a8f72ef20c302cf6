/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of strided lines: exact, whatever their shape, and each wait for a slot needed. The waits
 * are taken away through the linker (--wrap=sb_device_poll).
 */
#include "child.h"

#include <stdint.h>

#include "arena.h"
#include "process.h"
#include "start.h"
#include "transfer.h"

static int skip_waits;

enum sb_status __real_sb_device_poll(struct sb_device *device, sb_cu_event event, bool *happened);
enum sb_status __wrap_sb_device_poll(struct sb_device *device, sb_cu_event event, bool *happened);

enum sb_status __wrap_sb_device_poll(struct sb_device *device, sb_cu_event event, bool *happened)
{
	*happened = true;
	return skip_waits ? SB_OK : __real_sb_device_poll(device, event, happened);
}

static void check_pieces(const struct sb_chunk *chunk)
{
	size_t line = chunk->line, start = chunk->start, covered = 0;

	for (size_t i = 0; i < sb_lines_pieces(chunk); i++) {
		struct sb_chunk piece = sb_lines_piece(chunk, i);

		CU_ASSERT(piece.line == line && piece.start == start);
		covered += piece.width * piece.height;
		if (chunk->height == 1)
			start += piece.width;
		else
			line += piece.height;
	}
	CU_ASSERT_EQUAL(covered, chunk->width * chunk->height);
}

static void chunks_are_everything_once(void)
{
	static const size_t widths[] = {4, 100, 4096, 5000, 12288, 2000000};
	static const size_t heights[] = {1, 2, 7, 100};

	for (size_t w = 0; w < 6; w++)
		for (size_t h = 0; h < 4; h++) {
			struct sb_lines lines = {.width = widths[w], .height = heights[h]};
			size_t covered = 0, line = 0, start = 0, limit = 4096;
			struct sb_cut cut = {0};
			struct sb_chunk c;

			while (sb_lines_next(&lines, limit, &cut, &c)) {
				CU_ASSERT(c.width * c.height <= limit);
				CU_ASSERT(c.line == line && c.start == start);
				CU_ASSERT(c.height == 1 || c.width == lines.width);
				check_pieces(&c);
				limit = limit * 3 / 2;
				covered += c.width * c.height;
				start += c.width;
				if (start == lines.width) {
					line += c.height;
					start = 0;
				}
			}
			CU_ASSERT_EQUAL(covered, lines.width * lines.height);
		}
}

struct trip {
	size_t width, height, host_gap, device_gap;
	int pinned, skip_up, skip_down;
};

struct landing {
	unsigned char *to;
	size_t pitch;
};

static void land(void *context, const struct sb_chunk *chunk, const void *from, size_t pitch)
{
	struct landing *l = context;

	for (size_t i = 0; i < chunk->height; i++)
		memcpy(l->to + (chunk->line + i) * l->pitch + chunk->start,
		       (const char *)from + i * pitch, chunk->width);
}

static enum sb_status drain(struct sb_device *device)
{
	for (int i = 0; i < SB_STREAMS; i++) {
		if (device->cu->event_record(device->events[i], device->streams[i]) != 0 ||
		    sb_device_wait(device, device->events[i], 5) != SB_OK)
			return SB_LOST;
	}
	return SB_OK;
}

/* Up and down again; exits with 1 if anything differs, or was touched that should not be. */
static void there_and_back(const void *argument)
{
	const struct trip *t = argument;
	size_t pitch = t->width + t->host_gap, bytes = pitch * t->height;
	unsigned char *from, *back = malloc(bytes), *expected = malloc(bytes);
	struct landing landing = {back, pitch};
	struct sb_lines lines;
	struct sb_visit visit;
	struct sb_device *device;
	void *memory = t->pinned ? NULL : malloc(bytes);

	if (child_start() != SB_HEALTH_READY)
		exit(3);
	device = sb_device();
	if (sb_device_enter(device, &visit) != SB_OK || sb_ring_prepare(device) != SB_OK ||
	    (t->pinned && device->cu->host_alloc(&memory, bytes, 0) != 0))
		exit(3);
	from = memory;
	for (size_t i = 0; i < bytes; i++)
		from[i] = (unsigned char)(i * 7 + i / 251);
	memset(back, 0xee, bytes);
	memset(expected, 0xee, bytes);
	for (size_t i = 0; i < t->height; i++)
		memcpy(expected + i * pitch, from + i * pitch, t->width);
	lines = (struct sb_lines){.host = from,
				  .host_pitch = pitch,
				  .device_pitch = t->width + t->device_gap,
				  .width = t->width,
				  .height = t->height};
	if (sb_arena_take(device, lines.device_pitch * t->height, &lines.device) != SB_OK)
		exit(3);
	skip_waits = t->skip_up;
	if (sb_transfer_up(device, &lines, t->pinned, 5) != SB_OK)
		exit(3);
	skip_waits = t->skip_down;
	/* Staged memory may change as soon as the call is over. */
	if (!t->pinned)
		memset(from, 0, bytes);
	if (drain(device) != SB_OK || sb_transfer_down(device, &lines, land, &landing, 5) != SB_OK)
		exit(3);
	exit(memcmp(back, expected, bytes) != 0);
}

static const struct trip trips[] = {
	{4, 1, 0, 0, 0, 0, 0},	    {100, 37, 0, 0, 0, 0, 0},	 {100, 3000, 12, 28, 0, 0, 0},
	{50000, 9, 4, 64, 0, 0, 0}, {4096, 40, 0, 128, 0, 0, 0}, {100, 3000, 12, 28, 1, 0, 0},
	{400000, 1, 0, 0, 1, 0, 0},
};

static void lines_come_back_as_they_went(void)
{
	for (size_t i = 0; i < sizeof trips / sizeof *trips; i++)
		for (int seed = 0; seed < 4; seed++) {
			char text[100];

			snprintf(text, sizeof text,
				 "SB_STAND_IN=seed=%d SHIMBLAS_PINNED_MEMORY=128K", seed);
			CU_ASSERT_EQUAL(in_child(text, there_and_back, &trips[i]), 0);
		}
}

/* Wrong bytes, or what a sanitizer says of how they came about; 3 is a run that was not made. */
static int went_wrong(int status)
{
	return status != 0 && status != 3;
}

static void each_wait_for_a_slot_is_needed(void)
{
	struct trip up = trips[2], down = trips[2];
	int wrong_up = 0, wrong_down = 0;

	up.skip_up = 1;
	down.skip_down = 1;
	for (int seed = 0; seed < 8; seed++) {
		char text[100];

		snprintf(text, sizeof text,
			 "SB_STAND_IN=abort=0,seed=%d SHIMBLAS_PINNED_MEMORY=128K", seed);
		wrong_up += went_wrong(in_child(text, there_and_back, &up));
		wrong_down += went_wrong(in_child(text, there_and_back, &down));
	}
	CU_ASSERT(wrong_up > 0);
	CU_ASSERT(wrong_down > 0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"chunks are everything once", chunks_are_everything_once},
		{"lines come back as they went", lines_come_back_as_they_went},
		{"each wait for a slot is needed", each_wait_for_a_slot_is_needed},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("transfer", tests);
}
