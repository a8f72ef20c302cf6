/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bench's table of errors: ours, the backend's and cuBLAS's, each against a product in double
 * precision, over kinds of numbers and lengths of sums. Three errors of each: the Frobenius norm of
 * the difference over that of the product; the largest difference over the sum of the terms'
 * magnitudes; and the largest difference over the element itself. Of a large C some columns are
 * looked at, all across it.
 */
#include <math.h>
#include <stdlib.h>

#include "backend.h"
#include "bench.h"
#include "bench_launch.h"
#include "bench_numbers.h"
#include "gpu.h"
#include "names.h"
#include "peer_cublas.h"
#include "settings.h"
#include "stats.h"

enum { COLUMNS = 32, COLUMN_MAJOR = 102, NO_TRANSPOSE = 111 };

typedef void cblas_function(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
			    int64_t k, float alpha, const void *a, int64_t lda, const void *b,
			    int64_t ldb, float beta, void *c, int64_t ldc);

/* Of large C, as programs have them; the longest sums of small ones. */
static const struct {
	int64_t extent, k;
	bool longest;
} lengths[] = {{1024, 128, false},   {1024, 512, false}, {2048, 1024, false}, {2048, 4096, false},
	       {1024, 16384, false}, {256, 65536, true}, {256, 1 << 20, true}};

/* One trial, and of each column looked at what it should be, and the terms' magnitudes. */
struct trial {
	struct sb_bench_operands operands;
	float *c;
	int64_t columns;
	double *exact, *magnitude;
};

struct errors {
	double norm, bound, element; /* negative: not known */
};

static const struct errors unknown = {-1, -1, -1};

static int64_t column_of(const struct trial *trial, int64_t column)
{
	return column * (trial->operands.n / trial->columns);
}

static void multiply_exactly(struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;

	for (int64_t c = 0; c < trial->columns; c++) {
		const float *b = o->b + column_of(trial, c) * o->k;
		double *exact = trial->exact + c * o->m, *magnitude = trial->magnitude + c * o->m;

		for (int64_t i = 0; i < o->m; i++)
			exact[i] = magnitude[i] = 0;
		for (int64_t k = 0; k < o->k; k++)
			for (int64_t i = 0; i < o->m; i++) {
				double term = (double)o->a[i + k * o->m] * (double)b[k];

				exact[i] += term;
				magnitude[i] += fabs(term);
			}
	}
}

static double larger(double a, double b)
{
	return a > b || isnan(a) ? a : b;
}

static struct errors errors_of(const struct trial *trial)
{
	int64_t m = trial->operands.m;
	struct errors errors = {0};
	double apart = 0, norm = 0;

	for (int64_t c = 0; c < trial->columns; c++) {
		const float *got = trial->c + column_of(trial, c) * m;

		for (int64_t i = 0; i < m; i++) {
			double exact = trial->exact[i + c * m];
			double error = fabs((double)got[i] - exact);

			apart += error * error;
			norm += exact * exact;
			if (trial->magnitude[i + c * m] > 0)
				errors.bound =
					larger(error / trial->magnitude[i + c * m], errors.bound);
			if (exact != 0)
				errors.element = larger(error / fabs(exact), errors.element);
		}
	}
	errors.norm = sqrt(apart / norm);
	return errors;
}

static const struct sb_backend *backend(void)
{
	return sb_backend_find(&sb_names[SB_NAME_cblas_sgemm], __builtin_return_address(0));
}

static struct errors errors_by(sb_function function, const struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;

	if (!function)
		return unknown;
	for (int64_t i = 0; i < o->m * o->n; i++)
		trial->c[i] = NAN;
	((cblas_function *)(void *)function)(COLUMN_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, o->m, o->n,
					     o->k, 1, o->a, o->m, o->b, o->k, 0, trial->c, o->m);
	return errors_of(trial);
}

/* Unknown where there is no cuBLAS, or it failed. */
static struct errors errors_by_cublas(struct sb_device *device, const struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;
	const struct sb_bench_shape shape = {.m = o->m, .n = o->n, .k = o->k};
	const struct sb_bench_data data = {.a = o->a, .b = o->b, .c = trial->c};
	struct sb_bench_product product = sb_bench_product(&data, &shape);
	float *reference = malloc((size_t)(o->m * o->n) * sizeof *reference);
	struct errors errors = unknown;
	struct sb_bench_launch launch;

	if (reference && sb_bench_launch_open(&launch, device, &product, reference)) {
		/* What it says of the plain kernel's C is no matter here; it has fetched ours. */
		if (sb_bench_launch_cublas(&launch)) {
			(void)sb_bench_launch_right(&launch);
			errors = errors_of(trial);
		}
		sb_bench_launch_close(&launch);
	}
	free(reference);
	return errors;
}

