/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's part of a profile: links, launches, a kernel, and whole calls. */
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "bench_launch.h"
#include "both_sides.h"
#include "clock.h"
#include "gpu.h"
#include "model.h"
#include "names.h"
#include "route.h"
#include "transfer.h"

enum { LINE = 64 << 10, REPEAT = 9, RUNS = 5, SMALL = 32 };
static const double patience = 30, long_run = 50e-3;

/* --- links --- */

static double copy_seconds(struct sb_device *device, struct sb_lines *lines, enum sb_link link)
{
	bool up = link == SB_STAGED_UP || link == SB_PINNED_UP;
	bool pinned = link == SB_PINNED_UP || link == SB_PINNED_DOWN;
	double seconds[REPEAT];

	for (int i = -1; i < REPEAT; i++) {
		double start = sb_clock_now();

		if (!sb_gpu_copy(device, lines, up, pinned, patience))
			return -1;
		if (i >= 0)
			seconds[i] = sb_clock_now() - start;
	}
	return sb_bench_middle(seconds, REPEAT);
}

static bool measure_link(struct sb_tune *tune, struct sb_device *device, struct sb_lines *lines,
			 enum sb_link link)
{
	double *seconds = tune->profile->link[link];

	for (int i = 0; i < SB_LINK_SIZES; i++) {
		double taken;

		lines->height = sb_link_sizes[i] / LINE;
		taken = copy_seconds(device, lines, link);
		if (!(taken > 0))
			return false;
		seconds[i] = i && taken < seconds[i - 1] ? seconds[i - 1] : taken;
		sb_progress_step(&tune->progress, REPEAT * taken, "links");
	}
	return true;
}

static bool measure_links(struct sb_tune *tune, struct sb_device *device)
{
	const size_t most = sb_link_sizes[SB_LINK_SIZES - 1];
	struct sb_lines lines = {.host_pitch = LINE, .device_pitch = LINE, .width = LINE};
	void *pageable = malloc(most), *pinned = NULL;
	bool done = pageable && sb_ring_prepare(device) == SB_OK &&
		    device->cu->host_alloc(&pinned, most, 0) == SB_CU_SUCCESS;

	if (done)
		done = sb_arena_take(device, most, &lines.device) == SB_OK;
	for (int link = 0; link < SB_LINKS && done; link++) {
		lines.host = link < SB_PINNED_UP ? pageable : pinned;
		memset(lines.host, 1, most);
		done = measure_link(tune, device, &lines, (enum sb_link)link);
	}
	if (lines.device)
		sb_arena_give(device);
	if (pinned)
		(void)device->cu->host_free(pinned);
	free(pageable);
	return done;
}

/* --- launches and kernels --- */

/* The largest square, of a few, whose kernel can be measured in the time there is. */
static bool measure_kernel(struct sb_tune *tune, struct sb_device *device, double budget)
{
	static const int64_t squares[] = {256, 1024, 4096};
	const struct sb_bench_pace pace = {.repeat = 7, .budget = budget / 3};
	struct sb_profile *p = tune->profile;
	double seconds = 0;

	for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
		const struct sb_bench_shape shape = {
			.m = squares[i], .n = squares[i], .k = squares[i]};
		const struct sb_kernel *kernel =
			sb_registry_pick(shape.m, shape.n, shape.k, &p->target);
		struct sb_bench_product product;
		struct sb_bench_launch launch;

		/* Each has 64 times the work of the one before. */
		if (shape.m > tune->largest || 64 * (pace.repeat + 3) * seconds > budget)
			break;
		product = sb_bench_product(tune->data, &shape);
		if (!sb_bench_launch_open(&launch, device, &product, tune->data->reference))
			return false;
		seconds = -1;
		if (sb_bench_launch_prepare(&launch, kernel)) {
			seconds = sb_bench_launch_median(&launch, pace, sb_bench_launch_gemm);
			sb_bench_launch_unprepare(&launch);
		}
		sb_bench_launch_close(&launch);
		if (!(seconds > 0))
			return false;
		p->kernel = seconds /
			    sb_registry_seconds(kernel, shape.m, shape.n, shape.k, &p->target);
	}
	return true;
}

/*
 * The same of an emulated product, splitting included; where there is none, as of a strict one.
 * Long enough at work for the card to have found the clock that its power allows.
 */
static bool measure_emulated(struct sb_tune *tune, struct sb_device *device, double budget)
{
	static const int64_t squares[] = {1024, 2048, 4096};
	const struct sb_bench_pace pace = {.repeat = 15, .budget = budget / 3};
	struct sb_profile *p = tune->profile;
	double seconds = 0;

	p->emulated = p->kernel;
	for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
		const int64_t n = squares[i];
		const struct sb_bench_shape shape = {.m = n, .n = n, .k = n};
		struct sb_bench_product product;
		struct sb_bench_launch launch;
		struct sb_tiers tiers;
		enum sb_fallback why;

		if (n > tune->largest || 8 * (pace.repeat + 3) * seconds > budget ||
		    !sb_registry_pick_tiers(n, n, n, &p->target, &tiers, &why))
			break;
		product = sb_bench_product(tune->data, &shape);
		if (!sb_bench_launch_open(&launch, device, &product, NULL))
			return false;
		seconds = -1;
		if (sb_bench_launch_prepare(&launch, sb_registry_first(&tiers))) {
			seconds = sb_bench_launch_median(&launch, pace, sb_bench_launch_emulated);
			sb_bench_launch_unprepare(&launch);
		}
		sb_bench_launch_close(&launch);
		/* A build without their images has no use for the figure. */
		if (!(seconds > 0))
			break;
		p->emulated = seconds / sb_registry_emulated_seconds(&tiers, n, n, n,
								     p->target.multiprocessors);
	}
	return true;
}

