/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_text.h"

#include <string.h>

#include "profile_file.h"

const size_t sb_link_sizes[SB_LINK_SIZES] = {64 << 10, 1 << 20,	 4 << 20,
					     16 << 20, 64 << 20, 256 << 20};

const char *const sb_link_words[SB_LINKS] = {
	[SB_STAGED_UP] = "staged-up",
	[SB_STAGED_DOWN] = "staged-down",
	[SB_PINNED_UP] = "pinned-up",
	[SB_PINNED_DOWN] = "pinned-down",
};

/* What is left of a line. */
struct line {
	const char *at, *end;
};

static void skip_spaces(struct line *line)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
}

/* The next word; empty at the end of the line. */
static struct line word(struct line *line)
{
	struct line found;

	skip_spaces(line);
	found.at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	found.end = line->at;
	return found;
}

static bool is(struct line word, const char *text)
{
	size_t length = (size_t)(word.end - word.at);

	return strlen(text) == length && memcmp(word.at, text, length) == 0;
}

/* Digits with at most one point; fewer than 16 of them, so that a double holds it. */
static bool decimal(struct line *line, double *value)
{
	struct line digits = word(line);
	double whole = 0, scale = 1;
	bool point = false;

	if (digits.at == digits.end || digits.end - digits.at > 16)
		return false;
	for (; digits.at < digits.end; digits.at++) {
		if (*digits.at == '.' && !point) {
			point = true;
			continue;
		}
		if (*digits.at < '0' || *digits.at > '9')
			return false;
		whole = 10 * whole + (*digits.at - '0');
		scale *= point ? 10 : 1;
	}
	*value = whole / scale;
	return true;
}

static bool positive(struct line *line, double unit, double *value)
{
	if (!decimal(line, value) || !(*value > 0) || *value > 1e12)
		return false;
	*value *= unit;
	return true;
}

static bool integer(struct line *line, int least, int most, int *value)
{
	double number;

	if (!decimal(line, &number) || number < least || number > most)
		return false;
	*value = (int)number;
	return number == *value;
}

static bool node(struct line *line, int *index)
{
	int size;

	if (!integer(line, 1, sb_grid_sizes[SB_GRID - 1], &size))
		return false;
	for (*index = 0; *index < SB_GRID; ++*index)
		if (sb_grid_sizes[*index] == size)
			return true;
	return false;
}

/* The rest of a line, as a text. */
static bool text(struct line *line, char *into, size_t size)
{
	size_t length;

	skip_spaces(line);
	length = (size_t)(line->end - line->at);
	if (!length || length >= size)
		return false;
	memcpy(into, line->at, length);
	into[length] = '\0';
	line->at = line->end;
	return true;
}

/* Reading of one profile: which of its lines have been there. */
enum part {
	GPU,
	DRIVER,
	BACKEND,
	PROCESSORS,
	KEY,
	DEVICE,
	COPY,
	START,
	LAUNCH,
	OVERLAP,
	KERNEL,
	EMULATED,
	LINK,
	WHOLE,
	CPU,
	PARTS
};
static const char *const parts[PARTS] = {
	"gpu",	  "driver",  "backend", "processors", "key",  "device", "copy", "start",
	"launch", "overlap", "kernel",	"emulated",   "link", "whole",	"cpu",
};
struct reading {
	struct sb_profile *profile;
	bool seen[PARTS];
	uint64_t key;
};

static bool read_key(struct line *line, uint64_t *key)
{
	struct line digits = word(line);

	*key = 0;
	if (digits.end - digits.at != 16)
		return false;
	for (; digits.at < digits.end; digits.at++) {
		static const char hexadecimal[] = "0123456789abcdef";
		const char *place = memchr(hexadecimal, *digits.at, 16);

		if (!place)
			return false;
		*key = *key << 4 | (uint64_t)(place - hexadecimal);
	}
	return true;
}

static bool read_device(struct line *line, struct sb_profile *p)
{
	int maps, mebibytes;

	if (!integer(line, 10, 9999, &p->target.arch) ||
	    !integer(line, 1, 100000, &p->target.multiprocessors) ||
	    !integer(line, 1, 100000000, &p->clock_khz) ||
	    !integer(line, 0, 1 << 30, &p->target.shared) || !integer(line, 0, 1, &maps) ||
	    !integer(line, 1, 1 << 30, &mebibytes))
		return false;
	p->target.maps = maps;
	p->memory = (size_t)mebibytes << 20;
	return true;
}

static bool read_copy(struct line *line, struct sb_profile *p)
{
	int kibibytes;

	if (!integer(line, 1, 1024, &p->copy_threads) || !integer(line, 4, 1 << 16, &kibibytes))
		return false;
	p->copy_slot = (size_t)kibibytes << 10;
	return true;
}

static bool read_link(struct line *line, struct sb_profile *p)
{
	struct line way = word(line);

	for (int i = 0; i < SB_LINKS; i++) {
		if (!is(way, sb_link_words[i]))
			continue;
		for (int size = 0; size < SB_LINK_SIZES; size++)
			if (!positive(line, 1e-6, &p->link[i][size]) ||
			    (size && p->link[i][size] < p->link[i][size - 1]))
				return false;
		return true;
	}
	return false;
}

static bool read_row(struct line *line, double unit, struct sb_grid *grid)
{
	int m, n;

	if (!node(line, &m) || !node(line, &n))
		return false;
	for (int k = 0; k < SB_GRID; k++)
		if (!positive(line, unit, &grid->at[m][n][k]))
			return false;
	return true;
}

