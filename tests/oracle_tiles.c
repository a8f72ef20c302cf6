/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -ffp-contract=off: the epilogue rounds three times. */
#include "oracle_tiles.h"

#include <stdlib.h>
#include <string.h>

static int least(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

void sb_oracle_tiles(const struct sb_gemm_args *args,
		     void (*make)(const struct sb_gemm_args *args, struct tile *tile))
{
	struct tile *tile = malloc(sizeof *tile);

	if (tile == NULL)
		abort();
	for (tile->j0 = 0; tile->j0 < args->n; tile->j0 += TILE) {
		for (tile->i0 = 0; tile->i0 < args->m; tile->i0 += TILE) {
			tile->rows = least(TILE, args->m - tile->i0);
			tile->columns = least(TILE, args->n - tile->j0);
			make(args, tile);
		}
	}
	free(tile);
}

unsigned sb_oracle_flags(const struct sb_gemm_args *args, const struct tile *tile)
{
	return (args->flags_a != NULL ? args->flags_a[tile->i0 / TILE] : 0) |
	       (args->flags_b != NULL ? args->flags_b[tile->j0 / TILE] : 0);
}

void sb_oracle_clear(struct tile_sums *sums)
{
	memset(sums, 0, sizeof *sums);
}

void sb_oracle_multiply(const struct tile *tile, enum sb_core_format format, int a, int b,
			struct tile_sums *sums)
{
	for (int s = 0; s < STEPS; s++)
		for (int i = 0; i < tile->rows; i++)
			for (int j = 0; j < tile->columns; j += SB_CORE_WIDTH)
				sb_tensor_core_dots(format, &tile->window.a[a][s][i],
						    &tile->window.b[b][s][j / SB_CORE_WIDTH],
						    &sums->at[i][j]);
}

static void keep(const struct sb_gemm_args *args, const struct tile *tile, int64_t chunk)
{
	for (int j = 0; j < tile->columns; j++)
		for (int i = 0; i < tile->rows; i++)
			args->work[(chunk * args->n + tile->j0 + j) * args->m + tile->i0 + i] =
				tile->total.at[i][j];
}

void sb_oracle_chunk(const struct sb_gemm_args *args, struct tile *tile, int64_t k)
{
	if (k < args->k && k % args->chunk != 0)
		return;
	if (args->part)
		keep(args, tile, (k - 1) / args->chunk);
	if (k <= args->chunk)
		sb_oracle_clear(&tile->result);
	for (int i = 0; i < tile->rows; i++)
		for (int j = 0; j < tile->columns; j++)
			tile->result.at[i][j] += tile->total.at[i][j];
	sb_oracle_clear(&tile->total);
}

void sb_oracle_store(const struct sb_gemm_args *args, const struct tile *tile)
{
	for (int j = 0; j < tile->columns && !args->part; j++) {
		for (int i = 0; i < tile->rows; i++) {
			float *c = args->c + tile->i0 + i + (tile->j0 + j) * args->ldc;
			float left = args->resume ? *c : 0, sum = left + tile->result.at[i][j];
			float t = args->alpha * sum;

			if (args->beta != 0.0f) {
				float scaled = args->beta * *c;

				t = t + scaled;
			}
			*c = t;
		}
	}
}