/* A call of next to nothing whose operands are on the device, less what its kernel takes. */
static bool measure_launch(struct sb_tune *tune, struct sb_device *device)
{
	static const struct sb_bench_shape shape = {.m = SMALL, .n = SMALL, .k = SMALL};
	struct sb_bench_product product = {.shape = &shape, .extent = sb_bench_extent(&shape)};
	struct sb_profile *p = tune->profile;
	const size_t bytes = SMALL * SMALL * sizeof(float);
	sb_cu_deviceptr memory = 0;
	struct sb_visit visit;
	double seconds;
	bool taken;

	if (!sb_gpu_visit(device, &visit))
		return false;
	taken = device->cu->memory_alloc(&memory, 3 * bytes) == SB_CU_SUCCESS &&
		device->cu->set_words(memory, 0, 3 * SMALL * SMALL,
				      device->streams[SB_STREAM_UP]) == SB_CU_SUCCESS &&
		sb_gpu_passed(device, SB_STREAM_UP, patience);
	sb_gpu_depart(device, &visit);
	if (!taken)
		return false;
	product.a = (const float *)(uintptr_t)memory;
	product.b = product.a + SMALL * SMALL;
	product.c = (float *)(uintptr_t)(memory + 2 * bytes);
	seconds = sb_sides_on_device(&product, 51);
	if (!sb_gpu_visit(device, &visit))
		return false;
	(void)device->cu->memory_free(memory);
	sb_gpu_depart(device, &visit);
	if (!(seconds > 0))
		return false;
	seconds -=
		p->kernel * sb_registry_seconds(sb_registry_pick(SMALL, SMALL, SMALL, &p->target),
						SMALL, SMALL, SMALL, &p->target);
	p->launch = seconds > 1e-6 ? seconds : 1e-6;
	return true;
}

/* --- whole calls --- */

static struct sb_gpu_parts parts_of(const struct sb_profile *p, const struct sb_bench_shape *shape)
{
	const struct sb_situation situation = {.health = SB_HEALTH_READY};
	const struct sb_call call = {.m = shape->m,
				     .n = shape->n,
				     .k = shape->k,
				     .trans_a = shape->trans_a,
				     .trans_b = shape->trans_b};

	return sb_model_gpu(p, &situation, &call);
}

static double expect_whole(const struct sb_profile *profile, const struct sb_bench_shape *shape)
{
	double seconds = parts_of(profile, shape).seconds;

	return sb_tune_runs(seconds, RUNS, long_run) * seconds;
}

static double measure_whole(struct sb_tune *tune, const struct sb_bench_product *product)
{
	double seconds = sb_sides_seconds(SB_GPU, product, RUNS, long_run);

	return seconds / parts_of(tune->profile, product->shape).seconds;
}

/* What of the shorter parts is seen, by the largest square that there is time for. */
static void measure_overlap(struct sb_tune *tune, double budget)
{
	struct sb_profile *p = tune->profile;
	double taken = 0;

	for (int64_t n = 1024; n <= tune->largest && n <= 4096; n *= 2) {
		const struct sb_bench_shape shape = {.m = n, .n = n, .k = n};
		struct sb_bench_product product = sb_bench_product(tune->data, &shape);
		struct sb_gpu_parts parts = parts_of(p, &shape);
		double longest = parts.up > parts.down ? parts.up : parts.down;
		double once = 1.0 / parts.panels, rest, seen;

		if ((RUNS + 1) * (taken > 0 ? 8 * taken : parts.seconds) > budget)
			return;
		taken = sb_sides_seconds(SB_GPU, &product, RUNS, long_run);
		if (!(taken > 0) || parts.panels < 2)
			continue;
		longest = longest > parts.computing ? longest : parts.computing;
		rest = parts.up + parts.down + parts.computing - longest;
		seen = rest > 0 ? (taken - parts.launch - longest) / rest : 0;
		p->overlap = (seen - once) / (1 - once);
		p->overlap = p->overlap < 0 ? 0 : p->overlap > 1 ? 1 : p->overlap;
	}
}

const char *sb_tune_gpu(struct sb_tune *tune, struct sb_device *device, double budget)
{
	const struct sb_tune_grid whole = {.name = "whole calls",
					   .measure = measure_whole,
					   .expect = expect_whole,
					   .budget = budget / 2};
	struct sb_profile *p = tune->profile;
	struct sb_visit visit;
	bool done;

	snprintf(p->gpu, sizeof p->gpu, "%s", device->name);
	p->driver = sb_driver_status().version;
	p->target = sb_launch_target(device);
	p->clock_khz = device->clock_khz;
	p->memory = device->memory;
	p->has_whole = false;
	if (!sb_gpu_visit(device, &visit))
		return "the device cannot be had";
	done = measure_links(tune, device) && measure_kernel(tune, device, budget / 4) &&
	       measure_emulated(tune, device, budget / 16);
	sb_gpu_depart(device, &visit);
	if (!done)
		return "copies or kernels cannot be measured";
	if (!measure_launch(tune, device))
		return "launches cannot be measured";
	measure_overlap(tune, budget / 8);
	if (sb_tune_fill(tune, &whole, &p->whole) < 0)
		return "a call did not go to the GPU";
	p->has_whole = true;
	return NULL;
}
