/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of products measured within a budget. */
#include "tune.h"

#include <math.h>
#include <stdlib.h>

#include "bench_time.h"
#include "clock.h"

enum { NODES = SB_GRID * SB_GRID * SB_GRID };

#define FAR	1.4 /* times what is beside it */
#define TELLING 8   /* so many cubes have begun to be as fast as they get */

struct node {
	int m, n, k;
	double work;
};

static int by_work(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->work > y->work) - (x->work < y->work);
}

static void list_nodes(struct node *nodes)
{
	for (int i = 0; i < NODES; i++) {
		struct node *node = &nodes[i];
		double m, n, k;

		node->m = i / (SB_GRID * SB_GRID);
		node->n = i / SB_GRID % SB_GRID;
		node->k = i % SB_GRID;
		m = sb_grid_sizes[node->m];
		n = sb_grid_sizes[node->n];
		k = sb_grid_sizes[node->k];
		/* Small products are long in proportion to what they touch. */
		node->work = m * n * k + 64 * (m * k + k * n + m * n);
	}
	qsort(nodes, NODES, sizeof *nodes, by_work);
}

static struct sb_bench_shape shape_of(const struct node *node, int way)
{
	return (struct sb_bench_shape){
		.m = sb_grid_sizes[node->m],
		.n = sb_grid_sizes[node->n],
		.k = sb_grid_sizes[node->k],
		.trans_a = way == sb_grid_way(true, false) || way == sb_grid_way(true, true),
		.trans_b = way == sb_grid_way(false, true) || way == sb_grid_way(true, true)};
}

/* No operand has more elements than those of the largest square. */
static bool too_large(const struct sb_tune *tune, const struct sb_bench_shape *shape)
{
	int64_t most = tune->largest * tune->largest;

	return shape->m * shape->k > most || shape->k * shape->n > most ||
	       shape->m * shape->n > most;
}

static double *at(struct sb_grid *grid, const struct node *node)
{
	return &grid->at[node->m][node->n][node->k];
}

/* The neighbour with one size less, the largest there is: in the order of the nodes it comes
 * before. False: the first of all has none. */
static bool neighbour_of(const struct node *node, struct node *neighbour)
{
	int *most;

	*neighbour = *node;
	most = node->m >= node->n ? &neighbour->m : &neighbour->n;
	if (node->k > *most)
		most = &neighbour->k;
	return --*most >= 0;
}

/* Multiplications a second of a cube of this size, by those on the diagonal that were measured. */
static double cube_rate(const struct sb_grid *grid, int cubes, double size)
{
	double below = 0, above = 0;
	int i = 0;

	while (i < cubes - 1 && sb_grid_sizes[i] < size)
		i++;
	above = cbrt(1 / grid->at[i][i][i]) * sb_grid_sizes[i];
	if (i == 0 || sb_grid_sizes[i] < size)
		return above * above * above;
	below = cbrt(1 / grid->at[i - 1][i - 1][i - 1]) * sb_grid_sizes[i - 1];
	above = below + (above - below) * log(size / sb_grid_sizes[i - 1]) /
				log((double)sb_grid_sizes[i] / sb_grid_sizes[i - 1]);
	return above * above * above;
}

static double work_of(const struct node *node)
{
	return (double)sb_grid_sizes[node->m] * sb_grid_sizes[node->n] * sb_grid_sizes[node->k];
}

/* The best of them. */
static double best_rate(const struct sb_grid *grid, int cubes)
{
	double best = 0;

	for (int i = 0; i < cubes; i++) {
		double rate = cube_rate(grid, cubes, sb_grid_sizes[i]);

		best = rate > best ? rate : best;
	}
	return best;
}

/*
 * A node that was not reached: in proportion to its neighbour, with as much more of the rate as
 * cubes of such work have, but no more than the best of them; in another way as in nn, with half of
 * what its neighbour differs from that; and a factor is its neighbour's.
 */
static double guess(struct sb_grids *grids, int way, const struct node *node, bool times, int cubes)
{
	struct sb_grid *grid = &grids->way[way], *plain = &grids->way[0];
	double work = work_of(node), before, least, seconds;
	struct node neighbour;

	if (!neighbour_of(node, &neighbour))
		return way ? *at(plain, node) : times ? 1e-6 : 1;
	before = *at(grid, &neighbour);
	if (way)
		return *at(plain, node) * (1 + before / *at(plain, &neighbour)) / 2;
	if (!times)
		return before;
	seconds = before * work / work_of(&neighbour);
	if (cubes < TELLING)
		return seconds;
	seconds *= cube_rate(grid, cubes, cbrt(work_of(&neighbour))) /
		   cube_rate(grid, cubes, cbrt(work));
	least = work / best_rate(grid, cubes);
	if (seconds < least)
		seconds = least;
	return seconds > before ? seconds : before;
}

/* A larger product is not faster: where one is, the smaller was disturbed. What disturbs a
 * measurement makes it longer. */
static void straighten(struct sb_grid *grid)
{
	for (int m = SB_GRID - 1; m >= 0; m--)
		for (int n = SB_GRID - 1; n >= 0; n--)
			for (int k = SB_GRID - 1; k >= 0; k--) {
				double *here = &grid->at[m][n][k];

				if (m < SB_GRID - 1 && *here > grid->at[m + 1][n][k])
					*here = grid->at[m + 1][n][k];
				if (n < SB_GRID - 1 && *here > grid->at[m][n + 1][k])
					*here = grid->at[m][n + 1][k];
				if (k < SB_GRID - 1 && *here > grid->at[m][n][k + 1])
					*here = grid->at[m][n][k + 1];
			}
}