/* The grid for a number of threads, in its place among the others. */
static struct sb_grid *cpu_grid(struct sb_profile *p, int threads)
{
	int i = 0;

	while (i < p->cpus && p->cpu[i].threads < threads)
		i++;
	if (i < p->cpus && p->cpu[i].threads == threads)
		return &p->cpu[i].seconds;
	if (p->cpus == SB_PROFILE_CPUS)
		return NULL;
	memmove(&p->cpu[i + 1], &p->cpu[i], (size_t)(p->cpus - i) * sizeof p->cpu[0]);
	memset(&p->cpu[i], 0, sizeof p->cpu[i]);
	p->cpu[i].threads = threads;
	p->cpus++;
	return &p->cpu[i].seconds;
}

static bool read_cpu(struct line *line, struct sb_profile *p)
{
	struct sb_grid *grid;
	int threads;

	if (!integer(line, 1, 100000, &threads))
		return false;
	grid = cpu_grid(p, threads);
	return grid && read_row(line, 1e-6, grid);
}

static bool read_part(enum part part, struct line *line, struct reading *r)
{
	struct sb_profile *p = r->profile;

	switch (part) {
	case GPU:
		return text(line, p->gpu, sizeof p->gpu);
	case DRIVER:
		return integer(line, 0, 1 << 30, &p->driver);
	case BACKEND:
		return text(line, p->backend, sizeof p->backend);
	case PROCESSORS:
		return integer(line, 1, 100000, &p->processors);
	case KEY:
		return read_key(line, &r->key);
	case DEVICE:
		return read_device(line, p);
	case COPY:
		return read_copy(line, p);
	case START:
		return positive(line, 1e-6, &p->start);
	case LAUNCH:
		return positive(line, 1e-6, &p->launch);
	case OVERLAP:
		return decimal(line, &p->overlap) && p->overlap <= 1;
	case KERNEL:
		return positive(line, 1, &p->kernel);
	case EMULATED:
		return positive(line, 1, &p->emulated);
	case LINK:
		return read_link(line, p);
	case WHOLE:
		return read_row(line, 1, &p->whole);
	case CPU:
		return read_cpu(line, p);
	case PARTS:
		break;
	}
	return false;
}

static bool read_line(struct line line, struct reading *r)
{
	struct line first = word(&line);

	for (int part = 0; part < PARTS; part++)
		if (is(first, parts[part])) {
			r->seen[part] = true;
			return read_part((enum part)part, &line, r) && word(&line).at == line.end;
		}
	return false;
}

static bool filled(const struct sb_grid *grid)
{
	const double *values = &grid->at[0][0][0];

	for (int i = 0; i < SB_GRID * SB_GRID * SB_GRID; i++)
		if (!(values[i] > 0))
			return false;
	return true;
}

static bool ascends(const struct sb_grid *grid)
{
	for (int m = 0; m < SB_GRID; m++)
		for (int n = 0; n < SB_GRID; n++)
			for (int k = 0; k < SB_GRID; k++) {
				double here = grid->at[m][n][k];

				if ((m && here < grid->at[m - 1][n][k]) ||
				    (n && here < grid->at[m][n - 1][k]) ||
				    (k && here < grid->at[m][n][k - 1]))
					return false;
			}
	return true;
}

static const char *complete(struct reading *r)
{
	struct sb_profile *p = r->profile;

	for (int part = 0; part < PARTS; part++)
		if (!r->seen[part] && part != WHOLE && part != EMULATED)
			return "a line is missing";
	if (!r->seen[EMULATED])
		p->emulated = p->kernel;
	for (int i = 0; i < SB_LINKS; i++)
		if (!(p->link[i][0] > 0))
			return "a link is missing";
	for (int i = 0; i < p->cpus; i++)
		if (!filled(&p->cpu[i].seconds) || !ascends(&p->cpu[i].seconds))
			return "times of the backend are missing, or fall where a size grows";
	p->has_whole = r->seen[WHOLE];
	if (p->has_whole && !filled(&p->whole))
		return "factors of whole calls are missing";
	if (r->key != sb_profile_key(p->gpu, p->driver, p->backend, p->processors))
		return "its key is not that of the configuration it names";
	return NULL;
}

/* Comments and empty lines are passed over. */
static bool next_line(struct line *all, struct line *line)
{
	while (all->at < all->end) {
		const char *end = memchr(all->at, '\n', (size_t)(all->end - all->at));
		const char *comment;

		line->at = all->at;
		line->end = end ? end : all->end;
		all->at = end ? end + 1 : all->end;
		comment = memchr(line->at, '#', (size_t)(line->end - line->at));
		if (comment)
			line->end = comment;
		while (line->end > line->at && (line->end[-1] == ' ' || line->end[-1] == '\t'))
			line->end--;
		skip_spaces(line);
		if (line->at < line->end)
			return true;
	}
	return false;
}

const char *sb_profile_parse(const char *text, size_t length, struct sb_profile *profile)
{
	struct line all = {text, text + length}, line;
	struct reading r = {.profile = profile};
	int format;

	memset(profile, 0, sizeof *profile);
	if (!next_line(&all, &line) || !is(word(&line), "shimblas") ||
	    !is(word(&line), "profile") || !integer(&line, 0, 1 << 30, &format))
		return "it is no profile";
	if (format != SB_PROFILE_FORMAT)
		return "its format is another";
	while (next_line(&all, &line)) {
		if (is(line, "end"))
			return next_line(&all, &line) ? "there is something behind its end"
						      : complete(&r);
		if (!read_line(line, &r))
			return "it has a line that makes no sense";
	}
	return "its end is missing";
}
