/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "gpu.h"
#include "route.h"
#include "settings.h"

/* The format number of `bench --json` and --csv. */
enum { FORMAT = 1 };

bool sb_bench_asked(const struct sb_bench *bench, enum sb_option_row row)
{
	return bench->options->times[row] > 0;
}

const char *sb_bench_memory_word(enum sb_bench_memory memory)
{
	return memory == SB_BENCH_PINNED ? "pinned" : "pageable";
}

bool sb_bench_open(struct sb_bench *bench, enum sb_bench_memory memory, struct sb_bench_data *data)
{
	bool pinned = memory == SB_BENCH_PINNED;

	if (pinned && !sb_bench_asked(bench, SB_OPTION_bench_pinned))
		return false;
	if (pinned && !sb_gpu_device()) {
		sb_page_say(&bench->page, "pinned", "none: %s", sb_gpu_why_not());
		return false;
	}
	if (sb_bench_data_open(data, &bench->shapes,
			       pinned ? sb_gpu_take_pinned : sb_bench_take_pageable,
			       pinned ? sb_gpu_give_pinned : free))
		return true;
	sb_page_say(&bench->page, sb_bench_memory_word(memory), "none: not enough memory");
	return false;
}

void sb_bench_row(struct sb_table *table, const struct sb_bench_shape *shape)
{
	sb_table_cell(table, "%lld", (long long)shape->m);
	sb_table_cell(table, "%lld", (long long)shape->n);
	sb_table_cell(table, "%lld", (long long)shape->k);
	sb_table_cell(table, "%s", sb_bench_transposes(shape));
	sb_table_cell(table, "%lld", (long long)shape->pad);
}

void sb_bench_ms(struct sb_table *table, double seconds)
{
	if (seconds < 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, seconds < 1e-2 ? "%.4f" : "%.2f", 1e3 * seconds);
}

void sb_bench_us(struct sb_table *table, double seconds)
{
	if (seconds < 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.2f", 1e6 * seconds);
}

void sb_bench_ratio(struct sb_table *table, double seconds, double ours)
{
	if (seconds < 0 || ours <= 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.2f", seconds / ours);
}

void sb_bench_rate(struct sb_table *table, const struct sb_bench_shape *shape, double seconds)
{
	if (seconds <= 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.3f",
			      2e-12 * (double)shape->m * (double)shape->n * (double)shape->k /
				      seconds);
}

static bool only(const struct sb_options *options, const char *word)
{
	const char *given = options->value[SB_OPTION_bench_only];

	return !given || strcmp(given, word) == 0;
}

static bool understood(const struct sb_options *options)
{
	if (only(options, "host") || only(options, "device") || only(options, "wire"))
		return true;
	fprintf(stderr, "shimblas bench: --only=%s makes no sense (host|device|wire)\n",
		options->value[SB_OPTION_bench_only]);
	return false;
}

static bool choose_maths(struct sb_bench *bench)
{
	const char *given = bench->options->value[SB_OPTION_bench_math];
	bool both = given && strcmp(given, "both") == 0;

	bench->maths[SB_MATH_STRICT] = both || (given ? strcmp(given, "strict") == 0
						      : sb_settings()->math == SB_MATH_STRICT);
	bench->maths[SB_MATH_EMULATED] = both || (given ? strcmp(given, "emulated") == 0
							: sb_settings()->math == SB_MATH_EMULATED);
	if (bench->maths[SB_MATH_STRICT] || bench->maths[SB_MATH_EMULATED]) {
		sb_route_set_math(bench->maths[SB_MATH_STRICT] ? SB_MATH_STRICT : SB_MATH_EMULATED);
		return true;
	}
	fprintf(stderr, "shimblas bench: --math=%s makes no sense (strict|emulated|both)\n", given);
	return false;
}

bool sb_bench_choose_math(const struct sb_bench *bench, int math)
{
	if (bench->maths[math])
		sb_route_set_math(math);
	return bench->maths[math];
}

static enum sb_style style(const struct sb_options *options)
{
	if (options->times[SB_OPTION_bench_json])
		return SB_STYLE_JSON;
	return options->times[SB_OPTION_bench_csv] ? SB_STYLE_CSV : SB_STYLE_TEXT;
}

int sb_command_bench(int argc, char **argv)
{
	struct sb_options options;
	struct sb_bench bench = {.options = &options, .argc = argc, .argv = argv};
	bool found = true;
	long repeat, sustained;

	if (!sb_option_parse(argc, argv, true, &options) || !understood(&options) ||
	    !choose_maths(&bench))
		return SB_EXIT_USAGE;
	repeat = sb_option_number(&options, SB_OPTION_bench_repeat, 7, 1, SB_BENCH_MOST_REPEATS);
	sustained = sb_option_number(&options, SB_OPTION_bench_sustained, 1, 1, 10000);
	if (repeat < 0 || sustained < 0)
		return SB_EXIT_USAGE;
	if (!sb_bench_asked(&bench, SB_OPTION_bench_crossover) &&
	    !sb_bench_shapes_open(&bench.shapes, &options))
		return SB_EXIT_USAGE;
	bench.pace = (struct sb_bench_pace){
		.repeat = (int)repeat, .budget = 5, .sustained = 1e-3 * (double)sustained};
	sb_page_open(&bench.page, stdout, style(&options), FORMAT);
	sb_page_say(&bench.page, "version", "%s", PACKAGE_VERSION);
	if (sb_bench_asked(&bench, SB_OPTION_bench_crossover)) {
		found = sb_bench_crossover(&bench);
	} else if (sb_bench_asked(&bench, SB_OPTION_bench_scope)) {
		found = sb_bench_scope(&bench);
	} else if (sb_bench_asked(&bench, SB_OPTION_bench_accuracy)) {
		found = sb_bench_accuracy(&bench);
	} else if (sb_bench_asked(&bench, SB_OPTION_bench_picks)) {
		sb_bench_picks(&bench);
	} else {
		if (only(&options, "host"))
			sb_bench_host(&bench);
		if (only(&options, "device"))
			sb_bench_on_device(&bench);
		if (options.value[SB_OPTION_bench_only] && only(&options, "wire"))
			sb_bench_wire(&bench);
	}
	sb_bench_shapes_close(&bench.shapes);
	return sb_page_close(&bench.page) || !found;
}
