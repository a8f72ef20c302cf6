/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How well the kernel is picked for operands on the device: every kernel that may be, measured with
 * what it takes to make its panels and predicted, and what is lost by the pick.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "bench_launch.h"
#include "gpu.h"
#include "peer_cublas.h"

/* One that takes so many times as long as the best known is not measured again. */
#define NEAR 1.5
/* One that is predicted to take so many times as long is not measured at all. */
#define FAR 4

struct candidate {
	const struct sb_kernel *kernel;
	/* Seconds, predicted and measured: infinite where it failed. */
	double predicted, gemm, pack_a, pack_b;
};

static double total(const struct candidate *c)
{
	return c->gemm + c->pack_a + c->pack_b;
}

static int by_prediction(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return (a->predicted > b->predicted) - (a->predicted < b->predicted);
}

/* Those that run there and have a rate, the one that is predicted to be best first. */
static int list(struct candidate *all, const struct sb_bench_launch *launch)
{
	const struct sb_bench_shape *shape = launch->product->shape;
	struct sb_target target = sb_launch_target(launch->device);
	int count = 0;

	sb_bench_launch_lie(launch, &target);
	for (int row = 0; row < sb_registry_count(); row++) {
		const struct sb_kernel *kernel = sb_registry_row(row);
		double predicted =
			sb_registry_seconds(kernel, shape->m, shape->n, shape->k, &target);

		if (kernel->arithmetic == SB_STRICT && !isinf(predicted))
			all[count++] = (struct candidate){.kernel = kernel, .predicted = predicted};
	}
	qsort(all, (size_t)count, sizeof *all, by_prediction);
	return count;
}

static double seconds_of(struct sb_bench_launch *launch, struct sb_bench_pace pace,
			 sb_bench_queue *queue)
{
	double seconds = sb_bench_launch_median(launch, pace, queue);

	return seconds < 0 ? (double)INFINITY : seconds;
}

/* What a kernel before it with such tiles took to pack an operand; 0 if none did. */
static double known(const struct candidate *c, int before, bool of_a)
{
	for (int i = 1; i <= before; i++) {
		const struct candidate *other = c - i;
		bool same = of_a ? other->kernel->bm == c->kernel->bm
				 : other->kernel->bn == c->kernel->bn;
		double seconds = of_a ? other->pack_a : other->pack_b;

		if (same && seconds > 0)
			return seconds;
	}
	return 0;
}

static void measure_packs(struct sb_bench_launch *launch, struct sb_bench_pace pace,
			  struct candidate *c, int before)
{
	if (launch->panel_a)
		c->pack_a = known(c, before, true);
	if (launch->panel_b)
		c->pack_b = known(c, before, false);
	if (launch->panel_a && c->pack_a <= 0)
		c->pack_a = seconds_of(launch, pace, sb_bench_launch_pack_a);
	if (launch->panel_b && c->pack_b <= 0)
		c->pack_b = seconds_of(launch, pace, sb_bench_launch_pack_b);
}

/* Measures a candidate that has `before` others before it, the best of which took `best`. */
static void measure(struct sb_bench_launch *launch, struct sb_bench_pace pace, struct candidate *c,
		    int before, double best)
{
	struct sb_bench_pace once = pace;

	once.repeat = 1;
	c->gemm = (double)INFINITY;
	if (c->predicted > FAR * best || !sb_bench_launch_prepare(launch, c->kernel))
		return;
	measure_packs(launch, pace, c, before);
	c->gemm = seconds_of(launch, once, sb_bench_launch_gemm);
	if (pace.repeat > 1 && total(c) < NEAR * best)
		c->gemm = seconds_of(launch, pace, sb_bench_launch_gemm);
	sb_bench_launch_unprepare(launch);
}

/* What is lost by all the picks. */
struct losses {
	int count;
	double logs, worst;
	struct sb_bench_shape where;
};

static void note(struct losses *losses, double lost, const struct sb_bench_shape *shape)
{
	losses->count++;
	losses->logs += log(lost);
	if (lost > losses->worst) {
		losses->worst = lost;
		losses->where = *shape;
	}
}

