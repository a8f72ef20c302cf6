/* SPDX-License-Identifier: BSD-3-Clause */
/* The split into two fp16 planes, and the products of what it makes. */
#include "oracle_tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 32, HI = 0, LO = 1, PLANES_HELD = 2, PIECE = 64 };

int64_t sb_oracle_plane(int64_t mn, int64_t k, int plane, int64_t depth)
{
	int64_t piece = (mn / PIECE * (depth / PIECE) + k / PIECE) * 2 + plane;
	int64_t chunk = mn % PIECE / 8 ^ (k & 7);

	return piece * PIECE * PIECE + k % PIECE * PIECE + chunk * 8 + mn % 8;
}

static int64_t deep(int64_t k)
{
	return (k + PIECE - 1) / PIECE * PIECE;
}

static float element(const struct sb_split_args *args, int64_t mn, int64_t k)
{
	return mn < args->extent && k < args->depth
		       ? args->from[mn * args->from_i + k * args->from_k]
		       : 0;
}

/* The exponent that scales row mn in the slab from k0 on; false where there is none. */
static bool scale(const struct sb_split_args *args, int64_t mn, int64_t k0, int64_t k1, int *e)
{
	float most = 0;
	bool finite = true;

	for (int64_t k = k0; k < k1; k++) {
		float x = fabsf(element(args, mn, k));

		finite = finite && isfinite(x);
		most = fmaxf(most, x);
	}
	*e = most > 0 && finite ? 14 - ilogbf(most) : 0;
	if (finite && abs(*e) <= 56)
		return true;
	*e = 0;
	return false;
}

/* Splits one element; false if the two parts do not hold it. */
static bool split(float x, int e, uint16_t *hi, uint16_t *lo)
{
	float y = x * ldexpf(1, e), rest;

	/* As most are where a small operand is padded. */
	if (x == 0 && !signbit(x)) {
		*hi = *lo = 0;
		return true;
	}
	*hi = sb_core_round(SB_CORE_FP16, y);
	rest = y - sb_core_value(SB_CORE_FP16, *hi);
	*lo = sb_core_round(SB_CORE_FP16, rest * 2048.0f);
	rest -= sb_core_value(SB_CORE_FP16, *lo) * 0x1p-11f;
	return fabsf(rest) <= 0x1p-22f * fabsf(y) && (y != 0 || x == 0);
}

static void pack(const struct sb_split_args *args)
{
	for (int64_t k = 0; k < args->padded_depth; k++)
		for (int64_t mn = 0; mn < args->padded_extent; mn++)
			args->panel[k * args->ld + mn] = element(args, mn, k);
}

void sb_oracle_split(const struct sb_split_args *args)
{
	if (args->panel)
		pack(args);
	for (int64_t mn = 0; mn < args->padded_extent; mn++) {
		uint32_t *flags = &args->flags[(mn + args->middle) / TILE];

		for (int64_t k0 = 0; k0 < args->padded_depth; k0 += SB_SPLIT_SLAB) {
			int64_t k1 = k0 + SB_SPLIT_SLAB < args->padded_depth ? k0 + SB_SPLIT_SLAB
									     : args->padded_depth;
			int e;
			bool held = scale(args, mn, k0, k1, &e);

			for (int64_t k = k0; k < k1; k++) {
				int64_t at = sb_oracle_plane(mn, k, HI, args->padded_depth);
				uint16_t hi, lo;

				held = split(element(args, mn, k), e, &hi, &lo) && held;
				if (!sb_oracle_thirds(element(args, mn, k)))
					*flags |= SB_NOT_BF16;
				if (!args->planes)
					continue;
				args->planes[at] = hi;
				args->planes[at + PIECE * PIECE] = lo;
			}
			if (args->planes)
				args->exponents[k0 / SB_SPLIT_SLAB * args->exponents_ld + mn] =
					(127 - e) * (1 << 23);
			if (!held)
				*flags |= SB_NOT_FP16;
			if (e < SB_NEAR_LEAST || e > SB_NEAR_MOST)
				*flags |= SB_FAR_FP16;
		}
	}
}

static void load(const struct sb_gemm_args *args, struct tile *tile, int64_t k0)
{
	int64_t depth = deep(args->k);

	for (int s = 0; s < PLANES_HELD * STEPS; s++) {
		int plane = s / STEPS, step = s % STEPS;
		int64_t k1 = k0 + step * SB_CORE_DEPTH;

		for (int i = 0; i < tile->rows; i++) {
			uint16_t bits[SB_CORE_DEPTH];

			for (int p = 0; p < SB_CORE_DEPTH; p++)
				bits[p] = args->planes_a[sb_oracle_plane(tile->i0 + i, k1 + p,
									 plane, depth)];
			sb_core_row_set(&tile->window.a[plane][step][i], SB_CORE_FP16, bits);
		}
		for (int j = 0; j < tile->columns; j += SB_CORE_WIDTH)
			for (int p = 0; p < SB_CORE_DEPTH; p++)
				sb_core_eight_set(&tile->window.b[plane][step][j / SB_CORE_WIDTH],
						  SB_CORE_FP16, p,
						  &args->planes_b[sb_oracle_plane(
							  tile->j0 + j, k1 + p, plane, depth)]);
	}
}

/* total = fma(sums, 2^-(e of A + e of B) * down, total) */
static void add(const struct sb_gemm_args *args, struct tile *tile, int64_t slab, float down,
		const struct tile_sums *sums)
{
	const int32_t *a = args->exponents_a + slab * args->exponents_a_ld + tile->i0;
	const int32_t *b = args->exponents_b + slab * args->exponents_b_ld + tile->j0;

	for (int i = 0; i < tile->rows; i++)
		for (int j = 0; j < tile->columns; j++)
			tile->total.at[i][j] = fmaf(sums->at[i][j],
						    sb_core_float((uint32_t)a[i]) *
							    sb_core_float((uint32_t)b[j]) * down,
						    tile->total.at[i][j]);
}

static void make(const struct sb_gemm_args *args, struct tile *tile)
{
	if (sb_oracle_flags(args, tile) & SB_NOT_FP16)
		return;
	sb_oracle_clear(&tile->total);
	for (int64_t k = 0; k < deep(args->k);) {
		int64_t slab = k / SB_SPLIT_SLAB;

		sb_oracle_clear(&tile->cross);
		for (; k < deep(args->k) && k / SB_SPLIT_SLAB == slab; k += WINDOW) {
			load(args, tile, k);
			sb_oracle_clear(&tile->part);
			sb_oracle_multiply(tile, SB_CORE_FP16, HI, HI, &tile->part);
			sb_oracle_multiply(tile, SB_CORE_FP16, LO, HI, &tile->cross);
			sb_oracle_multiply(tile, SB_CORE_FP16, HI, LO, &tile->cross);
			add(args, tile, slab, 1.0f, &tile->part);
		}
		add(args, tile, slab, 0x1p-11f, &tile->cross);
		sb_oracle_chunk(args, tile, k);
	}
	sb_oracle_store(args, tile);
}

void sb_oracle_fp16x3(const struct sb_gemm_args *args)
{
	sb_oracle_tiles(args, make);
}
