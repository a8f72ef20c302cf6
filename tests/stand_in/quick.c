/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of 16 rows and 4 columns are summed at once, so that a vector unit has enough to do; each
 * element's own order is the one-sum rule's. Operands are gathered into strips first, A's of 16 and
 * B's of 4, padded with zeros that only reach sums which nobody stores. To be compiled with
 * -ffp-contract=off: the epilogue rounds twice.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "quick.h"
#include "tensor_map.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROWS = 16, COLUMNS = 4, TILE = 128 };

/* The strips are private, and instrumenting the innermost loop makes it ten times slower. */
#define UNWATCHED __attribute__((no_sanitize("address", "thread", "undefined")))

struct sums {
	float at[COLUMNS][ROWS];
};

/* chain = A strip times B strip over depth values of k, ascending, from +0 */
UNWATCHED static void chain_portable(struct sums *chain, const float *a, const float *b, int depth)
{
	memset(chain, 0, sizeof *chain);
	for (int k = 0; k < depth; k++)
		for (int j = 0; j < COLUMNS; j++)
			for (int i = 0; i < ROWS; i++)
				chain->at[j][i] =
					fmaf(a[k * ROWS + i], b[k * COLUMNS + j], chain->at[j][i]);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) UNWATCHED static void
chain_fma(struct sums *chain, const float *a, const float *b, int depth)
{
	__m256 sum[COLUMNS][2];

	for (int j = 0; j < COLUMNS; j++)
		sum[j][0] = sum[j][1] = _mm256_setzero_ps();
	for (int k = 0; k < depth; k++) {
		__m256 low = _mm256_loadu_ps(a + k * ROWS);
		__m256 high = _mm256_loadu_ps(a + k * ROWS + 8);

#pragma GCC unroll 4
		for (int j = 0; j < COLUMNS; j++) {
			__m256 value = _mm256_broadcast_ss(b + k * COLUMNS + j);

			sum[j][0] = _mm256_fmadd_ps(low, value, sum[j][0]);
			sum[j][1] = _mm256_fmadd_ps(high, value, sum[j][1]);
		}
	}
	for (int j = 0; j < COLUMNS; j++) {
		_mm256_storeu_ps(chain->at[j], sum[j][0]);
		_mm256_storeu_ps(chain->at[j] + 8, sum[j][1]);
	}
}
#endif

typedef void chain_function(struct sums *, const float *, const float *, int);

static chain_function *choose(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return chain_fma;
#endif
	return chain_portable;
}

/* to[k * width + i] = from[i * stride_i + k * stride_k], zero for i >= count */
static void gather(float *to, int width, const float *from, int64_t stride_i, int64_t stride_k,
		   int count, int depth)
{
	for (int k = 0; k < depth; k++)
		for (int i = 0; i < width; i++)
			to[(size_t)k * (size_t)width + (size_t)i] =
				i < count ? from[i * stride_i + k * stride_k] : 0;
}