static void write_rows(const struct sb_bench *bench, struct sb_table *table,
		       const struct sb_bench_shape *shape, const struct candidate *all, int count,
		       double best, double cublas)
{
	for (int i = 0; i < count; i++) {
		const struct candidate *c = &all[i];
		double seconds = isinf(total(c)) ? -1 : total(c);

		sb_bench_row(table, shape);
		sb_table_cell(table, "%s", c->kernel->name);
		sb_bench_us(table, seconds < 0 ? -1 : c->gemm);
		sb_bench_us(table, c->pack_a > 0 ? c->pack_a : -1);
		sb_bench_us(table, c->pack_b > 0 ? c->pack_b : -1);
		sb_bench_us(table, seconds);
		sb_bench_us(table, c->predicted);
		sb_table_cell(table, "%s", i ? "-" : "picked");
		sb_bench_ratio(table, seconds, best);
		if (sb_bench_asked(bench, SB_OPTION_bench_peers)) {
			sb_bench_us(table, cublas);
			sb_bench_ratio(table, cublas, seconds);
		}
	}
}

/* False if the device has not enough memory for the product. */
static bool measure_shape(struct sb_bench *bench, struct sb_table *table, struct sb_device *device,
			  const struct sb_bench_data *data, const struct sb_bench_shape *shape,
			  struct losses *losses)
{
	struct candidate *all = calloc((size_t)sb_registry_count(), sizeof *all);
	struct sb_bench_product product = sb_bench_product(data, shape);
	double best = (double)INFINITY, cublas = -1;
	struct sb_bench_launch launch;
	enum sb_reason why;
	int count;

	if (!all || !sb_bench_launch_open(&launch, device, &product, NULL)) {
		free(all);
		return false;
	}
	launch.in_place = true;
	count = list(all, &launch);
	for (int i = 0; i < count; i++) {
		measure(&launch, bench->pace, &all[i], i, best);
		if (sb_device_health(&why) == SB_HEALTH_LOST) {
			sb_page_say(&bench->page, "lost", "by %s", all[i].kernel->name);
			count = i + 1;
		}
		best = total(&all[i]) < best ? total(&all[i]) : best;
	}
	if (sb_bench_asked(bench, SB_OPTION_bench_peers))
		cublas = sb_bench_launch_median(&launch, bench->pace, sb_bench_launch_cublas);
	write_rows(bench, table, shape, all, count, best, cublas);
	if (count && !isinf(total(&all[0])))
		note(losses, total(&all[0]) / best, shape);
	sb_bench_launch_close(&launch);
	free(all);
	return true;
}

static void say_losses(struct sb_page *page, const struct losses *losses)
{
	const struct sb_bench_shape *w = &losses->where;

	if (!losses->count)
		return;
	sb_page_say(page, "regret",
		    "%d products: %.1f %% in the mean, at worst %.1f %% (%lld x %lld x %lld %s)",
		    losses->count, 100 * (exp(losses->logs / losses->count) - 1),
		    100 * (losses->worst - 1), (long long)w->m, (long long)w->n, (long long)w->k,
		    sb_bench_transposes(w));
}

void sb_bench_picks(struct sb_bench *bench)
{
	const char *columns[16] = {SB_BENCH_COLUMNS, "kernel",	   "#us",
				   "#pack_a_us",     "#pack_b_us", "#all_us",
				   "#predicted_us",  "pick",	   "#x_best"};
	struct sb_device *device = sb_gpu_device();
	struct losses losses = {.count = 0};
	struct sb_bench_data data;
	struct sb_table table;
	struct sb_visit visit;
	int skipped = 0;

	if (!device) {
		sb_page_say(&bench->page, "gpu", "none: %s", sb_gpu_why_not());
		return;
	}
	sb_page_say(&bench->page, "gpu", "%s", device->name);
	if (sb_bench_asked(bench, SB_OPTION_bench_peers)) {
		columns[13] = "#cublas_us";
		columns[14] = "#x_cublas";
		sb_page_say(&bench->page, "cublas", "%s",
			    sb_gpu_no_peers() ? sb_gpu_no_peers() : sb_peer_cublas_open());
	}
	sb_table_open(&table, "picks", columns);
	if (!sb_bench_open(bench, SB_BENCH_PAGEABLE, &data))
		return;
	for (int row = 0; row < bench->shapes.count && sb_gpu_visit(device, &visit); row++) {
		skipped += !measure_shape(bench, &table, device, &data, &bench->shapes.rows[row],
					  &losses);
		sb_gpu_depart(device, &visit);
	}
	sb_bench_data_close(&data);
	sb_page_table(&bench->page, &table);
	say_losses(&bench->page, &losses);
	if (skipped)
		sb_page_say(&bench->page, "skipped", "%d products: not enough memory", skipped);
}
