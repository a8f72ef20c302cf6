/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emulated products in the quick engine: the oracle's launches, after a look at what each may
 * touch.
 */
#include "../oracle_emulated.h"
#include "quick.h"

enum { TILE = 128, PIECE = 64 };

static int64_t whole(int64_t extent, int64_t tile)
{
	return (extent + tile - 1) / tile * tile;
}

/* Is all of it there, and aligned to `alignment` bytes? */
static bool there(struct CUctx_st *context, const void *p, int64_t count, size_t bytes,
		  uintptr_t alignment, const char *what)
{
	if (!p || (uintptr_t)p % alignment) {
		world_violation("%s: %p is not there or not aligned", what, p);
		return false;
	}
	return memory_reach(context, p, (size_t)count * bytes, what);
}

bool quick_flags(struct CUctx_st *context, const struct sb_gemm_args *g)
{
	return !g->flags_a || (there(context, g->flags_a, whole(g->m, TILE) / TILE,
				     sizeof *g->flags_a, sizeof *g->flags_a, "flags of A") &&
			       there(context, g->flags_b, whole(g->n, TILE) / TILE,
				     sizeof *g->flags_b, sizeof *g->flags_b, "flags of B"));
}

static bool parts(struct CUctx_st *context, const uint16_t *planes, const int32_t *exponents,
		  int64_t ld, int64_t extent, int64_t tile, int64_t depth)
{
	int64_t rows = whole(extent, tile), deep = whole(depth, PIECE);
	int64_t slabs = whole(deep, SB_SPLIT_SLAB) / SB_SPLIT_SLAB;

	if (ld < rows) {
		world_violation("exponents of %ld rows for %ld", (long)ld, (long)rows);
		return false;
	}
	return there(context, planes, 2 * rows * deep, sizeof *planes, 128, "planes") &&
	       there(context, exponents, (slabs - 1) * ld + rows, sizeof *exponents,
		     sizeof *exponents, "exponents");
}

bool quick_emulated(struct CUctx_st *context, const struct kernel *kernel, unsigned blocks,
		    const struct sb_gemm_args *g)
{
	int64_t chunks = whole(g->k, g->chunk) / g->chunk;
	int64_t sums = g->part ? (int64_t)g->m * g->n * chunks
			       : (int64_t)blocks * kernel->tile_m * kernel->tile_n;

	if (!there(context, g->c, (g->n - 1) * g->ldc + g->m, sizeof *g->c, sizeof *g->c, "C") ||
	    (g->k > g->chunk && !there(context, g->work, sums, sizeof *g->work, 128, "work")) ||
	    !quick_flags(context, g))
		return false;
	if (kernel->kind == KERNEL_FP16X3) {
		if (!parts(context, g->planes_a, g->exponents_a, g->exponents_a_ld, g->m, TILE,
			   g->k) ||
		    !parts(context, g->planes_b, g->exponents_b, g->exponents_b_ld, g->n, TILE,
			   g->k))
			return false;
		sb_oracle_fp16x3(g);
		return true;
	}
	if (!quick_panels(context, kernel, g))
		return false;
	sb_oracle_bf16x6(g);
	return true;
}

/* Whatever the strides, none is negative. */
static int64_t spread(const struct sb_split_args *s)
{
	return (s->extent - 1) * s->from_i + (s->depth - 1) * s->from_k + 1;
}

bool quick_split(struct CUctx_st *context, const struct sb_split_args *s)
{
	if (!there(context, s->from, spread(s), sizeof *s->from, s->panel ? sizeof *s->from : 128,
		   "source of a split") ||
	    !there(context, s->flags, whole(s->middle + s->padded_extent, TILE) / TILE,
		   sizeof *s->flags, sizeof *s->flags, "flags") ||
	    (s->panel && !there(context, s->panel, (s->padded_depth - 1) * s->ld + s->padded_extent,
				sizeof *s->panel, 128, "panel")) ||
	    (s->planes && !parts(context, s->planes, s->exponents, s->exponents_ld,
				 s->padded_extent, PIECE, s->padded_depth)))
		return false;
	sb_oracle_split(s);
	return true;
}
