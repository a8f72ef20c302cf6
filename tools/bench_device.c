/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bench's table of products whose operands are on the device, by the device's clock: the kernel
 * alone, and beside it what packing the operands into its panels takes, where it wants panels.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "bench_launch.h"
#include "peer_cublas.h"
#include "settings.h"

/* What was measured of one kernel for one product. Negative: it does not run here. */
struct result {
	double seconds, pack, split; /* of emulated products, splitting is in seconds too */
	const char *bits;	     /* of C, compared with the plain kernel's */
};

static struct result measure_kernel(struct sb_bench_launch *launch, const struct sb_kernel *kernel,
				    struct sb_bench_pace pace, bool packed)
{
	struct result result = {-1, -1, -1, "-"};
	bool emulated = kernel->arithmetic != SB_STRICT;

	if (!sb_bench_launch_prepare(launch, kernel))
		return result;
	result.seconds = sb_bench_launch_median(launch, pace,
						emulated && packed ? sb_bench_launch_as_it_lies
						: emulated	   ? sb_bench_launch_emulated
								   : sb_bench_launch_gemm);
	if (emulated)
		result.split = sb_bench_launch_median(launch, pace, sb_bench_launch_split);
	if (launch->panel_a || launch->panel_b)
		result.pack = sb_bench_launch_median(launch, pace, sb_bench_launch_pack);
	if (packed && !emulated && result.pack > 0 && result.seconds > 0)
		result.seconds += result.pack;
	if (result.seconds >= 0)
		result.bits = !sb_bench_launch_same(launch) ? "differ"
			      : emulated		    ? "emulated"
							    : "same";
	sb_bench_launch_unprepare(launch);
	return result;
}

/* Whether one of the words, separated by commas, is in the kernel's name; always if there are none.
 */
static bool named(const char *words, const struct sb_kernel *kernel)
{
	char word[64];

	for (; words && *words; words += strcspn(words, ",") + (words[strcspn(words, ",")] != 0)) {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(words, ","), words);
		if (*word && strstr(kernel->name, word))
			return true;
	}
	return !words;
}

/* Rows of the registry that are measured: those that would be picked, or all of them. */
static bool wanted(const struct sb_bench *bench, const struct sb_bench_launch *launch, int row,
		   const struct sb_bench_shape *shape)
{
	struct sb_target target = sb_launch_target(launch->device);
	const struct sb_kernel *kernel = sb_registry_row(row);
	bool strict = bench->maths[SB_MATH_STRICT];
	enum sb_fallback why;
	struct sb_tiers tiers;

	if (sb_bench_asked(bench, SB_OPTION_bench_packed))
		sb_bench_launch_lie(launch, &target);
	if (sb_bench_asked(bench, SB_OPTION_bench_ladder))
		return named(bench->options->value[SB_OPTION_bench_kernels], kernel);
	if (bench->maths[SB_MATH_EMULATED]) {
		if (!sb_registry_choose_tiers(shape->m, shape->n, shape->k, &target, &tiers, &why))
			strict = true;
		else if (kernel == sb_registry_first(&tiers))
			return true;
	}
	return strict && kernel == sb_registry_choose(shape->m, shape->n, shape->k, &target);
}

/* The first rung of the ladder, against which the others are held. */
static int first_rung(void)
{
	for (int row = 0; row < sb_registry_count(); row++)
		if (strcmp(sb_registry_row(row)->source, "sgemm_naive") == 0)
			return row;
	return 0;
}

static void write_row(const struct sb_bench *bench, struct sb_table *table,
		      const struct sb_bench_shape *shape, const struct sb_kernel *kernel,
		      const struct result *result, double first, double cublas)
{
	sb_bench_row(table, shape);
	sb_table_cell(table, "%s", kernel->name);
	sb_table_cell(table, "%s", result->bits);
	sb_bench_ms(table, result->seconds);
	sb_bench_rate(table, shape, result->seconds);
	sb_bench_ms(table, result->pack);
	sb_bench_ms(table, result->split);
	if (sb_bench_asked(bench, SB_OPTION_bench_ladder))
		sb_bench_ratio(table, first, result->seconds);
	if (sb_bench_asked(bench, SB_OPTION_bench_peers)) {
		sb_bench_ms(table, cublas);
		sb_bench_ratio(table, cublas, result->seconds);
	}
}

/* False if the device or the host has not enough memory for the product. */
static bool measure_shape(struct sb_bench *bench, struct sb_table *table, struct sb_device *device,
			  const struct sb_bench_data *data, const struct sb_bench_shape *shape)
{
	struct result *results = calloc((size_t)sb_registry_count(), sizeof *results);
	struct sb_bench_product product = sb_bench_product(data, shape);
	struct sb_bench_launch launch;
	bool packed = sb_bench_asked(bench, SB_OPTION_bench_packed);
	double cublas = -1;

	if (!results || !sb_bench_launch_open(&launch, device, &product, data->reference)) {
		free(results);
		return false;
	}
	launch.in_place = packed;
	for (int row = 0; row < sb_registry_count(); row++)
		if (wanted(bench, &launch, row, shape))
			results[row] =
				measure_kernel(&launch, sb_registry_row(row), bench->pace, packed);
	if (sb_bench_asked(bench, SB_OPTION_bench_peers))
		cublas = sb_bench_launch_median(&launch, bench->pace, sb_bench_launch_cublas);
	if (cublas >= 0 && !sb_bench_launch_right(&launch))
		cublas = -1;
	for (int row = 0; row < sb_registry_count(); row++)
		if (wanted(bench, &launch, row, shape))
			write_row(bench, table, shape, sb_registry_row(row), &results[row],
				  results[first_rung()].seconds, cublas);
	sb_bench_launch_close(&launch);
	free(results);
	return true;
}

void sb_bench_on_device(struct sb_bench *bench)
{
	const char *columns[17] = {SB_BENCH_COLUMNS, "kernel",	 "bits",     "#ms",
				   "#TFLOP/s",	     "#pack_ms", "#split_ms"};
	struct sb_device *device = sb_gpu_device();
	struct sb_bench_data data;
	struct sb_table table;
	struct sb_visit visit;
	int count = 11, skipped = 0;

	if (!device) {
		sb_page_say(&bench->page, "gpu", "none: %s", sb_gpu_why_not());
		return;
	}
	sb_page_say(&bench->page, "gpu", "%s", device->name);
	if (sb_bench_asked(bench, SB_OPTION_bench_ladder))
		columns[count++] = "#x_first";
	if (sb_bench_asked(bench, SB_OPTION_bench_peers)) {
		columns[count++] = "#cublas_ms";
		columns[count++] = "#x_cublas";
		sb_page_say(&bench->page, "cublas", "%s",
			    sb_gpu_no_peers() ? sb_gpu_no_peers() : sb_peer_cublas_open());
	}
	sb_table_open(&table, "device", columns);
	if (!sb_bench_open(bench, SB_BENCH_PAGEABLE, &data))
		return;
	for (int row = 0; row < bench->shapes.count; row++) {
		if (!sb_gpu_visit(device, &visit))
			break;
		skipped += !measure_shape(bench, &table, device, &data, &bench->shapes.rows[row]);
		sb_gpu_depart(device, &visit);
	}
	sb_bench_data_close(&data);
	sb_page_table(&bench->page, &table);
	if (skipped)
		sb_page_say(&bench->page, "skipped", "%d products: not enough memory", skipped);
}
