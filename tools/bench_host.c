/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench's table of calls as a program makes them, from call to return. */
#include "bench.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "bench_bound.h"
#include "gpu.h"
#include "names.h"
#include "object.h"
#include "peer_cublas.h"
#include "peer_nvblas.h"
#include "route.h"
#include "settings.h"
#include "stats.h"
#include "status.h"

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

typedef void cblas_function(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
			    int64_t k, float alpha, const void *a, int64_t lda, const void *b,
			    int64_t ldb, float beta, void *c, int64_t ldc);
typedef void f77_function(const char *trans_a, const char *trans_b, const void *m, const void *n,
			  const void *k, const void *alpha, const void *a, const void *lda,
			  const void *b, const void *ldb, const void *beta, void *c,
			  const void *ldc, size_t trans_a_length, size_t trans_b_length);

static bool run_cblas(void *context, const struct sb_bench_product *p)
{
	cblas_function *function = (cblas_function *)context;

	function(COLUMN_MAJOR, p->shape->trans_a ? TRANSPOSE : NO_TRANSPOSE,
		 p->shape->trans_b ? TRANSPOSE : NO_TRANSPOSE, p->shape->m, p->shape->n,
		 p->shape->k, 1, p->a, p->extent.lda, p->b, p->extent.ldb, 0, p->c, p->extent.ldc);
	return true;
}

static bool run_f77(void *context, const struct sb_bench_product *p)
{
	f77_function *function = (f77_function *)context;
	const float alpha = 1, beta = 0;

	function(p->shape->trans_a ? "T" : "N", p->shape->trans_b ? "T" : "N", &p->shape->m,
		 &p->shape->n, &p->shape->k, &alpha, p->a, &p->extent.lda, p->b, &p->extent.ldb,
		 &beta, p->c, &p->extent.ldc, 1, 1);
	return true;
}

/* One who multiplies: a column of the table, and one of how much longer it takes than we do. */
struct side {
	const char *column, *ratio;
	double (*measure)(struct sb_bench_pace pace, const struct sb_bench_product *product,
			  enum sb_bench_memory memory, int row);
};

/* OpenBLAS's threads spin for a while after a call, on processors that the next side needs. */
static void settle(void)
{
	usleep(100 * 1000);
}

static double measure_ours(struct sb_bench_pace pace, const struct sb_bench_product *product,
			   enum sb_bench_memory memory, int row)
{
	(void)memory;
	(void)row;
	return sb_bench_median(pace, run_cblas, (void *)sb_names_entry("cblas_sgemm"), product);
}

static const struct sb_backend *backend(void)
{
	return sb_backend_find(&sb_names[SB_NAME_cblas_sgemm], __builtin_return_address(0));
}

static double measure_backend(struct sb_bench_pace pace, const struct sb_bench_product *product,
			      enum sb_bench_memory memory, int row)
{
	double seconds = -1;

	(void)memory;
	(void)row;
	if (backend()->function)
		seconds = sb_bench_median(pace, run_cblas, (void *)backend()->function, product);
	settle();
	return seconds;
}

static double measure_cublasxt(struct sb_bench_pace pace, const struct sb_bench_product *product,
			       enum sb_bench_memory memory, int row)
{
	double seconds = sb_peer_cublasxt(pace, product);

	(void)memory;
	(void)row;
	return sb_bench_right(product) ? seconds : -1;
}

static double measure_nvblas(struct sb_bench_pace pace, const struct sb_bench_product *product,
			     enum sb_bench_memory memory, int row)
{
	(void)pace;
	(void)product;
	return sb_peer_nvblas(SB_PEER_AS_SHIPPED, memory, row);
}

static double measure_nvblas_pinning(struct sb_bench_pace pace,
				     const struct sb_bench_product *product,
				     enum sb_bench_memory memory, int row)
{
	(void)pace;
	(void)product;
	return sb_peer_nvblas(SB_PEER_PINNING, memory, row);
}

/* The backend comes first, since the others are compared with its result. */
static const struct side sides[] = {
	{"#backend_ms", "#x_backend", measure_backend},
	{"#cublasxt_ms", "#x_cublasxt", measure_cublasxt},
	{"#nvblas_ms", "#x_nvblas", measure_nvblas},
	{"#nvblas_pinning_ms", "#x_nvblas_pinning", measure_nvblas_pinning},
};

enum { SIDES = sizeof sides / sizeof *sides, FIXED = 15 };

static void say_difference(struct sb_table *table, const struct sb_bench_product *product)
{
	if (!sb_bench_whole(product, product->c))
		sb_table_cell(table, "wrong");
	else if (product->reference)
		sb_table_cell(table, "%.2e", sb_bench_difference(product));
	else
		sb_table_cell(table, "-");
}

/* Our call in the arithmetic that is in force, and what became of it; its seconds. */
static double measure_call(struct sb_bench *bench, struct sb_table *table,
			   struct sb_bench_bounds *bounds, const struct sb_bench_product *product,
			   enum sb_bench_memory memory, int row)
{
	const struct sb_bench_shape *shape = product->shape;
	double ours = measure_ours(bench->pace, product, memory, row), bound = -1;
	struct sb_last last;

	sb_bench_row(table, shape);
	sb_table_cell(table, "%s", sb_bench_memory_word(memory));
	if (sb_stats_last(&last)) {
		sb_table_cell(table, "%s", sb_side_word(last.outcome.side));
		sb_table_cell(table, "%s", sb_reason_word(last.outcome.reason));
		sb_table_cell(table, "%s", last.outcome.kernel ? last.outcome.kernel : "-");
		sb_table_cell(table, "%s", sb_arithmetic_word(last.outcome.manner.arithmetic));
		if (last.outcome.side == SB_GPU)
			bound = sb_bench_bound(bounds, bench, product, memory, last.outcome.kernel);
	} else {
		for (int cell = 0; cell < 4; cell++)
			sb_table_cell(table, "-");
	}
	say_difference(table, product);
	sb_bench_ms(table, ours);
	sb_bench_rate(table, shape, ours);
	sb_bench_ms(table, bound);
	sb_bench_ratio(table, bound, ours);
	return ours;
}

