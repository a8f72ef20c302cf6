/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of emulated_case.h share: the memory of a product, once for the kernels and once
 * for the oracle, and launches that may touch some of it.
 */
#ifndef SB_EMULATED_RUN_H
#define SB_EMULATED_RUN_H

#include "emulated_case.h"

#include <stdbool.h>

#include "args.h"

/* Memory that a launch may read or write; a second one of the kind is the oracle's. */
enum { PANEL_A, PANEL_B, PLANES_A, PLANES_B, EXPONENTS_A, EXPONENTS_B, FLAGS_A, FLAGS_B, C, WORK };
enum { KINDS = WORK + 1 };
struct memory {
	unsigned char *bytes[KINDS];
	size_t count[KINDS];
};

struct run {
	const struct sb_emulated_case *test;
	struct memory own, oracle;
	unsigned readable, writable;	/* bits of kinds */
	struct sb_exact_counts *counts; /* of the next launch, or NULL */
	int64_t ld_a, ld_b, ldc, depth;
	int part; /* of k, where it is cut, or 0 */
};

/* Takes the memory and fills it; false if there is too little, and to be closed even so. */
bool emulated_open(struct run *run);
void emulated_close(struct run *run);

/* What the launches are given; operands are split on both sides, and compared. */
struct sb_gemm_args emulated_product(const struct run *run, const struct memory *memory);
const char *emulated_split(struct run *run, int of);
void emulated_map(struct sb_tensor_map *map, const void *panel, int64_t ld, int64_t depth,
		  int box_i, int box_k);
/* A launch of the kernel of that name, as its row says; and whether all that it may have written is
 * what the oracle says. */
const char *emulated_start(const struct run *run, const char *name, int64_t blocks,
			   const struct sb_emulated_row *row, const void *args, size_t size);
const char *emulated_compare(const struct run *run, const char *what);
void emulated_count(const struct run *run, struct sb_emulated_tiles *tiles);

int64_t emulated_up(int64_t x, int64_t to);

#endif
