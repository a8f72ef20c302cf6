/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_case.h"
#include "args.h"
#include "cuda_types.h"
#include "oracle.h"
#include "tensor_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANY, PANELS };

const struct sb_kernel_row sb_kernel_rows[] = {
#define SB_KERNEL(method, BM, BN, BK, threads, blocks, TM, TN, stages, dynamic, form, arch, text)  \
	{"sgemm_" #method "_" #BM "x" #BN "x" #BK,                                                 \
	 #method,                                                                                  \
	 BM,                                                                                       \
	 BN,                                                                                       \
	 BK,                                                                                       \
	 threads,                                                                                  \
	 TM,                                                                                       \
	 TN,                                                                                       \
	 stages,                                                                                   \
	 dynamic,                                                                                  \
	 form == PANELS,                                                                           \
	 arch,                                                                                     \
	 text},
#include "kernels.def"
};
const size_t sb_kernel_row_count = sizeof sb_kernel_rows / sizeof sb_kernel_rows[0];

static char message[700];

const struct sb_kernel_row *sb_kernel_row(const char *name)
{
	for (size_t r = 0; r < sb_kernel_row_count; r++)
		if (strcmp(sb_kernel_rows[r].name, name) == 0)
			return &sb_kernel_rows[r];
	return NULL;
}

/* A buffer whose elements begin `shift` floats after a 128-byte boundary. */
struct buffer {
	float *memory, *at;
	size_t count;
	bool readable, writable;
};

static bool take(struct buffer *buffer, size_t count, int shift, bool readable, bool writable)
{
	size_t bytes = (count + (size_t)shift + 32) * sizeof(float);

	buffer->memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
	buffer->at = buffer->memory != NULL ? buffer->memory + shift : NULL;
	buffer->count = count;
	buffer->readable = readable;
	buffer->writable = writable;
	return buffer->memory != NULL;
}

static void give(struct buffer *buffer)
{
	free(buffer->memory);
	*buffer = (struct buffer){0};
}

struct buffers {
	struct buffer a, b, c, panel_a, panel_b, work;
};

static bool inside(const struct buffer *buffer, const void *pointer, size_t bytes)
{
	uintptr_t begin = (uintptr_t)buffer->at, p = (uintptr_t)pointer;

	return buffer->at != NULL && p >= begin &&
	       p + bytes <= begin + buffer->count * sizeof(float);
}

