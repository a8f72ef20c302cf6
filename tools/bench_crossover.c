/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bench's table of the judge: measured and predicted seconds of both sides, the side that would
 * be chosen, and what is lost where that is the slower one. Squares, and shapes drawn from a seed:
 * skinny (few rows or columns), flat (a short sum), deep (a long sum of few elements), and free.
 *
 * Sides that are near each other are measured again, some time after the others, since there a
 * machine that others use too decides what looks faster.
 */
#include "bench.h"

#include <stdlib.h>

#include "bench_regret.h"
#include "both_sides.h"
#include "gpu.h"
#include "model.h"
#include "route.h"
#include "settings.h"
#include "threads.h"

enum { SHAPES = 200, LARGEST = 4096, FAMILIES = 4, ROUNDS = 3 };
static const double near = 2; /* as a factor */

/* Products that would take the backend longer are left out, so that all of it ends in minutes. */
static const double limit = 1.2, long_run = 30e-3;

static const int squares[] = {16,  32,	48,  64,   96,	 128,  192,  256,  320,	 384,
			      512, 640, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};
enum { SQUARES = sizeof squares / sizeof *squares };

struct row {
	struct sb_samples samples[SB_SIDES];
	struct sb_median measured[SB_SIDES];
	double predicted[SB_SIDES]; /* seconds */
	enum sb_side chosen;
	struct sb_regret regret;
};

/* Between two sizes, each power of two as likely as any other. */
static int64_t between(uint64_t *state, int64_t low, int64_t high)
{
	double share = (double)(sb_bench_random(state) >> 11) / (double)(1ull << 53);
	double size = (double)low;
	int doublings = 0;

	while (low << (doublings + 1) <= high)
		doublings++;
	share *= doublings;
	while (share >= 1) {
		size *= 2;
		share--;
	}
	size *= 1 + share;
	return size < (double)high ? (int64_t)size : high;
}

static struct sb_bench_shape draw(uint64_t *state, int family, int64_t largest)
{
	int64_t least = largest < 256 ? 1 : 256;
	struct sb_bench_shape s = {.m = between(state, least, largest),
				   .n = between(state, least, largest),
				   .k = between(state, least, largest)};
	uint64_t bits = sb_bench_random(state);
	int64_t few = between(state, 1, 64);

	s.trans_a = bits & 1;
	s.trans_b = bits >> 1 & 1;
	switch (family) {
	case 0:
		*(bits & 4 ? &s.m : &s.n) = few;
		break;
	case 1:
		s.k = few;
		break;
	case 2:
		s.m = between(state, 16, 256);
		s.n = between(state, 16, 256);
		s.k = between(state, least, 16 * largest);
		break;
	default:
		break;
	}
	return s;
}

static struct sb_call call_of(const struct sb_bench_shape *shape)
{
	const struct sb_bench_extent extent = sb_bench_extent(shape);

	return (struct sb_call){.m = shape->m,
				.n = shape->n,
				.k = shape->k,
				.trans_a = shape->trans_a,
				.trans_b = shape->trans_b,
				.lda = extent.lda,
				.ldb = extent.ldb,
				.ldc = extent.ldc,
				.alpha = 1};
}

static struct sb_situation situation(void)
{
	int told = sb_backend_threads_get(&sb_sides_backend()->threads);

	const struct sb_team *team = sb_device_team();

	return (struct sb_situation){.health = SB_HEALTH_READY,
				     .emulate = sb_route_math() == SB_MATH_EMULATED,
				     .devices = team ? team->count : 0,
				     .linked = team && team->linked,
				     .threads = told ? told : sb_threads_backend(),
				     .processors = sb_profile_processors()};
}

static double predicted_cpu(const struct sb_bench_shape *shape)
{
	const struct sb_situation now = situation();
	const struct sb_call call = call_of(shape);

	return sb_model_cpu(sb_profile(sb_sides_backend()->path), &now, &call).seconds;
}

