/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an operand becomes as it lies, in one launch, is to the bit what packing and splitting make
 * of it one after the other: panel, planes, exponents and flags; on the exact engine, whichever way
 * it lies and however it is aligned.
 */
#include "emulated_case.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "oracle_emulated.h"

enum { SOURCE, PANEL, PLANES, EXPONENTS, FLAGS, KINDS };

static const char *const names[KINDS] = {"source", "panel", "planes", "exponents", "flags"};

/* What a launch reads and writes; one after the other, each with room behind it. */
struct parts {
	unsigned char *bytes[KINDS];
	size_t count[KINDS];
	unsigned readable, writable; /* bits of kinds */
};

struct split_case {
	int extent, depth;
	bool k_contiguous;
	int gap, offset; /* elements: of the leading dimension, and off 128 bytes */
	int middle;	 /* rows before, of the first 128 */
	enum sb_emulated_values values;
	struct sb_emulated_poke poke; /* operand 0: none */
};

static bool check(void *context, const void *pointer, size_t bytes, bool write)
{
	const struct parts *parts = context;
	uintptr_t p = (uintptr_t)pointer;

	for (int kind = 0; kind < KINDS; kind++) {
		uintptr_t begin = (uintptr_t)parts->bytes[kind];

		if (p >= begin && p + bytes <= begin + parts->count[kind])
			return (write ? parts->writable : parts->readable) >> kind & 1;
	}
	return false;
}

static int64_t up(int64_t x, int64_t to)
{
	return (x + to - 1) / to * to;
}

static void open_parts(struct parts *parts, const struct split_case *test)
{
	int64_t rows = up(test->extent, 64), depth = up(test->depth, 64);
	int64_t lines = test->k_contiguous ? test->extent : test->depth;
	int64_t width = test->k_contiguous ? test->depth : test->extent;
	const int64_t words[KINDS] = {test->offset + (lines - 1) * (width + test->gap) + width,
				      up(rows, SB_PAD) * depth, rows * depth,
				      rows * (up(depth, SB_SPLIT_SLAB) / SB_SPLIT_SLAB),
				      up(test->middle + rows, 128) / 128};

	for (int kind = 0; kind < KINDS; kind++) {
		parts->count[kind] = (size_t)words[kind] * 4;
		parts->bytes[kind] = aligned_alloc(128, (size_t)up(words[kind] * 4, 128));
		if (!parts->bytes[kind])
			abort();
		memset(parts->bytes[kind], kind == FLAGS ? 0 : 0x55, parts->count[kind]);
	}
}

static void close_parts(struct parts *parts)
{
	for (int kind = 0; kind < KINDS; kind++)
		free(parts->bytes[kind]);
}

static struct sb_split_args args_of(const struct split_case *test, const struct parts *parts)
{
	int64_t rows = up(test->extent, 64), depth = up(test->depth, 64);
	int64_t ld = (test->k_contiguous ? test->depth : test->extent) + test->gap;

	return (struct sb_split_args){
		.from = (const float *)parts->bytes[SOURCE] + test->offset,
		.panel = (float *)parts->bytes[PANEL],
		.planes = (uint16_t *)parts->bytes[PLANES],
		.exponents = (int32_t *)parts->bytes[EXPONENTS],
		.flags = (uint32_t *)parts->bytes[FLAGS],
		.from_i = test->k_contiguous ? ld : 1,
		.from_k = test->k_contiguous ? 1 : ld,
		.ld = up(rows, SB_PAD),
		.exponents_ld = rows,
		.extent = test->extent,
		.depth = test->depth,
		.padded_extent = (int32_t)rows,
		.padded_depth = (int32_t)depth,
		.middle = test->middle,
	};
}

static void fill(const struct split_case *test, const struct sb_split_args *args, float *from)
{
	uint32_t seed = 7u + (uint32_t)(test->extent * 3 + test->depth);

	for (int i = 0; i < test->extent; i++)
		for (int k = 0; k < test->depth; k++)
			from[i * args->from_i + k * args->from_k] =
				sb_emulated_value(&seed, test->values, i, k);
	if (test->poke.operand)
		from[test->poke.mn * args->from_i + test->poke.k * args->from_k] = test->poke.value;
}

static bool same(const struct split_case *test, const struct parts *own, const struct parts *other,
		 const char *what)
{
	for (int kind = PANEL; kind < KINDS; kind++)
		for (size_t w = 0; w < own->count[kind] / 4; w++)
			if (memcmp(own->bytes[kind] + w * 4, other->bytes[kind] + w * 4, 4) != 0) {
				fprintf(stderr,
					"%dx%d, k %s, gap %d, offset %d, middle %d, values %d: "
					"word %zu of the %s is not that of %s\n",
					test->extent, test->depth,
					test->k_contiguous ? "contiguous" : "slow", test->gap,
					test->offset, test->middle, test->values, w, names[kind],
					what);
				return false;
			}
	return true;
}

static bool launch(const char *method, struct parts *parts, const struct sb_split_args *args,
		   struct sb_exact_counts *counts)
{
	const struct sb_emulated_row row = sb_emulated_row(method);
	struct sb_exact_memory memory = {parts, check};
	int64_t blocks = args->padded_extent / row.BM * (up(args->padded_depth, row.BK) / row.BK);

	if (sb_exact_run(row.name, (unsigned)blocks, (unsigned)row.threads, 0, args, sizeof *args,
			 &memory, counts) == SB_EXACT_OK)
		return true;
	fprintf(stderr, "%s\n", sb_exact_message());
	return false;
}

