/* SPDX-License-Identifier: BSD-3-Clause */
/* Emulated products whose k is cut, held against those whose k is not. */
#include "emulated_run.h"
#include "oracle_emulated.h"

enum { PANELS = 1u << PANEL_A | 1u << PANEL_B };
enum { PLANES = 1u << PLANES_A | 1u << PLANES_B | 1u << EXPONENTS_A | 1u << EXPONENTS_B };
enum { FLAGS = 1u << FLAGS_A | 1u << FLAGS_B };

/* Into work alone, which nobody reads meanwhile. */
static const char *multiply(struct run *run, const char *method, unsigned readable)
{
	const struct sb_emulated_case *test = run->test;
	const struct sb_emulated_row row = sb_emulated_row(method);
	struct sb_gemm_args own = emulated_product(run, &run->own);
	int64_t tiles_m = emulated_up(test->m, row.BM) / row.BM;
	int64_t tiles_n = emulated_up(test->n, row.BN) / row.BN;
	int64_t parts = emulated_up(test->k, run->part) / run->part;
	int64_t blocks = emulated_up(tiles_m, row.cluster) * tiles_n * parts;

	own.part = run->part;
	emulated_map(&own.map_a, own.a, run->ld_a, run->depth, row.BM, row.BK);
	emulated_map(&own.map_b, own.b, run->ld_b, run->depth, row.BN, row.BK);
	run->readable = readable | FLAGS;
	run->writable = 1u << WORK | FLAGS;
	return emulated_start(run, row.name, blocks > test->blocks ? test->blocks : blocks, &row,
			      &own, sizeof own);
}

static const char *add_up(struct run *run, const char *name, int elements)
{
	const struct sb_emulated_case *test = run->test;
	const struct sb_emulated_row row = {.threads = 256};
	struct sb_gemm_args own = emulated_product(run, &run->own);
	int64_t extent = (int64_t)test->m * test->n;
	const char *wrong;

	own.part = run->part;
	own.work_i = 1;
	own.work_j = test->m;
	run->readable = FLAGS | 1u << WORK | (test->beta != 0 ? 1u << C : 0);
	run->writable = 1u << C;
	wrong = emulated_start(run, name, emulated_up(extent, elements) / elements, &row, &own,
			       sizeof own);
	return wrong ? wrong : emulated_compare(run, name);
}

/* By one of the sum kernels, the other for other shapes. */
static const char *sum(struct run *run)
{
	return run->test->m % 2 ? add_up(run, "sum_slabs_32x64", 32)
				: add_up(run, "sum_slabs_256x16", 256);
}

static const char *finish(struct run *run, const char *strict)
{
	const struct sb_emulated_row row = sb_emulated_row(strict);
	const struct sb_emulated_case *test = run->test;
	struct sb_gemm_args own = emulated_product(run, &run->own),
			    right = emulated_product(run, &run->oracle);
	const char *wrong;

	emulated_map(&own.map_a, own.a, run->ld_a, run->depth, row.BM, row.BK);
	emulated_map(&own.map_b, own.b, run->ld_b, run->depth, row.BN, row.BK);
	sb_oracle_flagged(&right);
	run->readable = PANELS | FLAGS | (test->beta != 0 ? 1u << C : 0);
	run->writable = 1u << C;
	wrong = emulated_start(run, row.name,
			       emulated_up(test->m, row.BM) / row.BM *
				       (emulated_up(test->n, row.BN) / row.BN),
			       &row, &own, sizeof own);
	return wrong ? wrong : emulated_compare(run, row.name);
}

/* After the tensor cores, unless something was wrong: the sums of the parts, and what is left. */
static const char *end(struct run *run, const char *wrong, const char *strict,
		       struct sb_emulated_tiles *tiles)
{
	if (!wrong)
		wrong = sum(run);
	if (!wrong)
		wrong = finish(run, strict);
	if (!wrong)
		emulated_count(run, tiles);
	emulated_close(run);
	return wrong;
}

const char *sb_emulated_case_run_cut(const struct sb_emulated_case *test, int part,
				     struct sb_emulated_tiles *tiles)
{
	struct run run = {.test = test, .part = part};
	const char *wrong = emulated_open(&run) ? NULL : "no memory";
	struct sb_gemm_args right = emulated_product(&run, &run.oracle);

	for (int of = 0; of < 2 && !wrong; of++)
		wrong = emulated_split(&run, of);
	if (!wrong) {
		sb_oracle_fp16x3(&right);
		sb_oracle_bf16x6(&right);
		wrong = multiply(&run, "fp16x3cut", PLANES);
	}
	if (!wrong)
		wrong = multiply(&run, "bf16x6cut", PANELS);
	return end(&run, wrong, "bulk_32x32x32", tiles);
}

/* As if fp16x3 had left all of it. */
static void leave_all(struct run *run)
{
	uint32_t *own = (uint32_t *)run->own.bytes[FLAGS_A];
	uint32_t *right = (uint32_t *)run->oracle.bytes[FLAGS_A];

	for (size_t i = 0; i < run->own.count[FLAGS_A] / 4; i++)
		own[i] = right[i] = SB_NOT_FP16;
}

const char *sb_emulated_case_run_warps_cut(const struct sb_emulated_case *test, int part,
					   struct sb_emulated_tiles *tiles)
{
	struct run run = {.test = test, .part = part};
	const char *wrong = emulated_open(&run) ? NULL : "no memory";
	struct sb_gemm_args right = emulated_product(&run, &run.oracle);

	if (!wrong) {
		leave_all(&run);
		sb_oracle_bf16x6(&right);
		wrong = multiply(&run, "bf16x6synccut", PANELS);
	}
	return end(&run, wrong, "multistage_128x128x32", tiles);
}