static bool check(void *context, const void *pointer, size_t bytes, bool write)
{
	const struct buffers *all = context;
	const struct buffer *list[] = {&all->a,	      &all->b,	     &all->c,
				       &all->panel_a, &all->panel_b, &all->work};

	for (size_t b = 0; b < sizeof list / sizeof list[0]; b++)
		if (inside(list[b], pointer, bytes))
			return write ? list[b]->writable : list[b]->readable;
	return false;
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static float value(uint32_t *state, enum sb_kernel_values values)
{
	float mantissa = (float)next(state) / 16777216.0f - 0.5f;
	uint32_t kind = next(state) % 97;

	if (values == SB_VALUES_NOT_FINITE && kind == 0)
		return (float)NAN;
	if (values == SB_VALUES_NOT_FINITE && kind == 1)
		return next(state) % 2 ? INFINITY : -INFINITY;
	if (values == SB_VALUES_NOT_FINITE && kind < 9)
		return 0.0f;
	if (values == SB_VALUES_TINY)
		return ldexpf(mantissa, kind % 2 ? -70 : -73);
	return ldexpf(mantissa, (int)(kind % 13) - 6);
}

static int64_t up(int64_t x, int64_t to)
{
	return (x + to - 1) / to * to;
}

static void set_map(struct sb_tensor_map *map, const float *panel, int64_t extent, int64_t depth,
		    int box_i, int box_k)
{
	const struct sb_stand_in_map m = SB_PANEL_MAP(panel, extent, depth, box_i, box_k);

	memset(map->opaque, 0, sizeof map->opaque);
	memcpy(map->opaque, &m, sizeof m);
}

/* Packs op(X), i by k, into a panel that the check then lets be read. */
static int pack(struct buffers *all, struct buffer *panel, const float *from, int64_t from_i,
		int64_t from_k, int extent, int depth, int tile, int BK)
{
	const char *name = from_i == 1 ? "pack_along_128x8" : "pack_across_32x32";
	int box_i = from_i == 1 ? 128 : 32, box_k = from_i == 1 ? 8 : 32;
	struct sb_pack_args args = {
		.from = from,
		.from_i = from_i,
		.from_k = from_k,
		.extent = extent,
		.depth = depth,
		.padded_extent = (int32_t)up(up(extent, tile), SB_PAD),
		.padded_depth = (int32_t)up(depth, BK),
	};
	struct sb_exact_memory memory = {all, check};
	int result;

	args.ld = args.padded_extent;
	if (!take(panel, (size_t)args.ld * (size_t)args.padded_depth, 0, false, true))
		return -1;
	memset(panel->at, 0xff, panel->count * sizeof(float));
	args.to = panel->at;
	result = sb_exact_run(name,
			      (unsigned)(up(args.padded_extent, box_i) / box_i *
					 (up(args.padded_depth, box_k) / box_k)),
			      256, 0, &args, sizeof args, &memory, NULL);
	panel->readable = true;
	panel->writable = false;
	return result;
}

static const char *compare(const struct sb_kernel_row *row, const struct sb_kernel_case *test,
			   int cut, const float *c, const float *expected, const float *before,
			   int64_t ldc)
{
	for (int64_t j = 0; j < test->n; j++) {
		for (int64_t i = 0; i < ldc; i++) {
			float was = c[i + j * ldc], right = expected[i + j * ldc];

			if (i < test->m ? sb_oracle_same(was, right)
					: memcmp(&was, &before[i + j * ldc], sizeof was) == 0)
				continue;
			snprintf(message, sizeof message,
				 "%s: %dx%dx%d%s%s gap %d shift %d alpha %g beta %g cut %d: "
				 "C(%d,%d) is "
				 "%a, not %a",
				 row->name, test->m, test->n, test->k, test->trans_a ? " TA" : "",
				 test->trans_b ? " TB" : "", test->gap, test->shift, test->alpha,
				 test->beta, cut, (int)i, (int)j, was, right);
			return message;
		}
	}
	return NULL;
}

static bool persists(const struct sb_kernel_row *row)
{
	return strcmp(row->method, "persistent") == 0;
}

static bool splits(const struct sb_kernel_row *row)
{
	return strcmp(row->method, "split") == 0 || strcmp(row->method, "slab") == 0 ||
	       strcmp(row->method, "thin") == 0 || strcmp(row->method, "gather") == 0 ||
	       strcmp(row->method, "rank") == 0;
}

static bool flat(const struct sb_kernel_row *row)
{
	return strcmp(row->method, "thin") == 0 && row->BM < row->BN;
}

/* The launch, and that of the sum kernel where the slabs' chains are kept apart. */
static int run(const struct sb_kernel_row *row, struct sb_gemm_args *args, struct buffers *all,
	       struct sb_exact_counts *counts)
{
	struct sb_exact_memory memory = {all, check};
	int64_t slabs = splits(row) ? up(args->k, SB_SLAB) / SB_SLAB : 1;
	int64_t extent = (int64_t)args->m * args->n;
	int64_t tiles = up(args->m, row->BM) / row->BM * (up(args->n, row->BN) / row->BN);
	bool shares =
		persists(row) && tiles > 3 && up(args->k, row->BK) / row->BK + 1 >= row->stages;
	int64_t blocks = shares ? 3 : tiles * slabs;
	int result;

	if (persists(row)) {
		int64_t sums = blocks * row->BM * row->BN, flags = blocks * (row->threads / 32);

		if (!take(&all->work, (size_t)(sums + flags), 0, true, true))
			return -1;
		args->work = all->work.at;
		memset(args->work, 0xff, (size_t)sums * sizeof(float));
		memset(args->work + sums, 0, (size_t)flags * sizeof(float));
	} else if (slabs > 1) {
		if (!take(&all->work, (size_t)(extent * slabs), 0, false, true))
			return -1;
		args->work = all->work.at;
		args->work_i = flat(row) ? args->n : 1;
		args->work_j = flat(row) ? 1 : args->m;
		memset(all->work.at, 0xff, all->work.count * sizeof(float));
	}
	result = sb_exact_run(row->name, (unsigned)blocks, (unsigned)row->threads,
			      (unsigned)row->dynamic, args, sizeof *args, &memory, counts);
	if (result != 0 || slabs == 1)
		return result;
	all->work.readable = true;
	all->work.writable = false;
	/* Each of the two for half of the rows. */
	if (row->threads > 128)
		return sb_exact_run("sum_slabs_32x64", (unsigned)(up(extent, 32) / 32), 256, 0,
				    args, sizeof *args, &memory, NULL);
	return sb_exact_run("sum_slabs_256x16", (unsigned)(up(extent, 256) / 256), 256, 0, args,
			    sizeof *args, &memory, NULL);
}

/* The operands of the launch as panels, made anew. */
static int use_panels(const struct sb_kernel_row *row, struct sb_gemm_args *args,
		      struct buffers *all)
{
	int result;

	give(&all->panel_a);
	give(&all->panel_b);
	result = pack(all, &all->panel_a, args->a, args->a_m, args->a_k, args->m, args->k, row->BM,
		      row->BK);
	if (result == 0)
		result = pack(all, &all->panel_b, args->b, args->b_n, args->b_k, args->n, args->k,
			      row->BN, row->BK);
	args->a = all->panel_a.at;
	args->b = all->panel_b.at;
	args->a_m = args->b_n = 1;
	args->a_k = up(up(args->m, row->BM), SB_PAD);
	args->b_k = up(up(args->n, row->BN), SB_PAD);
	if (result == 0) {
		set_map(&args->map_a, args->a, args->a_k, up(args->k, row->BK), row->BM, row->BK);
		set_map(&args->map_b, args->b, args->b_k, up(args->k, row->BK), row->BN, row->BK);
	}
	return result;
}

/* All of k at once, or in two launches. */
static int run_parts(const struct sb_kernel_row *row, const struct sb_kernel_case *test, int cut,
		     const struct sb_gemm_args whole, struct buffers *all,
		     struct sb_exact_counts *counts)
{
	const int borders[] = {0, cut, test->k};
	int result = 0;

	for (int p = cut ? 0 : 1; p < 2 && result == 0; p++) {
		struct sb_gemm_args args = whole;
		int k0 = cut ? borders[p] : 0;

		args.k = borders[p + 1] - k0;
		args.a += k0 * args.a_k;
		args.b += k0 * args.b_k;
		args.alpha = borders[p + 1] == test->k ? test->alpha : 1;
		args.resume = k0 > 0;
		all->c.readable = all->c.readable || args.resume;
		give(&all->work);
		if (row->panels)
			result = use_panels(row, &args, all);
		if (result == 0)
			result = run(row, &args, all, counts);
	}
	return result;
}

static const char *run_case(const struct sb_kernel_row *row, const struct sb_kernel_case *test,
			    int cut, struct sb_exact_counts *counts)
{
	int64_t lda = (test->trans_a ? test->k : test->m) + test->gap;
	int64_t ldb = (test->trans_b ? test->n : test->k) + test->gap;
	int64_t ldc = test->m + test->gap;
	struct buffers all = {0};
	struct buffer expected = {0}, before = {0};
	struct sb_gemm_args args = {.m = test->m,
				    .n = test->n,
				    .k = test->k,
				    .ldc = ldc,
				    .alpha = test->alpha,
				    .beta = test->beta};
	uint32_t seed = 20u + (uint32_t)(test->m * 7 + test->n * 3 + test->k);
	const char *wrong = NULL;
	int result = 0;

	if (!take(&all.a, (size_t)(lda * (test->trans_a ? test->m : test->k)), test->shift, true,
		  false) ||
	    !take(&all.b, (size_t)(ldb * (test->trans_b ? test->k : test->n)), test->shift, true,
		  false) ||
	    !take(&all.c, (size_t)(ldc * test->n), test->shift, test->beta != 0.0f, true) ||
	    !take(&expected, all.c.count, 0, true, true) ||
	    !take(&before, all.c.count, 0, true, true)) {
		wrong = "no memory";
		goto leave;
	}
	for (size_t e = 0; e < all.a.count; e++)
		all.a.at[e] = value(&seed, test->values);
	for (size_t e = 0; e < all.b.count; e++)
		all.b.at[e] = value(&seed, test->values);
	memset(all.c.at, 0xff, all.c.count * sizeof(float));
	if (test->beta != 0.0f)
		for (int64_t j = 0; j < test->n; j++)
			for (int64_t i = 0; i < test->m; i++)
				all.c.at[i + j * ldc] = value(&seed, test->values);
	memcpy(before.at, all.c.at, all.c.count * sizeof(float));
	memcpy(expected.at, all.c.at, all.c.count * sizeof(float));

	args.a = all.a.at;
	args.a_m = test->trans_a ? lda : 1;
	args.a_k = test->trans_a ? 1 : lda;
	args.b = all.b.at;
	args.b_n = test->trans_b ? 1 : ldb;
	args.b_k = test->trans_b ? ldb : 1;
	args.c = all.c.at;
	sb_oracle(test->m, test->n, test->k, test->alpha, args.a, args.a_m, args.a_k, args.b,
		  args.b_n, args.b_k, test->beta, expected.at, ldc);
	result = run_parts(row, test, cut, args, &all, counts);
	if (result != 0) {
		snprintf(message, sizeof message, "%s", sb_exact_message());
		wrong = message;
	} else {
		wrong = compare(row, test, cut, all.c.at, expected.at, before.at, ldc);
	}
leave:
	give(&all.a);
	give(&all.b);
	give(&all.c);
	give(&all.panel_a);
	give(&all.panel_b);
	give(&all.work);
	give(&expected);
	give(&before);
	return wrong;
}

const char *sb_kernel_case_run(const struct sb_kernel_row *row, const struct sb_kernel_case *test,
			       struct sb_exact_counts *counts)
{
	return run_case(row, test, 0, counts);
}

const char *sb_kernel_case_run_cut(const struct sb_kernel_row *row,
				   const struct sb_kernel_case *test, int cut)
{
	return run_case(row, test, cut, NULL);
}
