/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <string.h>

#define PIECE	    ((size_t)64 << 10) /* takes one thread some 15 us */
#define PIECES_MOST ((size_t)32)
#define LINE	    64 /* of a cache */
#define HANDFUL	    ((size_t)4 << 10)

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

bool sb_lines_next(const struct sb_lines *lines, size_t limit, struct sb_cut *cut,
		   struct sb_chunk *chunk)
{
	if (cut->line >= lines->height || lines->width == 0)
		return false;
	*chunk = (struct sb_chunk){.line = cut->line, .start = cut->start};
	if (cut->start == 0 && lines->width <= limit) {
		chunk->width = lines->width;
		chunk->height = least_of(limit / lines->width, lines->height - cut->line);
		cut->line += chunk->height;
		return true;
	}
	chunk->width = least_of(limit, lines->width - cut->start);
	chunk->height = 1;
	cut->start += chunk->width;
	if (cut->start == lines->width)
		*cut = (struct sb_cut){.line = cut->line + 1};
	return true;
}

/* Bytes (of one line) or lines of a piece. */
static size_t of_piece(const struct sb_chunk *chunk)
{
	size_t bytes = chunk->width * chunk->height;
	size_t wanted = bytes / PIECES_MOST > PIECE ? bytes / PIECES_MOST : PIECE;

	if (chunk->height == 1)
		return (wanted + 63) / 64 * 64;
	return (wanted + chunk->width - 1) / chunk->width;
}

size_t sb_lines_pieces(const struct sb_chunk *chunk)
{
	size_t whole = chunk->height == 1 ? chunk->width : chunk->height;

	return (whole + of_piece(chunk) - 1) / of_piece(chunk);
}

struct sb_chunk sb_lines_piece(const struct sb_chunk *chunk, size_t index)
{
	size_t size = of_piece(chunk);
	struct sb_chunk piece = *chunk;

	if (chunk->height == 1) {
		piece.start += index * size;
		piece.width = least_of(size, chunk->width - index * size);
	} else {
		piece.line += index * size;
		piece.height = least_of(size, chunk->height - index * size);
	}
	return piece;
}

/*
 * Pushes what was written out of this core's own cache, which a device reads at half the speed of
 * the cache that all share. A hint: a processor that does not know it does nothing.
 */
static void hand_over(const char *from, size_t bytes)
{
#if defined(__x86_64__)
	for (size_t i = 0; i < bytes; i += LINE)
		__asm__ volatile("cldemote %0" : : "m"(from[i]));
#else
	(void)from;
	(void)bytes;
#endif
}

/* Some at a time, so that what is handed over is still in this core's cache. */
static void copy_for_device(char *to, const char *from, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += HANDFUL) {
		size_t some = bytes - done < HANDFUL ? bytes - done : HANDFUL;

		memcpy(to + done, from + done, some);
		hand_over(to + done, some);
	}
}

void sb_lines_gather(const struct sb_lines *lines, const struct sb_chunk *chunk,
		     const struct sb_chunk *piece, char *memory)
{
	const char *from =
		(const char *)lines->host + piece->line * lines->host_pitch + piece->start;
	char *to =
		memory + (piece->line - chunk->line) * chunk->width + (piece->start - chunk->start);

	if (lines->host_pitch == piece->width && chunk->width == piece->width) {
		copy_for_device(to, from, piece->height * piece->width);
		return;
	}
	for (size_t i = 0; i < piece->height; i++)
		copy_for_device(to + i * chunk->width, from + i * lines->host_pitch, piece->width);
}
