/* SPDX-License-Identifier: BSD-3-Clause */
#include "emulated_run.h"
#include "cuda_types.h"
#include "oracle.h"
#include "oracle_emulated.h"
#include "tensor_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 128, PADDED = 256, PIECE = 64 };

static char message[800];

static const char *const kind_names[KINDS] = {
	"panel of A",	  "panel of B", "planes of A", "planes of B", "exponents of A",
	"exponents of B", "flags of A", "flags of B",  "C",	      "work"};

static bool check(void *context, const void *pointer, size_t bytes, bool write)
{
	const struct run *run = context;
	uintptr_t p = (uintptr_t)pointer;

	for (int kind = 0; kind < KINDS; kind++) {
		uintptr_t begin = (uintptr_t)run->own.bytes[kind];

		if (begin != 0 && p >= begin && p + bytes <= begin + run->own.count[kind])
			return (write ? run->writable : run->readable) >> kind & 1;
	}
	return false;
}

int64_t emulated_up(int64_t x, int64_t to)
{
	return (x + to - 1) / to * to;
}

static bool take(struct run *run, int kind, int64_t bytes, int fill)
{
	size_t count = (size_t)emulated_up(bytes, 128);

	run->own.count[kind] = run->oracle.count[kind] = (size_t)bytes;
	run->own.bytes[kind] = aligned_alloc(128, count);
	run->oracle.bytes[kind] = aligned_alloc(128, count);
	if (!run->own.bytes[kind] || !run->oracle.bytes[kind])
		return false;
	memset(run->own.bytes[kind], fill, count);
	memset(run->oracle.bytes[kind], fill, count);
	return true;
}

static void fill_panel(struct run *run, int kind, int extent, enum sb_emulated_values values,
		       enum sb_emulated_values others)
{
	const struct sb_emulated_case *test = run->test;
	float *panel = (float *)run->own.bytes[kind];
	int64_t ld = kind == PANEL_A ? run->ld_a : run->ld_b;
	uint32_t seed = 77u + (uint32_t)(kind * 5 + extent * 3 + test->k);

	for (int k = 0; k < test->k; k++)
		for (int mn = 0; mn < extent; mn++) {
			float x = sb_emulated_value(&seed, values, mn, k);

			panel[k * ld + mn] =
				others == SB_EMULATED_OUTLIER && k % 97 == 5 ? 0.0f : x;
		}
	for (const struct sb_emulated_poke *p = test->pokes; p && p->operand; p++)
		if (p->operand == (kind == PANEL_A ? 'a' : 'b'))
			panel[p->k * ld + p->mn] = p->value;
	memcpy(run->oracle.bytes[kind], panel, run->own.count[kind]);
}

/* C as it was: NaNs that nobody makes, but for the elements that beta counts. */
static void fill_c(const struct run *run, unsigned char *bytes)
{
	const struct sb_emulated_case *test = run->test;
	float *c = (float *)bytes + test->gap;
	uint32_t seed = 5;

	memset(bytes, 0xff, run->own.count[C]);
	for (int64_t j = 0; j < test->n && test->beta != 0; j++)
		for (int64_t i = 0; i < test->m; i++)
			c[i + j * run->ldc] = sb_emulated_value(&seed, SB_EMULATED_PLAIN, 0, 0);
}

bool emulated_open(struct run *run)
{
	const struct sb_emulated_case *test = run->test;
	int64_t slabs = emulated_up(test->k, SB_SPLIT_SLAB) / SB_SPLIT_SLAB;
	int64_t sums = (int64_t)test->m * test->n *
		       (emulated_up(test->k, SB_CHUNK_LEAST) / SB_CHUNK_LEAST);

	run->ld_a = emulated_up(test->m, PADDED);
	run->ld_b = emulated_up(test->n, PADDED);
	run->depth = emulated_up(test->k, PIECE);
	run->ldc = test->m + test->gap;
	if (!take(run, PANEL_A, run->ld_a * run->depth * 4, 0) ||
	    !take(run, PANEL_B, run->ld_b * run->depth * 4, 0) ||
	    !take(run, PLANES_A, run->ld_a * run->depth * 4, 0xff) ||
	    !take(run, PLANES_B, run->ld_b * run->depth * 4, 0xff) ||
	    !take(run, EXPONENTS_A, slabs * run->ld_a * 4, 0x55) ||
	    !take(run, EXPONENTS_B, slabs * run->ld_b * 4, 0x55) ||
	    !take(run, FLAGS_A, run->ld_a / TILE * 4, 0) ||
	    !take(run, FLAGS_B, run->ld_b / TILE * 4, 0) ||
	    !take(run, C, (run->ldc * test->n + test->gap) * 4, 0xff) ||
	    !take(run, WORK, run->part ? sums * 4 : (int64_t)test->blocks * PADDED * TILE * 4,
		  0xff))
		return false;
	fill_panel(run, PANEL_A, test->m, test->a, test->b);
	fill_panel(run, PANEL_B, test->n, test->b, test->a);
	fill_c(run, run->own.bytes[C]);
	fill_c(run, run->oracle.bytes[C]);
	return true;
}

