/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of numbers whose products the bench's table of errors is about: those that programs
 * have, and those on which one way or another of cutting a product into parts goes wrong.
 */
#ifndef SB_BENCH_NUMBERS_H
#define SB_BENCH_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* A is m x k and B is k x n, both column-major without gaps. */
struct sb_bench_operands {
	int64_t m, n, k;
	float *a, *b;
};

struct sb_bench_numbers {
	const char *name;
	void (*fill)(const struct sb_bench_operands *to, double spread, uint64_t *state);
	double spread; /* in powers of two, where the kind has one */
	bool long_too; /* worth the longest sums */
};

int sb_bench_numbers_count(void);
const struct sb_bench_numbers *sb_bench_numbers_row(int row);

#endif