/* The others are measured once, beside each of ours. */
static void measure_row(struct sb_bench *bench, struct sb_table *table,
			struct sb_bench_bounds *bounds, const struct sb_bench_data *data,
			enum sb_bench_memory memory, int row, int side_count)
{
	struct sb_bench_product product = sb_bench_product(data, &bench->shapes.rows[row]);
	double seconds[SIDES];
	bool measured = false;

	seconds[0] = measure_backend(bench->pace, &product, memory, row);
	if (seconds[0] >= 0)
		product.reference = data->reference;
	memcpy(data->reference, data->c, (size_t)product.extent.c * sizeof(float));
	for (int math = SB_MATH_STRICT; math <= SB_MATH_EMULATED; math++) {
		double ours;

		if (!sb_bench_choose_math(bench, math))
			continue;
		ours = measure_call(bench, table, bounds, &product, memory, row);
		settle();
		for (int side = 1; side < side_count && !measured; side++)
			seconds[side] = sides[side].measure(bench->pace, &product, memory, row);
		measured = true;
		for (int side = 0; side < side_count; side++) {
			sb_bench_ms(table, seconds[side]);
			sb_bench_ratio(table, seconds[side], ours);
		}
	}
}

void sb_bench_choose_mode(void)
{
	for (int row = 0; row < sb_settings_count(); row++)
		if (strcmp(sb_settings_row(row)->variable, "SHIMBLAS_MODE") == 0 &&
		    !sb_settings_given(row))
			sb_route_set_mode(SB_MODE_GPU);
}

static void meet_peers(struct sb_bench *bench)
{
	const char *problem = sb_gpu_no_peers();

	if (problem) {
		sb_page_say(&bench->page, "peers", "%s", problem);
		return;
	}
	sb_page_say(&bench->page, "cublasxt", "%s", sb_peer_cublas_open());
	sb_page_say(&bench->page, "nvblas", "%s",
		    sb_peer_nvblas_open(bench, sb_peer_cublas_path(), backend()->path));
}

void sb_bench_host(struct sb_bench *bench)
{
	bool peers = sb_bench_asked(bench, SB_OPTION_bench_peers);
	int side_count = peers ? SIDES : 1;
	const char *columns[FIXED + 2 * SIDES + 1] = {
		SB_BENCH_COLUMNS, "memory", "side",	"reason",    "kernel", "math",
		"#difference",	  "#ms",    "#TFLOP/s", "#bound_ms", "#share"};
	struct sb_bench_bounds bounds;
	struct sb_table table;

	for (int side = 0; side < side_count; side++) {
		columns[FIXED + 2 * side] = sides[side].column;
		columns[FIXED + 2 * side + 1] = sides[side].ratio;
	}
	sb_bench_choose_mode();
	sb_page_say(&bench->page, "backend", "%s",
		    backend()->function ? backend()->path : "none found");
	if (peers)
		meet_peers(bench);
	sb_bench_bounds_open(&bounds, bench);
	sb_table_open(&table, "host", columns);
	for (int memory = 0; memory < SB_BENCH_MEMORIES; memory++) {
		struct sb_bench_data data;

		if (!sb_bench_open(bench, (enum sb_bench_memory)memory, &data))
			continue;
		for (int row = 0; row < bench->shapes.count; row++)
			measure_row(bench, &table, &bounds, &data, (enum sb_bench_memory)memory,
				    row, side_count);
		sb_bench_data_close(&data);
	}
	if (sb_device_team() && sb_device_team()->count > 1)
		sb_gpu_say_team(&bench->page, sb_device_team());
	sb_page_table(&bench->page, &table);
	sb_bench_bounds_close(&bounds, bench);
}

bool sb_bench_scope(struct sb_bench *bench)
{
	static const char *const columns[] = {SB_BENCH_COLUMNS, "memory", "library", "#ms",
					      "#TFLOP/s",	NULL};
	void *function = dlsym(RTLD_DEFAULT, "sgemm_");
	struct sb_table table;

	if (!function) {
		sb_page_say(&bench->page, "scope", "no sgemm_ there; preload a BLAS");
		return false;
	}
	sb_table_open(&table, "scope", columns);
	for (int memory = 0; memory < SB_BENCH_MEMORIES; memory++) {
		struct sb_bench_data data;

		if (!sb_bench_open(bench, (enum sb_bench_memory)memory, &data))
			continue;
		for (int row = 0; row < bench->shapes.count; row++) {
			const struct sb_bench_shape *shape = &bench->shapes.rows[row];
			struct sb_bench_product product = sb_bench_product(&data, shape);
			double seconds = sb_bench_median(bench->pace, run_f77, function, &product);

			sb_bench_row(&table, shape);
			sb_table_cell(&table, "%s",
				      sb_bench_memory_word((enum sb_bench_memory)memory));
			sb_table_cell(&table, "%s", sb_object_path(function));
			/* A result that is not whole has no time. */
			if (!sb_bench_whole(&product, product.c))
				seconds = -1;
			sb_bench_ms(&table, seconds);
			sb_bench_rate(&table, shape, seconds);
		}
		sb_bench_data_close(&data);
	}
	sb_page_table(&bench->page, &table);
	return true;
}