void emulated_close(struct run *run)
{
	for (int kind = 0; kind < KINDS; kind++) {
		free(run->own.bytes[kind]);
		free(run->oracle.bytes[kind]);
	}
}

/* Words are floats in C: there NaNs equal each other. */
const char *emulated_compare(const struct run *run, const char *what)
{
	const struct sb_emulated_case *t = run->test;

	for (int kind = 0; kind < WORK; kind++)
		for (size_t w = 0; w < run->own.count[kind] / 4; w++) {
			uint32_t was, right;
			float x, y;

			memcpy(&was, run->own.bytes[kind] + w * 4, 4);
			memcpy(&right, run->oracle.bytes[kind] + w * 4, 4);
			memcpy(&x, &was, 4);
			memcpy(&y, &right, 4);
			if (was == right ||
			    (kind == C && sb_oracle_same(x, y) && right != 0xffffffffu))
				continue;
			snprintf(message, sizeof message,
				 "%s, %dx%dx%d, values %d and %d, alpha %g, beta %g: word %zu of "
				 "the %s is %08x (%a), not %08x (%a)",
				 what, t->m, t->n, t->k, t->a, t->b, t->alpha, t->beta, w,
				 kind_names[kind], was, x, right, y);
			return message;
		}
	return NULL;
}

void emulated_map(struct sb_tensor_map *map, const void *panel, int64_t ld, int64_t depth,
		  int box_i, int box_k)
{
	const struct sb_stand_in_map m = SB_PANEL_MAP(panel, ld, depth, box_i, box_k);

	memset(map->opaque, 0, sizeof map->opaque);
	memcpy(map->opaque, &m, sizeof m);
}

struct sb_gemm_args emulated_product(const struct run *run, const struct memory *memory)
{
	const struct sb_emulated_case *test = run->test;
	struct sb_gemm_args args = {.a = (const float *)memory->bytes[PANEL_A],
				    .b = (const float *)memory->bytes[PANEL_B],
				    .c = (float *)memory->bytes[C] + test->gap,
				    .a_m = 1,
				    .a_k = run->ld_a,
				    .b_n = 1,
				    .b_k = run->ld_b,
				    .ldc = run->ldc,
				    .m = test->m,
				    .n = test->n,
				    .k = test->k,
				    .alpha = test->alpha,
				    .beta = test->beta,
				    .work = (float *)memory->bytes[WORK],
				    .planes_a = (const uint16_t *)memory->bytes[PLANES_A],
				    .planes_b = (const uint16_t *)memory->bytes[PLANES_B],
				    .exponents_a = (const int32_t *)memory->bytes[EXPONENTS_A],
				    .exponents_b = (const int32_t *)memory->bytes[EXPONENTS_B],
				    .exponents_a_ld = run->ld_a,
				    .exponents_b_ld = run->ld_b,
				    .flags_a = (uint32_t *)memory->bytes[FLAGS_A],
				    .flags_b = (uint32_t *)memory->bytes[FLAGS_B],
				    .chunk = test->chunk};

	if (!args.chunk)
		args.chunk = sb_split_chunk(args.m, args.n, args.k);
	return args;
}

const char *emulated_start(const struct run *run, const char *name, int64_t blocks,
			   const struct sb_emulated_row *row, const void *args, size_t size)
{
	struct sb_exact_memory memory = {(void *)(uintptr_t)run, check};

	if (sb_exact_run(name, (unsigned)blocks, (unsigned)row->threads, (unsigned)row->dynamic,
			 args, size, &memory, run->counts) == SB_EXACT_OK)
		return NULL;
	snprintf(message, sizeof message, "%s", sb_exact_message());
	return message;
}

