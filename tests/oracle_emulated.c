/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole rule, launch by launch as on a device. */
#include "oracle_emulated.h"
#include "oracle.h"
#include "oracle_tiles.h"

#include <stdlib.h>

static void make_flagged(const struct sb_gemm_args *args, struct tile *tile)
{
	if (args->flags_a != NULL && !(sb_oracle_flags(args, tile) & SB_NOT_BF16))
		return;
	sb_oracle(tile->rows, tile->columns, args->k, args->alpha, args->a + tile->i0 * args->a_m,
		  args->a_m, args->a_k, args->b + tile->j0 * args->b_n, args->b_n, args->b_k,
		  args->beta, args->c + tile->i0 + tile->j0 * args->ldc, args->ldc);
}

void sb_oracle_flagged(const struct sb_gemm_args *args)
{
	sb_oracle_tiles(args, make_flagged);
}

static int64_t up(int64_t x, int64_t to)
{
	return (x + to - 1) / to * to;
}

static void *take(int64_t count, size_t size)
{
	void *memory = calloc((size_t)count, size);

	if (memory == NULL)
		abort();
	return memory;
}

/* One operand: its planes where it is split, flagged as a whole where it is not. */
struct side {
	float *panel;
	uint16_t *planes;
	int32_t *exponents;
	uint32_t *flags;
	int64_t ld;
};

static struct side open_side(int64_t extent, int64_t k, const float *from, int64_t from_mn,
			     int64_t from_k)
{
	int64_t ld = up(extent, TILE), depth = up(k, 64);
	struct side side = {NULL, NULL, NULL, take(ld / TILE, sizeof *side.flags), ld};

	if (k < SB_ORACLE_FP16_K) {
		for (int64_t f = 0; f < ld / TILE; f++)
			side.flags[f] = SB_NOT_FP16;
		return side;
	}
	side.panel = take(ld * depth, sizeof *side.panel);
	for (int64_t p = 0; p < k; p++)
		for (int64_t mn = 0; mn < extent; mn++)
			side.panel[p * ld + mn] = from[mn * from_mn + p * from_k];
	side.planes = take(ld * depth * 2, sizeof *side.planes);
	side.exponents = take(up(depth, SB_SPLIT_SLAB) / SB_SPLIT_SLAB * ld, sizeof(int32_t));
	sb_oracle_split(&(struct sb_split_args){.from = side.panel,
						.planes = side.planes,
						.exponents = side.exponents,
						.flags = side.flags,
						.from_i = 1,
						.from_k = ld,
						.ld = ld,
						.exponents_ld = ld,
						.extent = (int32_t)extent,
						.depth = (int32_t)k,
						.padded_extent = (int32_t)ld,
						.padded_depth = (int32_t)depth});
	return side;
}

static void close_side(struct side *side)
{
	free(side->panel);
	free(side->planes);
	free(side->exponents);
	free(side->flags);
}

void sb_oracle_emulated_of(int32_t chunk, int64_t m, int64_t n, int64_t k, float alpha,
			   const float *a, int64_t a_m, int64_t a_k, const float *b, int64_t b_n,
			   int64_t b_k, float beta, float *c, int64_t ldc)
{
	struct side side_a = open_side(m, k, a, a_m, a_k), side_b = open_side(n, k, b, b_n, b_k);
	struct sb_gemm_args args = {.a = a,
				    .b = b,
				    .c = c,
				    .a_m = a_m,
				    .a_k = a_k,
				    .b_n = b_n,
				    .b_k = b_k,
				    .ldc = ldc,
				    .m = (int32_t)m,
				    .n = (int32_t)n,
				    .k = (int32_t)k,
				    .alpha = alpha,
				    .beta = beta,
				    .planes_a = side_a.planes,
				    .planes_b = side_b.planes,
				    .exponents_a = side_a.exponents,
				    .exponents_b = side_b.exponents,
				    .exponents_a_ld = side_a.ld,
				    .exponents_b_ld = side_b.ld,
				    .flags_a = side_a.flags,
				    .flags_b = side_b.flags,
				    .chunk = chunk};

	if (k >= SB_ORACLE_FP16_K)
		sb_oracle_fp16x3(&args);
	sb_oracle_bf16x6(&args);
	sb_oracle_flagged(&args);
	close_side(&side_a);
	close_side(&side_b);
}

void sb_oracle_emulated(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_m,
			int64_t a_k, const float *b, int64_t b_n, int64_t b_k, float beta, float *c,
			int64_t ldc)
{
	sb_oracle_emulated_of(sb_split_chunk(m, n, k), m, n, k, alpha, a, a_m, a_k, b, b_n, b_k,
			      beta, c, ldc);
}
