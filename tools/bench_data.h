/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operands of a bench. A and B hold random numbers, uniform from -1 to 1, the same in every
 * run; C is poisoned before each product with a NaN of its own kind, so that what was not written,
 * or was written beside it, is seen.
 */
#ifndef SB_BENCH_DATA_H
#define SB_BENCH_DATA_H

#include <stddef.h>

#include "bench_shape.h"

/* Memory for the largest of a list of shapes; all products share it. */
struct sb_bench_data {
	float *a, *b, *c;
	float *reference; /* a result to compare with; spans as much as c */
	void (*release)(void *);
};

/* A product in that memory. */
struct sb_bench_product {
	const struct sb_bench_shape *shape;
	struct sb_bench_extent extent;
	const float *a, *b;
	float *c;
	const float *reference; /* a right C, which spans as much; NULL while there is none */
};

/*
 * Takes the memory from `take` (size in bytes; NULL if there is none) and fills A and B. False if
 * it cannot be had; then nothing is kept.
 */
bool sb_bench_data_open(struct sb_bench_data *data, const struct sb_bench_shapes *shapes,
			void *(*take)(size_t bytes), void (*release)(void *));
void sb_bench_data_close(struct sb_bench_data *data);

/* Pageable memory, aligned to a page. */
void *sb_bench_take_pageable(size_t bytes);

struct sb_bench_product sb_bench_product(const struct sb_bench_data *data,
					 const struct sb_bench_shape *shape);

/* The bits of the poison, and the span of C filled with them. */
#define SB_BENCH_POISON 0x7fc5b1a5u
void sb_bench_poison(const struct sb_bench_product *product);

/* Was every element of C written, and nothing of the gaps? `c` spans as much as the product's C. */
bool sb_bench_whole(const struct sb_bench_product *product, const float *c);

/* The Frobenius norm of C - reference over that of the reference. */
double sb_bench_difference(const struct sb_bench_product *product);

/* Is C whole, and the product that was meant, as far as there is a reference to tell by? */
bool sb_bench_right(const struct sb_bench_product *product);

#endif
