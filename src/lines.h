/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: strided lines of bytes, in the caller's memory and on the device, and the chunks that
 * they are cut into on their way: exactly width x height bytes, nothing of the gaps between lines.
 */
#ifndef SB_LINES_H
#define SB_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_types.h"

/* `height` lines of `width` bytes. Pitches are in bytes, from line to line. */
struct sb_lines {
	void *host; /* only read by uploads */
	size_t host_pitch;
	sb_cu_deviceptr device;
	size_t device_pitch;
	size_t width, height;
};

/* A piece of lines: lines [line, line + height), bytes [start, start + width) of each. */
struct sb_chunk {
	size_t line, height, start, width;
};

/* How far lines have been cut. All zeros: not yet. */
struct sb_cut {
	size_t line, start;
};

/*
 * The next chunk, of at most `limit` bytes: whole lines where one fits, else a part of a line.
 * False at the end.
 */
bool sb_lines_next(const struct sb_lines *lines, size_t limit, struct sb_cut *cut,
		   struct sb_chunk *chunk);

/* A chunk in pieces for several threads: how many, and the index-th of them. */
size_t sb_lines_pieces(const struct sb_chunk *chunk);
struct sb_chunk sb_lines_piece(const struct sb_chunk *chunk, size_t index);

/*
 * Copies a piece of a chunk from the host's lines to where it belongs in `memory`, which holds the
 * chunk without gaps and is going to be read by a device.
 */
void sb_lines_gather(const struct sb_lines *lines, const struct sb_chunk *chunk,
		     const struct sb_chunk *piece, char *memory);

static inline size_t sb_lines_bytes(const struct sb_lines *lines)
{
	return lines->width * lines->height;
}

#endif
