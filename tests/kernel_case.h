/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One product through one kernel of the table on the exact engine, compared with the oracle bit by
 * bit. Rows of form PANELS get their operands through the pack kernels, as in the library.
 */
#ifndef SB_KERNEL_CASE_H
#define SB_KERNEL_CASE_H

#include "exact.h"

struct sb_kernel_row {
	const char *name, *method;
	int BM, BN, BK, threads, TM, TN, stages, dynamic;
	bool panels;
	int arch;
	const char *text;
};

extern const struct sb_kernel_row sb_kernel_rows[];
extern const size_t sb_kernel_row_count;

/* The row of that name, NULL if there is none. */
const struct sb_kernel_row *sb_kernel_row(const char *name);

enum sb_kernel_values {
	SB_VALUES_PLAIN,      /* finite, of mixed signs and sizes */
	SB_VALUES_NOT_FINITE, /* with NaN and infinities among them */
	SB_VALUES_TINY	      /* products that are denormal or underflow */
};

struct sb_kernel_case {
	int m, n, k;
	bool trans_a, trans_b;
	int gap;   /* added to every leading dimension */
	int shift; /* elements by which every operand is off a 64-byte boundary */
	float alpha, beta;
	enum sb_kernel_values values;
};

/*
 * Runs the case; C's gaps and, if beta is 0, its elements hold NaNs beforehand, and C may then not
 * be read. Returns NULL if every element of C has the oracle's bits and nothing else was touched,
 * else what is wrong, valid until the next call. counts may be NULL.
 */
const char *sb_kernel_case_run(const struct sb_kernel_row *row, const struct sb_kernel_case *test,
			       struct sb_exact_counts *counts);

/* The same in two launches, beta 0: the second one resumes from k = cut, a border of slabs. */
const char *sb_kernel_case_run_cut(const struct sb_kernel_row *row,
				   const struct sb_kernel_case *test, int cut);

#endif