static void say(struct sb_table *table, double error)
{
	if (error < 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.2e", error);
}

static void say_all(struct sb_table *table, const struct errors *errors)
{
	say(table, errors->norm);
	say(table, errors->bound);
	say(table, errors->element);
}

static void say_ratio(struct sb_table *table, double ours, double theirs)
{
	if (theirs > 0 && ours >= 0)
		sb_table_cell(table, "%.2f", ours / theirs);
	else
		sb_table_cell(table, "-");
}

/* A row for each arithmetic that was asked for. */
static void measure(struct sb_bench *bench, struct sb_table *table, const char *name,
		    const struct trial *trial)
{
	struct errors theirs = errors_by(backend()->function, trial), cublas = unknown, ours;
	struct sb_device *device = sb_gpu_device();
	struct sb_visit visit;

	if (device && !sb_gpu_no_peers() && sb_gpu_visit(device, &visit)) {
		cublas = errors_by_cublas(device, trial);
		sb_gpu_depart(device, &visit);
	}
	for (int math = SB_MATH_STRICT; math <= SB_MATH_EMULATED; math++) {
		struct sb_last last = {.outcome = {.side = SB_CPU}};

		if (!sb_bench_choose_math(bench, math))
			continue;
		ours = errors_by(sb_names_entry("cblas_sgemm"), trial);
		(void)sb_stats_last(&last);
		sb_table_cell(table, "%s", name);
		sb_table_cell(table, "%lld", (long long)trial->operands.m);
		sb_table_cell(table, "%lld", (long long)trial->operands.k);
		sb_table_cell(table, "%s", sb_arithmetic_word(last.outcome.manner.arithmetic));
		say_all(table, &theirs);
		say_all(table, &ours);
		say_all(table, &cublas);
		say_ratio(table, ours.norm, theirs.norm);
		say_ratio(table, ours.norm, cublas.norm);
	}
}

static bool open_trial(struct trial *trial, int64_t extent, int64_t k)
{
	size_t operand = (size_t)(extent * k) * sizeof(float), doubles;

	trial->columns = extent < COLUMNS ? extent : COLUMNS;
	doubles = (size_t)(extent * trial->columns) * sizeof(double);
	trial->operands = (struct sb_bench_operands){
		.m = extent, .n = extent, .k = k, .a = malloc(operand), .b = malloc(operand)};
	trial->c = malloc((size_t)(extent * extent) * sizeof(float));
	trial->exact = malloc(doubles);
	trial->magnitude = malloc(doubles);
	return trial->operands.a && trial->operands.b && trial->c && trial->exact &&
	       trial->magnitude;
}

static void close_trial(struct trial *trial)
{
	free(trial->magnitude);
	free(trial->exact);
	free(trial->c);
	free(trial->operands.b);
	free(trial->operands.a);
}

bool sb_bench_accuracy(struct sb_bench *bench)
{
	static const char *const columns[] = {"data",
					      "#extent",
					      "#k",
					      "math",
					      "#backend",
					      "#backend_bound",
					      "#backend_element",
					      "#ours",
					      "#ours_bound",
					      "#ours_element",
					      "#cublas",
					      "#cublas_bound",
					      "#cublas_element",
					      "#x_backend",
					      "#x_cublas",
					      NULL};
	long longest =
		sb_option_number(bench->options, SB_OPTION_bench_longest, 1 << 20, 1, 1 << 20);
	bool ready = longest > 0;
	struct sb_table table;

	sb_bench_choose_mode();
	sb_page_say(&bench->page, "backend", "%s", backend()->path);
	sb_page_say(&bench->page, "cublas", "%s",
		    sb_gpu_no_peers() ? sb_gpu_no_peers() : sb_peer_cublas_open());
	sb_table_open(&table, "accuracy", columns);
	for (size_t i = 0; ready && i < sizeof lengths / sizeof *lengths; i++) {
		struct trial trial;

		if (lengths[i].k > longest)
			continue;
		ready = open_trial(&trial, lengths[i].extent, lengths[i].k);
		for (int row = 0; ready && row < sb_bench_numbers_count(); row++) {
			const struct sb_bench_numbers *numbers = sb_bench_numbers_row(row);
			uint64_t state = (uint64_t)lengths[i].k;

			if (lengths[i].longest && !numbers->long_too)
				continue;
			numbers->fill(&trial.operands, numbers->spread, &state);
			multiply_exactly(&trial);
			measure(bench, &table, numbers->name, &trial);
		}
		close_trial(&trial);
	}
	sb_page_table(&bench->page, &table);
	return ready;
}
