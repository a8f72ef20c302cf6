/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile as text: what src/profile_text.h reads. */
#include "tune.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_file.h"
#include "profile_text.h"

/* Digits that count, and no exponent. */
static void number(FILE *out, double value, int digits)
{
	double limit = 1;
	int decimals = 0;

	while (--digits > 0)
		limit *= 10;
	for (double tested = value; tested < limit && decimals < 9; tested *= 10)
		decimals++;
	fprintf(out, " %.*f", decimals, value);
}

static void grids(FILE *out, const char *words, double unit, const struct sb_grids *values)
{
	for (int way = 0; way < SB_WAYS; way++)
		for (int m = 0; m < SB_GRID; m++)
			for (int n = 0; n < SB_GRID; n++) {
				fprintf(out, "%s %s %d %d", words, sb_grid_ways[way],
					sb_grid_sizes[m], sb_grid_sizes[n]);
				for (int k = 0; k < SB_GRID; k++)
					number(out, values->way[way].at[m][n][k] / unit, 3);
				fputc('\n', out);
			}
}

static void sizes(FILE *out)
{
	for (int i = 0; i < SB_GRID; i++)
		fprintf(out, " %d", sb_grid_sizes[i]);
	fputc('\n', out);
}

static void write_links(FILE *out, const struct sb_profile *p)
{
	fputs("# microseconds for 64 KiB, 1, 4, 16, 64 and 256 MiB\n", out);
	for (int link = 0; link < SB_LINKS; link++) {
		fprintf(out, "link %s", sb_link_words[link]);
		for (int i = 0; i < SB_LINK_SIZES; i++)
			number(out, 1e6 * p->link[link][i], 4);
		fputc('\n', out);
	}
}

static void write_profile(FILE *out, const struct sb_profile *p)
{
	char words[32];

	fprintf(out, "shimblas profile %d\n", SB_PROFILE_FORMAT);
	fputs("# Made by `shimblas tune`. It serves the configuration that these lines name.\n",
	      out);
	fprintf(out, "gpu %s\ndriver %d\nbackend %s\nprocessors %d\n", p->gpu, p->driver,
		p->backend, p->processors);
	fprintf(out, "key %016" PRIx64 "\n",
		sb_profile_key(p->gpu, p->driver, p->backend, p->processors));
	fputs("# compute capability, multiprocessors, kHz, shared memory, tensor maps, MiB\n", out);
	fprintf(out, "device %d %d %d %d %d %zu\n", p->target.arch, p->target.multiprocessors,
		p->clock_khz, p->target.shared, p->target.maps, p->memory >> 20);
	fputs("# threads that copy, the caller being one, and KiB of a slot of the rings\n", out);
	fprintf(out, "copy %d %zu\n", p->copy_threads, p->copy_slot >> 10);
	fputs("start", out);
	number(out, 1e6 * p->start, 4);
	fputs("\nlaunch", out);
	number(out, 1e6 * p->launch, 4);
	fprintf(out, "\noverlap %.3f\nkernel", p->overlap);
	number(out, p->kernel, 4);
	fputs("\nemulated", out);
	number(out, p->emulated, 4);
	fputc('\n', out);
	write_links(out, p);
	if (p->has_whole) {
		fputs("# transposes m n: whole calls over the sum of their parts, for k of", out);
		sizes(out);
		grids(out, "whole", 1, &p->whole);
	}
	for (int i = 0; i < p->cpus; i++) {
		fputs("# threads transposes m n: microseconds of the backend for k of", out);
		sizes(out);
		snprintf(words, sizeof words, "cpu %d", p->cpu[i].threads);
		grids(out, words, 1e-6, &p->cpu[i].seconds);
	}
	fputs("end\n", out);
}

/* The folders of a path, made where they are missing. */
static void make_folders(const char *path)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof folder, "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(folder, 0777);
		*slash = '/';
	}
}

bool sb_tune_write(const struct sb_profile *profile, const char *path)
{
	char beside[PATH_MAX + 32];
	FILE *out;
	bool written;

	make_folders(path);
	snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
	out = fopen(beside, "wxe");
	if (!out)
		return false;
	write_profile(out, profile);
	written = !ferror(out);
	written = fclose(out) == 0 && written;
	if (written && rename(beside, path) == 0)
		return true;
	unlink(beside);
	return false;
}
