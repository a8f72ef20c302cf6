/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bench's table of errors: ours, the backend's and cuBLAS's, each against a product in double
 * precision, over kinds of numbers and lengths of sums. An error is the Frobenius norm of the
 * difference over that of the product.
 */
#include <math.h>
#include <stdlib.h>

#include "backend.h"
#include "bench.h"
#include "bench_launch.h"
#include "gpu.h"
#include "names.h"
#include "peer_cublas.h"
#include "settings.h"
#include "stats.h"

enum { EXTENT = 256, COLUMN_MAJOR = 102, NO_TRANSPOSE = 111 };

typedef void cblas_function(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
			    int64_t k, float alpha, const void *a, int64_t lda, const void *b,
			    int64_t ldb, float beta, void *c, int64_t ldc);

static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(6.283185307179586 * uniform(state));
}

static double centred(uint64_t *state)
{
	return uniform(state) - 0.5;
}

static double lognormal(uint64_t *state)
{
	return exp(3 * normal(state));
}

static const struct {
	const char *name;
	double (*draw)(uint64_t *state);
} kinds[] = {
	{"normal", normal},
	{"uniform 0..1", uniform},
	{"uniform -.5...5", centred},
	{"lognormal, sigma 3", lognormal},
};

static const int64_t lengths[] = {512, 1024, 4096, 16384};

/* One trial: A is EXTENT x k, B k x EXTENT, both column-major. */
struct trial {
	int64_t k;
	float *a, *b, *c;
	double *exact;
};

static void draw(struct trial *trial, double (*number)(uint64_t *))
{
	uint64_t state = (uint64_t)trial->k;

	for (int64_t i = 0; i < EXTENT * trial->k; i++) {
		trial->a[i] = (float)number(&state);
		trial->b[i] = (float)number(&state);
	}
	for (int64_t i = 0; i < EXTENT * EXTENT; i++)
		trial->exact[i] = 0;
	for (int64_t k = 0; k < trial->k; k++)
		for (int64_t j = 0; j < EXTENT; j++) {
			double b = (double)trial->b[k + j * trial->k];

			for (int64_t i = 0; i < EXTENT; i++)
				trial->exact[i + j * EXTENT] +=
					(double)trial->a[i + k * EXTENT] * b;
		}
}

static double error_of(const struct trial *trial)
{
	double error = 0, norm = 0;

	for (int64_t i = 0; i < EXTENT * EXTENT; i++) {
		double apart = (double)trial->c[i] - trial->exact[i];

		error += apart * apart;
		norm += trial->exact[i] * trial->exact[i];
	}
	return sqrt(error / norm);
}

static const struct sb_backend *backend(void)
{
	return sb_backend_find(&sb_names[SB_NAME_cblas_sgemm], __builtin_return_address(0));
}

static double error_by(sb_function function, const struct trial *trial)
{
	if (!function)
		return -1;
	((cblas_function *)(void *)function)(COLUMN_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, EXTENT,
					     EXTENT, trial->k, 1, trial->a, EXTENT, trial->b,
					     trial->k, 0, trial->c, EXTENT);
	return error_of(trial);
}

/* Negative where there is no cuBLAS, or it failed. */
static double error_by_cublas(struct sb_device *device, const struct trial *trial)
{
	const struct sb_bench_shape shape = {.m = EXTENT, .n = EXTENT, .k = trial->k};
	const struct sb_bench_data data = {.a = trial->a, .b = trial->b, .c = trial->c};
	struct sb_bench_product product = sb_bench_product(&data, &shape);
	float *reference = malloc(EXTENT * EXTENT * sizeof *reference);
	struct sb_bench_launch launch;
	double error = -1;

	if (reference && sb_bench_launch_open(&launch, device, &product, reference)) {
		if (sb_bench_launch_cublas(&launch) && sb_bench_launch_right(&launch))
			error = error_of(trial);
		sb_bench_launch_close(&launch);
	}
	free(reference);
	return error;
}

static void say(struct sb_table *table, double error, double reference)
{
	if (error < 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.2e", error);
	if (error < 0 || reference <= 0)
		sb_table_cell(table, "-");
	else
		sb_table_cell(table, "%.2f", error / reference);
}

static void measure(struct sb_table *table, struct sb_device *device, const char *name,
		    const struct trial *trial)
{
	double theirs = error_by(backend()->function, trial), ours, cublas = -1;
	struct sb_last last = {.outcome = {.side = SB_CPU}};
	struct sb_visit visit;

	ours = error_by(sb_names_entry("cblas_sgemm"), trial);
	(void)sb_stats_last(&last);
	if (device && !sb_gpu_no_peers() && sb_gpu_visit(device, &visit)) {
		cublas = error_by_cublas(device, trial);
		sb_gpu_depart(device, &visit);
	}
	sb_table_cell(table, "%s", name);
	sb_table_cell(table, "%lld", (long long)trial->k);
	sb_table_cell(table, "%s", sb_arithmetic_word(last.outcome.manner.arithmetic));
	sb_table_cell(table, "%.2e", theirs);
	say(table, ours, theirs);
	say(table, cublas, theirs);
}

bool sb_bench_accuracy(struct sb_bench *bench)
{
	static const char *const columns[] = {"data",  "#k",	     "math",	"#backend",
					      "#ours", "#x_backend", "#cublas", "#x_backend_cublas",
					      NULL};
	const int64_t longest = lengths[sizeof lengths / sizeof *lengths - 1];
	size_t operand = (size_t)(EXTENT * longest) * sizeof(float);
	struct trial trial = {
		.a = malloc(operand),
		.b = malloc(operand),
		.c = malloc(EXTENT * EXTENT * sizeof(float)),
		.exact = malloc(EXTENT * EXTENT * sizeof(double)),
	};
	bool ready = trial.a && trial.b && trial.c && trial.exact;
	struct sb_table table;

	sb_bench_choose_mode();
	sb_page_say(&bench->page, "backend", "%s", backend()->path);
	sb_page_say(&bench->page, "cublas", "%s",
		    sb_gpu_no_peers() ? sb_gpu_no_peers() : sb_peer_cublas_open());
	sb_table_open(&table, "accuracy", columns);
	for (size_t kind = 0; ready && kind < sizeof kinds / sizeof *kinds; kind++)
		for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
			trial.k = lengths[i];
			draw(&trial, kinds[kind].draw);
			for (int math = SB_MATH_STRICT; math <= SB_MATH_EMULATED; math++)
				if (sb_bench_choose_math(bench, math))
					measure(&table, sb_gpu_device(), kinds[kind].name, &trial);
		}
	sb_page_table(&bench->page, &table);
	free(trial.exact);
	free(trial.c);
	free(trial.b);
	free(trial.a);
	return ready;
}