/* What it takes to fill the grids of one way. */
struct filling {
	struct sb_tune *tune;
	const struct sb_tune_grid *what;
	struct sb_grids *grids;
	int way;
	double began, budget;
	int cubes; /* on the diagonal that were measured, from the smallest on */
	int measured;
};

/* Measures a node, if there is time for it; negative: it cannot be. */
static int try_node(struct filling *f, const struct node *node, double budget)
{
	const struct sb_bench_shape shape = shape_of(node, f->way);
	double expected = f->what->expect(f->tune->profile, &shape);
	double *value = at(&f->grids->way[f->way], node);
	struct sb_bench_product product;

	if (too_large(f->tune, &shape) || sb_clock_now() - f->began + expected > budget)
		return 0;
	product = sb_bench_product(f->tune->data, &shape);
	*value = f->what->measure(f->tune, &product);
	if (!(*value > 0))
		return -1;
	f->measured++;
	sb_progress_step(&f->tune->progress, expected, f->what->name);
	return 1;
}

/* Cubes first, so that it is known how the rate grows towards what there will be no time for. */
static bool fill_cubes(struct filling *f)
{
	for (; f->cubes < SB_GRID; f->cubes++) {
		const struct node node = {f->cubes, f->cubes, f->cubes, 0};
		int tried = try_node(f, &node, f->budget / 2);

		if (tried <= 0)
			return tried == 0;
	}
	return true;
}

static bool is_cube(const struct node *node)
{
	return node->m == node->n && node->n == node->k;
}

static int fill_way(struct filling *f)
{
	static struct node nodes[NODES];

	f->began = sb_clock_now();
	if (f->what->times && !f->way && !fill_cubes(f))
		return -1;
	list_nodes(nodes);
	for (int i = 0; i < NODES; i++) {
		const struct node *node = &nodes[i];
		int tried = is_cube(node) && node->m < f->cubes ? 1 : try_node(f, node, f->budget);

		if (tried < 0)
			return -1;
		if (!tried)
			*at(&f->grids->way[f->way], node) =
				guess(f->grids, f->way, node, f->what->times, f->cubes);
	}
	return f->measured;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle of the values one size away. */
static double around(const struct sb_grid *grid, const struct node *node)
{
	double values[6];
	int count = 0;

	for (int axis = 0; axis < 3; axis++)
		for (int step = -1; step <= 1; step += 2) {
			int m = node->m + (axis == 0 ? step : 0);
			int n = node->n + (axis == 1 ? step : 0);
			int k = node->k + (axis == 2 ? step : 0);

			if (m >= 0 && n >= 0 && k >= 0 && m < SB_GRID && n < SB_GRID && k < SB_GRID)
				values[count++] = grid->at[m][n][k];
		}
	qsort(values, (size_t)count, sizeof *values, compare);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* A factor far above all those beside it was disturbed, and is measured again. */
static bool look_again(const struct filling *f)
{
	struct sb_grid *grid = &f->grids->way[f->way];
	static struct node nodes[NODES];
	double began = sb_clock_now();

	list_nodes(nodes);
	for (int i = 0; i < NODES && sb_clock_now() - began < f->budget / 8; i++) {
		const struct sb_bench_shape shape = shape_of(&nodes[i], f->way);
		double *value = at(grid, &nodes[i]), again;
		struct sb_bench_product product;

		if (too_large(f->tune, &shape) || *value < FAR * around(grid, &nodes[i]))
			continue;
		product = sb_bench_product(f->tune->data, &shape);
		again = f->what->measure(f->tune, &product);
		if (!(again > 0))
			return false;
		if (again < *value)
			*value = again;
	}
	return true;
}

/* Of a budget what a way gets: nn, which the others lean on, as much as two of them. */
static double part_of(double budget, int way)
{
	return budget * (way ? 1 : 2) / (SB_WAYS + 1);
}

int sb_tune_fill(struct sb_tune *tune, const struct sb_tune_grid *what, struct sb_grids *grids)
{
	int measured = 0;

	for (int way = 0; way < SB_WAYS; way++) {
		struct filling f = {.tune = tune,
				    .what = what,
				    .grids = grids,
				    .way = way,
				    .budget = part_of(what->budget, way)};
		int some = fill_way(&f);

		if (some < 0 || (!what->times && !look_again(&f)))
			return -1;
		measured += some;
	}
	for (int way = 0; way < SB_WAYS && what->times; way++)
		straighten(&grids->way[way]);
	return measured;
}

double sb_tune_expected(const struct sb_tune *tune, const struct sb_tune_grid *what)
{
	static struct node nodes[NODES];
	double all = 0;

	list_nodes(nodes);
	for (int way = 0; way < SB_WAYS; way++) {
		double sum = 0;

		for (int i = 0; i < NODES; i++) {
			const struct sb_bench_shape shape = shape_of(&nodes[i], way);
			double expected = what->expect(tune->profile, &shape);

			if (!too_large(tune, &shape) &&
			    sum + expected <= part_of(what->budget, way))
				sum += expected;
		}
		all += sum;
	}
	return all;
}

int sb_tune_runs(double seconds, int runs, double long_run)
{
	if (seconds > 10 * long_run)
		return 1;
	return 1 + (runs * seconds > long_run ? (int)(long_run / seconds) + 1 : runs);
}
