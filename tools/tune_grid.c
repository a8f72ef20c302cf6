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

static struct sb_bench_shape shape_of(const struct node *node)
{
	return (struct sb_bench_shape){.m = sb_grid_sizes[node->m],
				       .n = sb_grid_sizes[node->n],
				       .k = sb_grid_sizes[node->k]};
}

static bool too_large(const struct sb_tune *tune, const struct sb_bench_shape *shape)
{
	return shape->m > tune->largest || shape->n > tune->largest || shape->k > tune->largest;
}

/* From the neighbour with one size less, the largest there is: nodes come in an order in which it
 * has been filled. */
static double from_neighbour(const struct sb_grid *grid, const struct node *node, bool times)
{
	const double(*plane)[SB_GRID] = grid->at[node->m];
	int most = node->m > node->n ? node->m : node->n;

	if (node->k > most)
		most = node->k;
	if (most == 0)
		return 1e-6;
	if (node->m == most)
		return grid->at[most - 1][node->n][node->k] *
		       (times ? (double)sb_grid_sizes[most] / sb_grid_sizes[most - 1] : 1);
	if (node->n == most)
		return plane[most - 1][node->k] *
		       (times ? (double)sb_grid_sizes[most] / sb_grid_sizes[most - 1] : 1);
	return plane[node->n][most - 1] *
	       (times ? (double)sb_grid_sizes[most] / sb_grid_sizes[most - 1] : 1);
}

/* A larger product is not faster: what says so was disturbed. */
static void straighten(struct sb_grid *grid)
{
	for (int m = 0; m < SB_GRID; m++)
		for (int n = 0; n < SB_GRID; n++)
			for (int k = 0; k < SB_GRID; k++) {
				double *here = &grid->at[m][n][k];

				if (m && *here < grid->at[m - 1][n][k])
					*here = grid->at[m - 1][n][k];
				if (n && *here < grid->at[m][n - 1][k])
					*here = grid->at[m][n - 1][k];
				if (k && *here < grid->at[m][n][k - 1])
					*here = grid->at[m][n][k - 1];
			}
}

int sb_tune_fill(struct sb_tune *tune, const struct sb_tune_grid *what, struct sb_grid *grid)
{
	double began = sb_bench_now();
	struct node nodes[NODES];
	int measured = 0;

	list_nodes(nodes);
	for (int i = 0; i < NODES; i++) {
		const struct node *node = &nodes[i];
		const struct sb_bench_shape shape = shape_of(node);
		double *value = &grid->at[node->m][node->n][node->k];
		double expected = what->expect(tune->profile, &shape);

		if (too_large(tune, &shape) || sb_bench_now() - began + expected > what->budget) {
			*value = from_neighbour(grid, node, what->times);
			continue;
		}
		{
			struct sb_bench_product product = sb_bench_product(tune->data, &shape);

			*value = what->measure(tune, &product);
		}
		if (!(*value > 0))
			return -1;
		measured++;
		sb_progress_step(&tune->progress, expected, what->name);
	}
	if (what->times)
		straighten(grid);
	return measured;
}

double sb_tune_expected(const struct sb_tune *tune, const struct sb_tune_grid *what)
{
	struct node nodes[NODES];
	double sum = 0;

	list_nodes(nodes);
	for (int i = 0; i < NODES; i++) {
		const struct sb_bench_shape shape = shape_of(&nodes[i]);
		double expected = what->expect(tune->profile, &shape);

		if (!too_large(tune, &shape) && sum + expected <= what->budget)
			sum += expected;
	}
	return sum;
}
