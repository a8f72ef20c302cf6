/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_text.h"

#include <string.h>

#include "profile_words.h"

const size_t sb_link_sizes[SB_LINK_SIZES] = {64 << 10, 1 << 20,	 4 << 20,
					     16 << 20, 64 << 20, 256 << 20};

const char *const sb_link_words[SB_LINKS] = {
	[SB_STAGED_UP] = "staged-up",
	[SB_STAGED_DOWN] = "staged-down",
	[SB_PINNED_UP] = "pinned-up",
	[SB_PINNED_DOWN] = "pinned-down",
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
	/* FNV-1a. */
	for (const unsigned char *byte = bytes; count--; byte++)
		hash = (hash ^ *byte) * 0x100000001b3u;
	return hash;
}

uint64_t sb_profile_key(const char *gpu, int driver, const char *backend, int processors)
{
	const int numbers[] = {driver, processors};
	uint64_t hash = mix(0xcbf29ce484222325u, gpu, strlen(gpu) + 1);

	hash = mix(hash, backend, strlen(backend) + 1);
	return mix(hash, numbers, sizeof numbers);
}

static bool node(struct sb_words *line, int *index)
{
	int size;

	if (!sb_words_integer(line, 1, sb_grid_sizes[SB_GRID - 1], &size))
		return false;
	for (*index = 0; *index < SB_GRID; ++*index)
		if (sb_grid_sizes[*index] == size)
			return true;
	return false;
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

static bool read_key(struct sb_words *line, uint64_t *key)
{
	struct sb_words digits = sb_words_next(line);

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

static bool read_device(struct sb_words *line, struct sb_profile *p)
{
	int maps, mebibytes;

	if (!sb_words_integer(line, 10, 9999, &p->target.arch) ||
	    !sb_words_integer(line, 1, 100000, &p->target.multiprocessors) ||
	    !sb_words_integer(line, 1, 100000000, &p->clock_khz) ||
	    !sb_words_integer(line, 0, 1 << 30, &p->target.shared) ||
	    !sb_words_integer(line, 0, 1, &maps) || !sb_words_integer(line, 1, 1 << 30, &mebibytes))
		return false;
	p->target.maps = maps;
	p->memory = (size_t)mebibytes << 20;
	return true;
}

static bool read_copy(struct sb_words *line, struct sb_profile *p)
{
	int kibibytes;

	if (!sb_words_integer(line, 1, 1024, &p->copy_threads) ||
	    !sb_words_integer(line, 4, 1 << 16, &kibibytes))
		return false;
	p->copy_slot = (size_t)kibibytes << 10;
	return true;
}

static bool read_link(struct sb_words *line, struct sb_profile *p)
{
	struct sb_words way = sb_words_next(line);

	for (int i = 0; i < SB_LINKS; i++) {
		if (!sb_words_are(way, sb_link_words[i]))
			continue;
		for (int size = 0; size < SB_LINK_SIZES; size++)
			if (!sb_words_positive(line, 1e-6, &p->link[i][size]) ||
			    (size && p->link[i][size] < p->link[i][size - 1]))
				return false;
		return true;
	}
	return false;
}

static bool read_row(struct sb_words *line, double unit, struct sb_grids *grids)
{
	struct sb_words transposes = sb_words_next(line);
	int m, n;

	for (int way = 0; way < SB_WAYS; way++) {
		double *row;

		if (!sb_words_are(transposes, sb_grid_ways[way]))
			continue;
		if (!node(line, &m) || !node(line, &n))
			return false;
		row = grids->way[way].at[m][n];
		for (int k = 0; k < SB_GRID; k++)
			if (!sb_words_positive(line, unit, &row[k]))
				return false;
		return true;
	}
	return false;
}

/* The grids for a number of threads, in their place among the others. */
static struct sb_grids *cpu_grids(struct sb_profile *p, int threads)
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

static bool read_cpu(struct sb_words *line, struct sb_profile *p)
{
	struct sb_grids *grids;
	int threads;

	if (!sb_words_integer(line, 1, 100000, &threads))
		return false;
	grids = cpu_grids(p, threads);
	return grids && read_row(line, 1e-6, grids);
}

static bool read_part(enum part part, struct sb_words *line, struct reading *r)
{
	struct sb_profile *p = r->profile;

	switch (part) {
	case GPU:
		return sb_words_rest(line, p->gpu, sizeof p->gpu);
	case DRIVER:
		return sb_words_integer(line, 0, 1 << 30, &p->driver);
	case BACKEND:
		return sb_words_rest(line, p->backend, sizeof p->backend);
	case PROCESSORS:
		return sb_words_integer(line, 1, 100000, &p->processors);
	case KEY:
		return read_key(line, &r->key);
	case DEVICE:
		return read_device(line, p);
	case COPY:
		return read_copy(line, p);
	case START:
		return sb_words_positive(line, 1e-6, &p->start);
	case LAUNCH:
		return sb_words_positive(line, 1e-6, &p->launch);
	case OVERLAP:
		return sb_words_decimal(line, &p->overlap) && p->overlap <= 1;
	case KERNEL:
		return sb_words_positive(line, 1, &p->kernel);
	case EMULATED:
		return sb_words_positive(line, 1, &p->emulated);
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

static bool read_line(struct sb_words line, struct reading *r)
{
	struct sb_words first = sb_words_next(&line);

	for (int part = 0; part < PARTS; part++)
		if (sb_words_are(first, parts[part])) {
			r->seen[part] = true;
			return read_part((enum part)part, &line, r) &&
			       sb_words_next(&line).at == line.end;
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

/* A way of which nothing is said is as nn. */
static bool fill_up(struct sb_grids *grids)
{
	const double *values;
	double sum;

	for (int way = 0; way < SB_WAYS; way++) {
		values = &grids->way[way].at[0][0][0];
		sum = 0;
		for (int i = 0; i < SB_GRID * SB_GRID * SB_GRID; i++)
			sum += values[i];
		if (way && !(sum > 0))
			grids->way[way] = grids->way[0];
		if (!filled(&grids->way[way]))
			return false;
	}
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

static bool all_ascend(const struct sb_grids *grids)
{
	for (int way = 0; way < SB_WAYS; way++)
		if (!ascends(&grids->way[way]))
			return false;
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
		if (!fill_up(&p->cpu[i].seconds) || !all_ascend(&p->cpu[i].seconds))
			return "times of the backend are missing, or fall where a size grows";
	p->has_whole = r->seen[WHOLE];
	if (p->has_whole && !fill_up(&p->whole))
		return "factors of whole calls are missing";
	if (r->key != sb_profile_key(p->gpu, p->driver, p->backend, p->processors))
		return "its key is not that of the configuration it names";
	return NULL;
}

const char *sb_profile_parse(const char *text, size_t length, struct sb_profile *profile)
{
	struct sb_words all = {text, text + length}, line;
	struct reading r = {.profile = profile};
	int format;

	memset(profile, 0, sizeof *profile);
	if (!sb_words_line(&all, &line) || !sb_words_are(sb_words_next(&line), "shimblas") ||
	    !sb_words_are(sb_words_next(&line), "profile") ||
	    !sb_words_integer(&line, 0, 1 << 30, &format))
		return "it is no profile";
	if (format != SB_PROFILE_FORMAT)
		return "its format is another";
	while (sb_words_line(&all, &line)) {
		if (sb_words_are(line, "end"))
			return sb_words_line(&all, &line) ? "there is something behind its end"
							  : complete(&r);
		if (!read_line(line, &r))
			return "it has a line that makes no sense";
	}
	return "its end is missing";
}
