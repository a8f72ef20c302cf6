/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of products measured within a budget. */
#include "tune.h"

#include <stdlib.h>

#include "bench_time.h"

enum { NODES = SB_GRID * SB_GRID * SB_GRID };

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

/* A node that was not reached: as its neighbour, and beside another way as it is there. */
static double guess(struct sb_grids *grids, int way, const struct node *node, bool times)
{
	struct sb_grid *grid = &grids->way[way], *plain = &grids->way[0];
	struct node neighbour;
	double ratio = 1;

	if (!neighbour_of(node, &neighbour))
		return way ? *at(plain, node) : times ? 1e-6 : 1;
	if (way)
		ratio = *at(plain, node) / *at(plain, &neighbour);
	else if (times)
		ratio = (double)sb_grid_sizes[node->m] / sb_grid_sizes[neighbour.m] *
			sb_grid_sizes[node->n] / sb_grid_sizes[neighbour.n] *
			sb_grid_sizes[node->k] / sb_grid_sizes[neighbour.k];
	return ratio * *at(grid, &neighbour);
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

static int fill_way(struct sb_tune *tune, const struct sb_tune_grid *what, int way, double budget,
		    struct sb_grids *grids)
{
	static struct node nodes[NODES];
	double began = sb_bench_now();
	int measured = 0;

	list_nodes(nodes);
	for (int i = 0; i < NODES; i++) {
		const struct node *node = &nodes[i];
		const struct sb_bench_shape shape = shape_of(node, way);
		double *value = at(&grids->way[way], node);
		double expected = what->expect(tune->profile, &shape);
		struct sb_bench_product product;

		if (too_large(tune, &shape) || sb_bench_now() - began + expected > budget) {
			*value = guess(grids, way, node, what->times);
			continue;
		}
		product = sb_bench_product(tune->data, &shape);
		*value = what->measure(tune, &product);
		if (!(*value > 0))
			return -1;
		measured++;
		sb_progress_step(&tune->progress, expected, what->name);
	}
	return measured;
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
		int some = fill_way(tune, what, way, part_of(what->budget, way), grids);

		if (some < 0)
			return some;
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
