/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One product through the emulated tier's kernels on the exact engine, launch by launch as on a
 * device: the operands' split, the products of fp16, those of bf16 for the tiles that the split
 * flags, the strict ones for what those flag. Each launch is compared with the oracle's, bit by
 * bit: everything that it may write, and that it writes nothing else.
 */
#ifndef SB_EMULATED_CASE_H
#define SB_EMULATED_CASE_H

#include "exact.h"

#include <stddef.h>
#include <stdint.h>

enum sb_emulated_values {
	SB_EMULATED_PLAIN,    /* of both signs and a few sizes */
	SB_EMULATED_POSITIVE, /* of one sign: nothing cancels */
	SB_EMULATED_WIDE,     /* exponents from -15 to 15 */
	SB_EMULATED_ROWS,     /* each row (of k) of another size, from 2^-30 to 2^30 */
	SB_EMULATED_OUTLIER,  /* one large element a row; the other operand's is zero there */
	SB_EMULATED_SLABS, /* scales as far apart as near ones may be, the last one the largest */
	SB_EMULATED_FAR_SLABS, /* and farther */
	SB_EMULATED_TINY,      /* denormal floats */
	SB_EMULATED_LARGE      /* the largest floats: sums overflow */
};

/* The next such element: number k of row mn. */
float sb_emulated_value(uint32_t *state, enum sb_emulated_values kind, int mn, int k);

/* An element that is changed. */
struct sb_emulated_poke {
	char operand; /* 'a' or 'b'; 0 ends the list */
	int mn, k;
	float value;
};

struct sb_emulated_case {
	int m, n, k;
	int gap; /* of C's leading dimension, and by how many elements C is off 128 bytes */
	float alpha, beta;
	enum sb_emulated_values a, b;
	int blocks; /* at most so many of a persistent launch */
	const struct sb_emulated_poke *pokes;
	int chunk; /* as of a larger product; 0: of this one */
};

/* How many tiles each kind of product has written. */
struct sb_emulated_tiles {
	int fp16x3, bf16x6, strict;
};

/* NULL, or what is wrong: valid until the next call. */
const char *sb_emulated_case_run(const struct sb_emulated_case *test,
				 struct sb_emulated_tiles *tiles);

/*
 * The kernels of devices that multiply by warps: bf16x6sync where a tile's number is even along m
 * or odd along n, the others being left to fp16x3, and multistage for what it flags. counts are of
 * bf16x6sync and may be NULL.
 */
const char *sb_emulated_case_run_warps(const struct sb_emulated_case *test,
				       struct sb_emulated_tiles *tiles,
				       struct sb_exact_counts *counts);

/*
 * Both with k cut into parts of that length; of the second all tiles are left to bf16x6sync. C and
 * the flags are compared when the sum kernel has run, with what is made where k is not cut.
 */
const char *sb_emulated_case_run_cut(const struct sb_emulated_case *test, int part,
				     struct sb_emulated_tiles *tiles);
const char *sb_emulated_case_run_warps_cut(const struct sb_emulated_case *test, int part,
					   struct sb_emulated_tiles *tiles);

/* The rows of kernels.def; of other than tensor core kernels, the method has the tile in its name.
 */
struct sb_emulated_row {
	const char *name, *method;
	int BM, BN, BK, threads, cluster, dynamic;
};
extern const struct sb_emulated_row sb_emulated_rows[];
extern const size_t sb_emulated_row_count;
/* The first row of that method; its name is NULL if there is none. */
struct sb_emulated_row sb_emulated_row(const char *method);

#endif