/* The list; shapes that would take too long are counted, and replaced by others of their family. */
static int list_shapes(struct sb_bench_shapes *shapes, long count, long seed, long largest)
{
	uint64_t state = (uint64_t)seed;
	int left_out = 0;

	shapes->rows = calloc((size_t)(SQUARES + count), sizeof *shapes->rows);
	shapes->count = 0;
	for (int i = 0; i < SQUARES && shapes->rows; i++) {
		const struct sb_bench_shape square = {
			.m = squares[i], .n = squares[i], .k = squares[i]};

		if (squares[i] > 2 * largest)
			continue;
		if (predicted_cpu(&square) <= limit)
			shapes->rows[shapes->count++] = square;
		else
			left_out++;
	}
	for (long i = 0; i < count && shapes->rows; i++) {
		struct sb_bench_shape shape = draw(&state, (int)(i % FAMILIES), largest);

		for (int tries = 0; tries < 100 && predicted_cpu(&shape) > limit; tries++) {
			shape = draw(&state, (int)(i % FAMILIES), largest);
			left_out++;
		}
		shapes->rows[shapes->count++] = shape;
	}
	return left_out;
}

static void predict(const struct sb_bench_shape *shape, struct row *row)
{
	const struct sb_situation now = situation();
	const struct sb_call call = call_of(shape);
	const struct sb_profile *profile = sb_profile(NULL);

	row->predicted[SB_CPU] = sb_model_cpu(profile, &now, &call).seconds;
	row->predicted[SB_GPU] = sb_model_gpu(profile, &now, &call).seconds;
	row->chosen = sb_sides_choose(profile, &now, &call);
	row->regret = sb_regret(row->measured, row->chosen);
}

static bool is_near(const struct row *row)
{
	double cpu = row->measured[SB_CPU].middle, gpu = row->measured[SB_GPU].middle;

	return cpu > 0 && gpu > 0 && cpu < near * gpu && gpu < near * cpu;
}

/* All of one side first: the backend's threads spin for a while after its last call. */
static void measure_round(struct sb_bench *bench, const struct sb_bench_data *data,
			  struct row *rows, bool again)
{
	bool device = sb_gpu_device() != NULL;
	int runs = bench->pace.repeat * (again ? 2 : 1);

	for (int side = 0; side < SB_SIDES; side++) {
		for (int i = 0; i < bench->shapes.count && (side == SB_CPU || device); i++) {
			struct sb_bench_product product =
				sb_bench_product(data, &bench->shapes.rows[i]);
			struct sb_samples *samples = &rows[i].samples[side];
			int count = again && !is_near(&rows[i])
					    ? samples->count
					    : sb_sides_samples((enum sb_side)side, &product, runs,
							       long_run, samples->seconds,
							       samples->count, SB_REGRET_SAMPLES);

			samples->count = count < 0 ? 0 : count;
		}
		sb_sides_settle();
	}
}

static void measure(struct sb_bench *bench, const struct sb_bench_data *data, struct row *rows)
{
	for (int round = 0; round < ROUNDS; round++) {
		measure_round(bench, data, rows, round > 0);
		for (int i = 0; i < bench->shapes.count; i++)
			for (int side = 0; side < SB_SIDES; side++)
				rows[i].measured[side] = sb_regret_median(&rows[i].samples[side]);
	}
}