static int least(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

static void store_one(const struct sb_gemm_args *args, float total, int i, int j)
{
	float *c = args->c + i + (int64_t)j * args->ldc;
	float t = args->alpha * total;
	float old;

	if (args->beta != 0) {
		old = args->beta * *c;
		t = t + old;
	}
	*c = t;
}

static void store(const struct sb_gemm_args *args, const struct sums *total, int i0, int j0)
{
	for (int j = 0; j < least(COLUMNS, args->n - j0); j++)
		for (int i = 0; i < least(ROWS, args->m - i0); i++)
			store_one(args, total->at[j][i], i0 + i, j0 + j);
}

/* The totals that the launch before has left. */
static void left(const struct sb_gemm_args *args, struct sums *total, int i0, int j0)
{
	for (int j = 0; j < least(COLUMNS, args->n - j0); j++)
		for (int i = 0; i < least(ROWS, args->m - i0); i++)
			total->at[j][i] = args->c[i0 + i + (j0 + j) * args->ldc];
}

/* A split kernel's chains of slab number `slab`. */
static void keep(const struct sb_gemm_args *args, const struct sums *chain, int i0, int j0,
		 int64_t slab)
{
	for (int j = 0; j < least(COLUMNS, args->n - j0); j++)
		for (int i = 0; i < least(ROWS, args->m - i0); i++)
			args->work[slab * args->m * args->n + (i0 + i) * args->work_i +
				   (j0 + j) * args->work_j] = chain->at[j][i];
}

/* With `apart` the chains are kept, for a sum kernel to make C of. */
static void block(const struct sb_gemm_args *args, chain_function *run, const float *a,
		  const float *b, int i0, int j0, bool apart)
{
	struct sums total = {{{0}}}, chain;

	if (args->resume && !apart)
		left(args, &total, i0, j0);
	for (int k = 0; k < args->k; k += SB_SLAB) {
		run(&chain, a + (size_t)k * ROWS, b + (size_t)k * COLUMNS,
		    least(SB_SLAB, args->k - k));
		if (apart) {
			keep(args, &chain, i0, j0, k / SB_SLAB);
			continue;
		}
		for (int j = 0; j < COLUMNS; j++)
			for (int i = 0; i < ROWS; i++)
				total.at[j][i] += chain.at[j][i];
	}
	if (!apart)
		store(args, &total, i0, j0);
}

static bool multiply(const struct sb_gemm_args *args, bool apart)
{
	size_t depth = (size_t)args->k;
	size_t strips = ((size_t)args->n + COLUMNS - 1) / COLUMNS;
	float *a = malloc(depth * ROWS * sizeof *a);
	float *b = malloc(depth * COLUMNS * strips * sizeof *b);
	chain_function *run = choose();

	/* Not the program's fault, and yet the end of the context: there is no other for a launch.
	 */
	for (size_t s = 0; a && b && s < strips; s++)
		gather(b + s * depth * COLUMNS, COLUMNS, args->b + (int64_t)s * COLUMNS * args->b_n,
		       args->b_n, args->b_k, least(COLUMNS, args->n - (int64_t)s * COLUMNS),
		       args->k);
	for (int i = 0; a && b && i < args->m; i += ROWS) {
		gather(a, ROWS, args->a + i * args->a_m, args->a_m, args->a_k,
		       least(ROWS, args->m - i), args->k);
		for (size_t s = 0; s < strips; s++)
			block(args, run, a, b + s * depth * COLUMNS, i, (int)s * COLUMNS, apart);
	}
	free(a);
	free(b);
	return a && b;
}

/* Whether the kernel may touch a rows x columns operand of these strides, which may be negative. */
static bool reach(struct CUctx_st *context, const float *p, int64_t rows, int64_t row,
		  int64_t columns, int64_t column, const char *what)
{
	int64_t down = (rows - 1) * row, across = (columns - 1) * column;
	int64_t first = (down < 0 ? down : 0) + (across < 0 ? across : 0);
	int64_t last = (down > 0 ? down : 0) + (across > 0 ? across : 0);

	if ((uintptr_t)p % sizeof *p) {
		world_violation("%s: %p is not aligned", what, (const void *)p);
		return false;
	}
	return memory_reach(context, p + first, (size_t)(last - first + 1) * sizeof *p, what);
}

static int64_t whole(int64_t extent, unsigned tile)
{
	return (extent + tile - 1) / tile * tile;
}

/* A canonical panel reaches to whole tiles, and is zero beyond extent and depth. */
static bool panel(struct CUctx_st *context, const float *p, int64_t ld, int64_t extent,
		  int64_t depth, unsigned tile, unsigned tile_k, const char *what)
{
	int64_t full = whole(extent, tile), deep = whole(depth, tile_k);

	if (ld < full || !reach(context, p, full, 1, deep, ld, what)) {
		world_violation("%s: a panel of %ld columns for %ld", what, (long)ld, (long)full);
		return false;
	}
	for (int64_t k = 0; k < deep; k++)
		for (int64_t i = k < depth ? extent : 0; i < full; i++)
			if (p[k * ld + i] != 0) {
				world_violation("%s: the padding of a panel is not zero", what);
				return false;
			}
	return true;
}

/* A map ends where the operand does, which may lie in place then, or describes a panel. */
static bool mapped(struct CUctx_st *context, const struct sb_tensor_map *opaque, const float *p,
		   int64_t ld, int64_t extent, int64_t depth, unsigned tile, unsigned tile_k,
		   const char *what)
{
	struct sb_stand_in_map map;

	memcpy(&map, opaque, sizeof map);
	if (map.magic != SB_TENSOR_MAP_MAGIC || map.rank != 2 || map.type != SB_CU_TENSOR_FLOAT32 ||
	    map.address != (uintptr_t)p || map.stride[0] != (uint64_t)ld * sizeof *p ||
	    map.size[0] < (uint64_t)extent || map.size[0] > (uint64_t)ld ||
	    map.size[1] < (uint64_t)depth || map.box[0] != tile || map.box[1] != tile_k) {
		world_violation("%s: a tensor map that does not describe it", what);
		return false;
	}
	if (map.size[0] == (uint64_t)extent && map.size[1] == (uint64_t)depth)
		return reach(context, p, extent, 1, depth, ld, what);
	return panel(context, p, ld, extent, depth, tile, tile_k, what);
}

bool quick_panels(struct CUctx_st *context, const struct kernel *kernel,
		  const struct sb_gemm_args *g)
{
	unsigned m = kernel->tile_m, n = kernel->tile_n, k = kernel->tile_k;

	if (kernel->bulk)
		return mapped(context, &g->map_a, g->a, g->a_k, g->m, g->k, m, k, "A") &&
		       mapped(context, &g->map_b, g->b, g->b_k, g->n, g->k, n, k, "B");
	return !kernel->panels || (panel(context, g->a, g->a_k, g->m, g->k, m, k, "A") &&
				   panel(context, g->b, g->b_k, g->n, g->k, n, k, "B"));
}

static bool apart(const struct kernel *kernel, const struct sb_gemm_args *g)
{
	return kernel->split && g->k > SB_SLAB;
}

static bool permitted(struct CUctx_st *context, const struct kernel *kernel,
		      const struct sb_gemm_args *g)
{
	if (!reach(context, g->a, g->m, g->a_m, g->k, g->a_k, "A") ||
	    !reach(context, g->b, g->n, g->b_n, g->k, g->b_k, "B") ||
	    !(apart(kernel, g) ? reach(context, g->work, g->m * (int64_t)g->n, 1,
				       (g->k + SB_SLAB - 1) / SB_SLAB, g->m * (int64_t)g->n, "work")
			       : reach(context, g->c, g->m, 1, g->n, g->ldc, "C")))
		return false;
	return quick_panels(context, kernel, g);
}

/* A kernel that cannot resume would begin with zero; and C cannot be a total and an old C both. */
static bool may_resume(const struct kernel *kernel, const struct sb_gemm_args *g)
{
	if (!g->resume || (kernel->resumes && g->beta == 0))
		return true;
	world_violation("%s cannot resume", kernel->name);
	return false;
}

static bool flagged(const struct sb_gemm_args *args, int64_t i, int64_t j)
{
	return args->flags_a && (args->flags_a[i / TILE] | args->flags_b[j / TILE]) & SB_NOT_BF16;
}

/* Of an emulated product, the tiles that the kernels before have left. */
static bool multiply_left(const struct sb_gemm_args *args)
{
	for (int64_t i = 0; i < args->m; i += TILE)
		for (int64_t j = 0; j < args->n; j += TILE) {
			struct sb_gemm_args tile = *args;

			if (!flagged(args, i, j))
				continue;
			tile.a += i * args->a_m;
			tile.b += j * args->b_n;
			tile.c += i + j * args->ldc;
			tile.m = least(TILE, args->m - i);
			tile.n = least(TILE, args->n - j);
			if (!multiply(&tile, false))
				return false;
		}
	return true;
}

bool quick_gemm(struct CUctx_st *context, const struct kernel *kernel,
		const struct sb_gemm_args *args)
{
	if (!may_resume(kernel, args) || !permitted(context, kernel, args))
		return false;
	if (!args->flags_a)
		return multiply(args, apart(kernel, args));
	if (!kernel->panels || kernel->tile_m != kernel->tile_n ||
	    (kernel->tile_m != TILE && kernel->tile_m != TILE / 4)) {
		world_violation("%s knows nothing of flags", kernel->name);
		return false;
	}
	return quick_flags(context, args) && multiply_left(args);
}

bool quick_sum(struct CUctx_st *context, const struct sb_gemm_args *g)
{
	int64_t length = g->part ? g->chunk : SB_SLAB;
	int64_t extent = (int64_t)g->m * g->n, slabs = (g->k + length - 1) / length;

	if ((g->part && !quick_flags(context, g)) ||
	    !reach(context, g->work, extent, 1, slabs, extent, "work") ||
	    !reach(context, g->c, g->m, 1, g->n, g->ldc, "C"))
		return false;
	for (int j = 0; j < g->n; j++)
		for (int i = 0; i < g->m; i++) {
			float total = g->resume ? g->c[i + j * g->ldc] : 0;

			if (g->part && flagged(g, i, j))
				continue;
			for (int64_t s = 0; s < slabs; s++)
				total += g->work[s * extent + i * g->work_i + j * g->work_j];
			store_one(g, total, i, j);
		}
	return true;
}

bool quick_pack(struct CUctx_st *context, const struct kernel *kernel, const struct sb_pack_args *p)
{
	(void)kernel;
	if (p->extent > 0 && p->depth > 0 &&
	    !reach(context, p->from, p->extent, p->from_i, p->depth, p->from_k, "source of a pack"))
		return false;
	if (!reach(context, p->to, p->padded_extent, 1, p->padded_depth, p->ld,
		   "destination of a pack"))
		return false;
	for (int64_t k = 0; k < p->padded_depth; k++)
		for (int64_t i = 0; i < p->padded_extent; i++)
			p->to[k * p->ld + i] = i < p->extent && k < p->depth
						       ? p->from[i * p->from_i + k * p->from_k]
						       : 0;
	return true;
}
