/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `shimblas tune`: measures what predictions rest on, by the library's own data path and the
 * backend as a program would call it, and writes it down where the library looks for it.
 */
#include "tune.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_time.h"
#include "both_sides.h"
#include "clock.h"
#include "command.h"
#include "gpu.h"
#include "option.h"
#include "settings.h"

enum { SECONDS = 50, QUICK = 12 };

/* Memory for products of `largest`; less where there is not as much. */
static bool open_data(struct sb_bench_data *data, struct sb_bench_shape *shape)
{
	for (; shape->m >= 256; shape->m /= 4) {
		const struct sb_bench_shapes shapes = {shape, 1};

		shape->n = shape->k = shape->m;
		if (sb_bench_data_open(data, &shapes, sb_bench_take_pageable, free))
			return true;
	}
	fputs("shimblas tune: out of memory\n", stderr);
	return false;
}

static void begin_profile(struct sb_profile *p)
{
	const char *path = sb_sides_backend()->path;

	sb_profile_copy(p, sb_profile(path));
	sb_profile_backend(path, p->backend, sizeof p->backend);
	p->processors = sb_profile_processors();
	/* What it is measured with. */
	if (sb_settings()->threads)
		p->copy_threads = (int)sb_settings()->threads;
	if (sb_settings()->slot)
		p->copy_slot = (size_t)sb_settings()->slot;
}

static bool measure(struct sb_tune *tune, struct sb_device *device)
{
	double gpu = device ? 0.35 * tune->budget : 0, cpu = tune->budget - gpu;
	const char *problem = NULL;

	sb_progress_open(&tune->progress, gpu / 2 + sb_tune_cpu_expected(tune, cpu));
	if (device) {
		problem = sb_tune_gpu(tune, device, gpu);
	} else {
		/* What a built-in profile says of a GPU stays, and is said to be of none. */
		strcpy(tune->profile->gpu, "none");
		tune->profile->driver = 0;
	}
	if (!problem && !sb_tune_cpu(tune, cpu))
		problem = "there is no BLAS to measure";
	sb_progress_close(&tune->progress);
	if (problem)
		fprintf(stderr, "shimblas tune: %s\n", problem);
	return !problem;
}

static void say(const struct sb_profile *p, const char *path, bool device)
{
	printf("profile   %s\n", path);
	if (device)
		printf("gpu       %s: 256 MiB up in %.2f ms, pinned %.2f; a call of nothing %.1f "
		       "us\n",
		       p->gpu, 1e3 * p->link[SB_STAGED_UP][SB_LINK_SIZES - 1],
		       1e3 * p->link[SB_PINNED_UP][SB_LINK_SIZES - 1], 1e6 * p->launch);
	else
		printf("gpu       not measured: %s\n", sb_gpu_why_not());
	printf("backend   %s:", p->backend);
	for (int i = 0; i < p->cpus; i++)
		printf("%s %d", i ? "," : "", p->cpu[i].threads);
	printf(" threads\n");
}

int sb_command_tune(int argc, char **argv)
{
	struct sb_bench_shape largest = {.m = sb_grid_sizes[SB_GRID - 2]};
	struct sb_bench_data data;
	struct sb_options options;
	struct sb_profile *profile;
	struct sb_device *device;
	struct sb_tune tune;
	double began;
	char path[PATH_MAX];
	long seconds;
	bool done;

	if (!sb_option_parse(argc, argv, true, &options))
		return SB_EXIT_USAGE;
	seconds = sb_option_number(&options, SB_OPTION_tune_seconds,
				   options.times[SB_OPTION_tune_quick] ? QUICK : SECONDS, 1, 3600);
	if (seconds < 0)
		return SB_EXIT_USAGE;
	if (options.value[SB_OPTION_tune_output]) {
		snprintf(path, sizeof path, "%s", options.value[SB_OPTION_tune_output]);
	} else if (!sb_profile_place(sb_sides_backend()->path, path, sizeof path)) {
		fputs("shimblas tune: no home to write to; use --output\n", stderr);
		return 1;
	}
	profile = malloc(sizeof *profile);
	if (!profile || !open_data(&data, &largest)) {
		free(profile);
		return 1;
	}
	begin_profile(profile);
	began = sb_clock_now();
	device = sb_gpu_device();
	if (device)
		profile->start = sb_clock_now() - began;
	tune = (struct sb_tune){
		.profile = profile, .data = &data, .largest = largest.m, .budget = (double)seconds};
	done = measure(&tune, device);
	if (done && !(done = sb_tune_write(profile, path)))
		fprintf(stderr, "shimblas tune: %s cannot be written\n", path);
	if (done)
		say(profile, path, device != NULL);
	sb_bench_data_close(&data);
	free(profile);
	return !done || fflush(stdout);
}