static const char *launch(struct run *run, const struct sb_emulated_row *row, int64_t blocks,
			  const void *args, size_t size)
{
	const char *wrong = emulated_start(run, row->name, blocks, row, args, size);

	return wrong ? wrong : emulated_compare(run, row->name);
}

static struct sb_split_args half(const struct run *run, const struct memory *memory, int of)
{
	int extent = of ? run->test->n : run->test->m;
	int64_t ld = of ? run->ld_b : run->ld_a;

	return (struct sb_split_args){
		.from = (const float *)memory->bytes[PANEL_A + of],
		.planes = (uint16_t *)memory->bytes[PLANES_A + of],
		.exponents = (int32_t *)memory->bytes[EXPONENTS_A + of],
		.flags = (uint32_t *)memory->bytes[FLAGS_A + of],
		.from_i = 1,
		.from_k = ld,
		.ld = ld,
		.exponents_ld = ld,
		.extent = extent,
		.depth = run->test->k,
		.padded_extent = (int32_t)emulated_up(extent, TILE),
		.padded_depth = (int32_t)run->depth,
	};
}

const char *emulated_split(struct run *run, int of)
{
	const struct sb_emulated_row row = sb_emulated_row("split_fp16");
	struct sb_split_args own = half(run, &run->own, of), oracle = half(run, &run->oracle, of);

	sb_oracle_split(&oracle);
	run->readable = 1u << (PANEL_A + of) | 1u << (FLAGS_A + of);
	run->writable = 1u << (PLANES_A + of) | 1u << (EXPONENTS_A + of) | 1u << (FLAGS_A + of);
	return launch(run, &row,
		      own.padded_extent / row.BM * (emulated_up(own.padded_depth, row.BK) / row.BK),
		      &own, sizeof own);
}

static const char *multiply_row(struct run *run, const struct sb_emulated_row *row,
				unsigned readable, void oracle(const struct sb_gemm_args *))
{
	const struct sb_emulated_case *test = run->test;
	struct sb_gemm_args own = emulated_product(run, &run->own),
			    right = emulated_product(run, &run->oracle);
	const unsigned flags = 1u << FLAGS_A | 1u << FLAGS_B;
	int64_t tiles_m = emulated_up(test->m, row->BM) / row->BM,
		tiles_n = emulated_up(test->n, row->BN) / row->BN;
	int64_t blocks = emulated_up(tiles_m, row->cluster) * tiles_n;
	bool persists = oracle != sb_oracle_flagged;

	emulated_map(&own.map_a, own.a, run->ld_a, run->depth, row->BM, row->BK);
	emulated_map(&own.map_b, own.b, run->ld_b, run->depth, row->BN, row->BK);
	oracle(&right);
	run->readable = readable | flags | (test->k > own.chunk ? 1u << WORK : 0) |
			(test->beta != 0 ? 1u << C : 0);
	run->writable = 1u << C | (persists ? flags | 1u << WORK : 0);
	return launch(run, row, persists && blocks > test->blocks ? test->blocks : blocks, &own,
		      sizeof own);
}

/* What products change, kept aside, or as it was again. */
static bool keep(const struct run *run, struct memory *kept)
{
	for (int kind = FLAGS_A; kind <= C; kind++) {
		kept->bytes[kind] = malloc(run->own.count[kind]);
		if (!kept->bytes[kind])
			return false;
		memcpy(kept->bytes[kind], run->own.bytes[kind], run->own.count[kind]);
	}
	return true;
}

static void restore(struct run *run, const struct memory *kept)
{
	for (int kind = FLAGS_A; kind <= C; kind++) {
		memcpy(run->own.bytes[kind], kept->bytes[kind], run->own.count[kind]);
		memcpy(run->oracle.bytes[kind], kept->bytes[kind], run->own.count[kind]);
	}
}

/* By each tile of the method; the last one's products stay. */
static const char *multiply(struct run *run, const char *method, unsigned readable,
			    void oracle(const struct sb_gemm_args *))
{
	struct memory kept = {{0}, {0}};
	const char *wrong = keep(run, &kept) ? NULL : "no memory";

	for (size_t r = 0; r < sb_emulated_row_count && !wrong; r++)
		if (strcmp(sb_emulated_rows[r].method, method) == 0) {
			restore(run, &kept);
			wrong = multiply_row(run, &sb_emulated_rows[r], readable, oracle);
		}
	for (int kind = FLAGS_A; kind <= C; kind++)
		free(kept.bytes[kind]);
	return wrong;
}

