/* SPDX-License-Identifier: BSD-3-Clause */
/* The products that a bench multiplies: column-major, C = op(A) op(B). */
#ifndef SB_BENCH_SHAPE_H
#define SB_BENCH_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "option.h"

struct sb_bench_shape {
	int64_t m, n, k;
	bool trans_a, trans_b;
	int64_t pad;	/* elements by which each leading dimension is longer than it must be */
	int64_t offset; /* and by which operands on the device begin behind an aligned address */
};

struct sb_bench_shapes {
	struct sb_bench_shape *rows;
	int count;
};

/*
 * The shapes that the options of `bench` ask for: those a file lists, each with every pad; or a
 * random list, the same for the same seed; or every combination of sizes, transposes and pads.
 * False after a line on standard error if they make no sense or the file cannot be read.
 */
bool sb_bench_shapes_open(struct sb_bench_shapes *shapes, const struct sb_options *options);
void sb_bench_shapes_close(struct sb_bench_shapes *shapes);

/* "nn", "nt", "tn" or "tt". */
const char *sb_bench_transposes(const struct sb_bench_shape *shape);

/* Rows of A, B and C with their pads: the leading dimensions. And the elements each spans. */
struct sb_bench_extent {
	int64_t lda, ldb, ldc;
	int64_t a, b, c;
};
struct sb_bench_extent sb_bench_extent(const struct sb_bench_shape *shape);

/* A generator of random numbers (SplitMix64): the next 64 bits. */
uint64_t sb_bench_random(uint64_t *state);

#endif