static void percent(struct sb_table *table, double share)
{
	if (share < 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.1f", 100 * share);
}

static void write_rows(struct sb_bench *bench, const struct row *rows)
{
	static const char *const columns[] = {
		SB_BENCH_COLUMNS, "#cpu_ms",   "#cpu_predicted_ms", "#gpu_ms", "#gpu_predicted_ms",
		"side",		  "#regret_%", "#beyond_noise_%",   NULL};
	struct sb_table table;

	sb_table_open(&table, "crossover", columns);
	for (int i = 0; i < bench->shapes.count; i++) {
		sb_bench_row(&table, &bench->shapes.rows[i]);
		for (int side = 0; side < SB_SIDES; side++) {
			sb_bench_ms(&table, rows[i].measured[side].middle);
			sb_bench_ms(&table, rows[i].predicted[side]);
		}
		sb_table_cell(&table, "%s", sb_side_word(rows[i].chosen));
		percent(&table, rows[i].regret.middle);
		percent(&table, rows[i].regret.least);
	}
	sb_page_table(&bench->page, &table);
}

/* The median of how far predictions of a side are from what was measured, as a factor. */
static double distance(const struct row *rows, int count, enum sb_side side)
{
	double *factors = calloc((size_t)count + 1, sizeof *factors);
	int known = 0;
	double middle = 0;

	for (int i = 0; i < count && factors; i++) {
		double factor = rows[i].predicted[side] / rows[i].measured[side].middle;

		if (rows[i].measured[side].middle > 0)
			factors[known++] = factor < 1 ? 1 / factor : factor;
	}
	if (known)
		middle = sb_bench_middle(factors, known);
	free(factors);
	return middle;
}

static void summarise(struct sb_bench *bench, const struct row *rows)
{
	const struct sb_bench_shape *shapes = bench->shapes.rows;
	double sum = 0, worst = -1, sum_beyond = 0, worst_beyond = 0;
	int known = 0, at = 0, wrong = 0, beyond = 0;

	for (int i = 0; i < bench->shapes.count; i++) {
		const struct sb_regret *lost = &rows[i].regret;

		if (lost->middle < 0)
			continue;
		known++;
		sum += lost->middle;
		sum_beyond += lost->least;
		wrong += lost->middle > 0;
		beyond += lost->least > 0;
		worst_beyond = lost->least > worst_beyond ? lost->least : worst_beyond;
		if (lost->middle > worst) {
			worst = lost->middle;
			at = i;
		}
	}
	if (!known)
		return;
	sb_page_say(
		&bench->page, "regret",
		"mean %.2f %%, worst %.1f %% (%lld x %lld x %lld %s), over %d products, of which "
		"%d went to the slower side",
		100 * sum / known, 100 * worst, (long long)shapes[at].m, (long long)shapes[at].n,
		(long long)shapes[at].k, sb_bench_transposes(&shapes[at]), known, wrong);
	sb_page_say(&bench->page, "beyond noise",
		    "mean %.2f %%, worst %.1f %%: %d of those %d were slower by more than the "
		    "spread of the runs",
		    100 * sum_beyond / known, 100 * worst_beyond, beyond, wrong);
	for (int side = 0; side < SB_SIDES; side++) {
		double factor = distance(rows, bench->shapes.count, (enum sb_side)side);

		if (factor > 0)
			sb_page_say(&bench->page, side == SB_CPU ? "cpu error" : "gpu error",
				    "half of the predictions are within a factor of %.2f", factor);
	}
}

bool sb_bench_crossover(struct sb_bench *bench)
{
	long count = sb_option_number(bench->options, SB_OPTION_bench_shapes, SHAPES, 1, 100000);
	long seed = sb_option_number(bench->options, SB_OPTION_bench_seed, 1, 0, 1L << 62);
	long largest =
		sb_option_number(bench->options, SB_OPTION_bench_largest, LARGEST, 16, 1 << 16);
	struct sb_device *device = sb_gpu_device();
	struct sb_bench_data data;
	struct row *rows;
	int left_out;

	(void)sb_profile(sb_sides_backend()->path);
	if (device)
		sb_gpu_meet(device);
	sb_page_say(&bench->page, "profile", "%s", sb_profile_source());
	sb_page_say(&bench->page, "backend", "%s, %d threads", sb_sides_backend()->path,
		    situation().threads);
	sb_page_say(&bench->page, "gpu", device ? "%s" : "none: %s",
		    device ? device->name : sb_gpu_why_not());
	left_out = list_shapes(&bench->shapes, count, seed, largest);
	rows = calloc((size_t)bench->shapes.count + 1, sizeof *rows);
	if (!bench->shapes.rows || !rows ||
	    !sb_bench_data_open(&data, &bench->shapes, sb_bench_take_pageable, free)) {
		sb_page_say(&bench->page, "crossover", "none: not enough memory");
		free(rows);
		return false;
	}
	if (left_out)
		sb_page_say(&bench->page, "left out",
			    "%d products that would take the backend more than %.1f s", left_out,
			    limit);
	measure(bench, &data, rows);
	for (int i = 0; i < bench->shapes.count; i++)
		predict(&bench->shapes.rows[i], &rows[i]);
	write_rows(bench, rows);
	summarise(bench, rows);
	sb_bench_data_close(&data);
	free(rows);
	return true;
}