static int written(const struct run *run, unsigned of_these, unsigned wanted)
{
	const uint32_t *a = (const uint32_t *)run->own.bytes[FLAGS_A];
	const uint32_t *b = (const uint32_t *)run->own.bytes[FLAGS_B];
	int count = 0;

	for (int i = 0; i * TILE < run->test->m; i++)
		for (int j = 0; j * TILE < run->test->n; j++)
			count += ((a[i] | b[j]) & of_these) == wanted;
	return count;
}

void emulated_count(const struct run *run, struct sb_emulated_tiles *tiles)
{
	tiles->fp16x3 = written(run, SB_NOT_FP16, 0);
	tiles->bf16x6 = written(run, SB_NOT_FP16 | SB_NOT_BF16, SB_NOT_FP16);
	tiles->strict = written(run, SB_NOT_BF16, SB_NOT_BF16);
}

/* What the launches made together is the whole rule's. */
static const char *whole(struct run *run)
{
	struct sb_gemm_args own = emulated_product(run, &run->own);
	const struct sb_emulated_case *t = run->test;

	if (t->k < SB_ORACLE_FP16_K)
		return NULL;
	fill_c(run, run->oracle.bytes[C]);
	sb_oracle_emulated_of(own.chunk, t->m, t->n, t->k, t->alpha, own.a, 1, own.a_k, own.b, 1,
			      own.b_k, t->beta, (float *)run->oracle.bytes[C] + t->gap, run->ldc);
	return emulated_compare(run, "the whole");
}

const char *sb_emulated_case_run(const struct sb_emulated_case *test,
				 struct sb_emulated_tiles *tiles)
{
	const unsigned panels = 1u << PANEL_A | 1u << PANEL_B;
	const unsigned planes =
		1u << PLANES_A | 1u << PLANES_B | 1u << EXPONENTS_A | 1u << EXPONENTS_B;
	struct run run = {.test = test};
	const char *wrong = emulated_open(&run) ? NULL : "no memory";

	for (int of = 0; of < 2 && !wrong; of++)
		wrong = emulated_split(&run, of);
	if (!wrong)
		wrong = multiply(&run, "fp16x3", planes, sb_oracle_fp16x3);
	if (!wrong)
		wrong = multiply(&run, "bf16x6", panels, sb_oracle_bf16x6);
	if (!wrong)
		wrong = multiply(&run, "bulk_128x128x32", panels, sb_oracle_flagged);
	if (!wrong)
		wrong = whole(&run);
	if (!wrong)
		emulated_count(&run, tiles);
	emulated_close(&run);
	return wrong;
}

/* As if fp16x3 had been given these: its flags are raised in all but some tiles. */
static void flag(struct run *run)
{
	const uint32_t raised = SB_NOT_FP16;

	for (size_t i = 0; i < run->own.count[FLAGS_A] / 4; i += 2) {
		memcpy(run->own.bytes[FLAGS_A] + i * 4, &raised, 4);
		memcpy(run->oracle.bytes[FLAGS_A] + i * 4, &raised, 4);
	}
	for (size_t j = 1; j < run->own.count[FLAGS_B] / 4; j += 2) {
		memcpy(run->own.bytes[FLAGS_B] + j * 4, &raised, 4);
		memcpy(run->oracle.bytes[FLAGS_B] + j * 4, &raised, 4);
	}
}

const char *sb_emulated_case_run_warps(const struct sb_emulated_case *test,
				       struct sb_emulated_tiles *tiles,
				       struct sb_exact_counts *counts)
{
	const unsigned panels = 1u << PANEL_A | 1u << PANEL_B;
	struct run run = {.test = test, .counts = counts};
	const char *wrong = emulated_open(&run) ? NULL : "no memory";

	if (!wrong) {
		flag(&run);
		wrong = multiply(&run, "bf16x6sync", panels, sb_oracle_bf16x6);
		run.counts = NULL;
	}
	if (!wrong)
		wrong = multiply(&run, "multistage_128x128x32", panels, sb_oracle_flagged);
	if (!wrong)
		emulated_count(&run, tiles);
	emulated_close(&run);
	return wrong;
}