/* As it lies; by the oracle; and the panel that came of it by the kernel for panels. */
static void run(const struct split_case *test, struct sb_exact_counts *counts)
{
	struct parts own, oracle, panel;
	struct sb_split_args args, right, then;

	open_parts(&own, test);
	open_parts(&oracle, test);
	open_parts(&panel, test);
	args = args_of(test, &own);
	right = args_of(test, &oracle);
	then = args_of(test, &panel);
	fill(test, &args, (float *)own.bytes[SOURCE] + test->offset);
	memcpy(oracle.bytes[SOURCE], own.bytes[SOURCE], own.count[SOURCE]);
	sb_oracle_split(&right);
	own.readable = 1u << SOURCE | 1u << FLAGS;
	own.writable = 1u << PANEL | 1u << PLANES | 1u << EXPONENTS | 1u << FLAGS;
	CU_ASSERT(launch("split_raw", &own, &args, counts));
	CU_ASSERT(same(test, &own, &oracle, "the oracle's"));
	memcpy(panel.bytes[PANEL], own.bytes[PANEL], own.count[PANEL]);
	then.from = then.panel;
	then.panel = NULL;
	then.from_i = 1;
	then.from_k = then.ld;
	panel.readable = 1u << PANEL | 1u << FLAGS;
	panel.writable = 1u << PLANES | 1u << EXPONENTS | 1u << FLAGS;
	CU_ASSERT(launch("split_fp16", &panel, &then, NULL));
	CU_ASSERT(same(test, &own, &panel, "the panel's"));
	close_parts(&own);
	close_parts(&oracle);
	close_parts(&panel);
}

static void both_ways_to_lie_however_aligned(void)
{
	static const int shapes[][2] = {{1, 1},	   {3, 70},   {33, 511},  {64, 64},
					{65, 513}, {31, 576}, {96, 1024}, {130, 1030}};

	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
		for (int across = 0; across < 2; across++)
			for (int offset = 0; offset < 4; offset++) {
				struct split_case test = {.extent = shapes[s][0],
							  .depth = shapes[s][1],
							  .k_contiguous = across,
							  .gap = offset * 3 % 5,
							  .offset = offset,
							  .middle = offset % 2 * 64,
							  .values = SB_EMULATED_PLAIN};

				run(&test, NULL);
			}
}

static void all_kinds_of_values(void)
{
	for (int across = 0; across < 2; across++)
		for (int kind = SB_EMULATED_PLAIN; kind <= SB_EMULATED_LARGE; kind++) {
			struct split_case test = {.extent = 70,
						  .depth = 600,
						  .k_contiguous = across,
						  .gap = 1,
						  .values = (enum sb_emulated_values)kind};

			run(&test, NULL);
		}
}

/* One element that parts do not hold, or only just, anywhere. */
static void guards_see_a_single_element(void)
{
	static const float values[] = {INFINITY,
				       NAN,
				       -INFINITY,
				       0x1p-149f,
				       0x1.fffffep-111f,
				       0x1.fffffep-110f,
				       0x1.ffp127f,
				       0x1p71f,
				       0x1.000006p-31f,
				       0x1p-52f,
				       -0.0f,
				       0x1.fep127f};

	for (size_t v = 0; v < sizeof values / sizeof *values; v++)
		for (int across = 0; across < 2; across++) {
			struct split_case test = {
				.extent = 150,
				.depth = 530,
				.k_contiguous = across,
				.values = SB_EMULATED_POSITIVE,
				.poke = {'a', (int)(v * 37 % 150), (int)(v * 101 % 530), values[v]},
			};

			run(&test, NULL);
		}
}

/* Each element comes once and nobody meets another in a bank, whichever way it lies. */
static void every_access_is_coalesced(void)
{
	static struct sb_exact_counts counts;
	const uint64_t elements = 64 * 512;

	for (int across = 0; across < 2; across++) {
		struct split_case test = {.extent = 64,
					  .depth = 512,
					  .k_contiguous = across,
					  .values = SB_EMULATED_PLAIN};
		uint64_t loaded = 0, stored = 0, halves = 0;

		run(&test, &counts);
		for (size_t s = 0; s < counts.sites; s++) {
			const struct sb_exact_site *site = &counts.site[s];

			if (site->shared) {
				CU_ASSERT(site->ways == 1);
			} else if (site->lane_bytes == 2) {
				/* Half a word a lane: 16 of them a sector. */
				CU_ASSERT(site->sectors == site->requests * 2);
				halves += site->requests * 32;
			} else if (site->requests * 32 > 64) {
				CU_ASSERT(site->sectors * 8 == site->words);
				(void)(site->write ? (stored += site->words)
						   : (loaded += site->words));
			}
		}
		CU_ASSERT(loaded == elements && halves == 2 * elements);
		CU_ASSERT(stored == elements);
		CU_ASSERT(counts.barriers == (across ? 2 * 9 : 2));
	}
}

int main(void)
{
	unsigned failures;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite suite = CU_add_suite("split", NULL, NULL);
	CU_ADD_TEST(suite, both_ways_to_lie_however_aligned);
	CU_ADD_TEST(suite, all_kinds_of_values);
	CU_ADD_TEST(suite, guards_see_a_single_element);
	CU_ADD_TEST(suite, every_access_is_coalesced);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures != 0;
}
