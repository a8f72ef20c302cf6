/* SPDX-License-Identifier: BSD-3-Clause */
/* The products of three bf16 parts of each element, and what happens where those do not hold it. */
#include "oracle_tiles.h"

#include <stddef.h>

enum { WINDOW = 32 };

/* The parts, rounded; false if they are not all there is, as of what is not finite. */
static bool split(float x, uint16_t *part)
{
	float rest = x;

	for (int p = 0; p < PLANES; p++) {
		part[p] = sb_core_round(SB_CORE_BF16, rest);
		rest -= sb_core_value(SB_CORE_BF16, part[p]);
	}
	return rest == 0;
}

bool sb_oracle_thirds(float x)
{
	uint16_t part[PLANES];

	return split(x, part);
}

static bool load_a(const struct sb_gemm_args *args, struct tile *tile, int64_t k0)
{
	bool held = true;

	for (int i = 0; i < tile->rows; i++)
		for (int s = 0; s < STEPS; s++) {
			uint16_t bits[PLANES][SB_CORE_DEPTH] = {{0}}, part[PLANES];
			int64_t k1 = k0 + s * SB_CORE_DEPTH;

			for (int64_t k = k1; k < k1 + SB_CORE_DEPTH && k < args->k; k++) {
				held = split(args->a[(tile->i0 + i) * args->a_m + k * args->a_k],
					     part) &&
				       held;
				for (int p = 0; p < PLANES; p++)
					bits[p][k - k1] = part[p];
			}
			for (int p = 0; p < PLANES; p++)
				sb_core_row_set(&tile->window.a[p][s][i], SB_CORE_BF16, bits[p]);
		}
	return held;
}

static bool load_b(const struct sb_gemm_args *args, struct tile *tile, int64_t k0)
{
	bool held = true;

	for (int k = 0; k < WINDOW; k++)
		for (int s = 0; s < STRIPS; s++) {
			uint16_t part[SB_CORE_WIDTH][PLANES] = {{0}}, turned[SB_CORE_WIDTH];
			int64_t j0 = s * SB_CORE_WIDTH;

			for (int64_t j = j0; j < j0 + SB_CORE_WIDTH && j < tile->columns; j++)
				if (k0 + k < args->k)
					held = split(args->b[(tile->j0 + j) * args->b_n +
							     (k0 + k) * args->b_k],
						     part[j - j0]) &&
					       held;
			for (int p = 0; p < PLANES; p++) {
				for (int j = 0; j < SB_CORE_WIDTH; j++)
					turned[j] = part[j][p];
				sb_core_eight_set(&tile->window.b[p][k / SB_CORE_DEPTH][s],
						  SB_CORE_BF16, k % SB_CORE_DEPTH, turned);
			}
		}
	return held;
}

static void make(const struct sb_gemm_args *args, struct tile *tile)
{
	static const int order[][2] = {{0, 2}, {1, 1}, {2, 0}, {0, 1}, {1, 0}, {0, 0}};
	bool a_held = true, b_held = true;

	if (args->flags_a != NULL && !(sb_oracle_flags(args, tile) & SB_NOT_FP16))
		return;
	sb_oracle_clear(&tile->total);
	for (int64_t k = 0; k < args->k;) {
		a_held = load_a(args, tile, k) && a_held;
		b_held = load_b(args, tile, k) && b_held;
		sb_oracle_clear(&tile->part);
		for (int o = 0; ((a_held && b_held) || args->flags_a == NULL) && o < 6; o++)
			sb_oracle_multiply(tile, SB_CORE_BF16, order[o][0], order[o][1],
					   &tile->part);
		for (int i = 0; i < tile->rows; i++)
			for (int j = 0; j < tile->columns; j++)
				tile->total.at[i][j] += tile->part.at[i][j];
		k += WINDOW;
		sb_oracle_chunk(args, tile, k);
	}
	if (!a_held && args->flags_a != NULL)
		args->flags_a[tile->i0 / TILE] |= SB_NOT_BF16;
	if (!b_held && args->flags_b != NULL)
		args->flags_b[tile->j0 / TILE] |= SB_NOT_BF16;
	if (!(sb_oracle_flags(args, tile) & SB_NOT_BF16))
		sb_oracle_store(args, tile);
}

void sb_oracle_bf16x6(const struct sb_gemm_args *args)
{
	sb_oracle_tiles(args, make);
}
