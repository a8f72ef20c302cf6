/* SPDX-License-Identifier: BSD-3-Clause */
/* What the emulated oracle's files share: a tile of C, and products of a tile's windows of k. */
#ifndef SB_ORACLE_TILES_H
#define SB_ORACLE_TILES_H

#include "oracle_emulated.h"
#include "tensor_core.h"

enum { TILE = 128, STRIPS = TILE / SB_CORE_WIDTH, STEPS = 2, PLANES = 3 };

/* A window is 32 of k: two steps of the tensor core, of each plane of both operands. */
struct tile_window {
	struct sb_core_row a[PLANES][STEPS][TILE];
	struct sb_core_eight b[PLANES][STEPS][STRIPS];
};

struct tile_sums {
	float at[TILE][TILE]; /* [i][j] */
};

/* A tile of C that lies within m and n. */
struct tile {
	int64_t i0, j0;
	int rows, columns;
	struct tile_window window;
	struct tile_sums part, cross, total, result;
};

/* Calls make() for each tile of the launch, with memory for it; ends the process without. */
void sb_oracle_tiles(const struct sb_gemm_args *args,
		     void (*make)(const struct sb_gemm_args *args, struct tile *tile));
/* The flags of a tile's rows and columns; 0 without. */
unsigned sb_oracle_flags(const struct sb_gemm_args *args, const struct tile *tile);

/* Whether three bf16 are an element. */
bool sb_oracle_thirds(float x);

void sb_oracle_clear(struct tile_sums *sums);
/* sums += the products of plane a of A and plane b of B, steps of the window ascending. */
void sb_oracle_multiply(const struct tile *tile, enum sb_core_format format, int a, int b,
			struct tile_sums *sums);
/* After the values of k up to `k`: at the end of a chunk and of all k total is added to result, and
 * kept in work where k is cut. */
void sb_oracle_chunk(const struct sb_gemm_args *args, struct tile *tile, int64_t k);
/* C of result, unless k is cut. */
void sb_oracle_store(const struct sb_gemm_args *args, const struct tile *tile);

#endif
