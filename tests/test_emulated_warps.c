/* SPDX-License-Identifier: BSD-3-Clause */
/* bf16x6 by the instructions of a warp gives the oracle's bits, on the exact engine. */
#include "emulated_case.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>

static void run(const struct sb_emulated_case *test, int left, int bf16x6, int strict)
{
	struct sb_emulated_tiles tiles = {0};
	const char *wrong = sb_emulated_case_run_warps(test, &tiles, NULL);

	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	else if (tiles.fp16x3 != left || tiles.bf16x6 != bf16x6 || tiles.strict != strict)
		fprintf(stderr, "tiles: %d, %d, %d\n", tiles.fp16x3, tiles.bf16x6, tiles.strict);
	CU_ASSERT(wrong == NULL);
	CU_ASSERT(tiles.fp16x3 == left && tiles.bf16x6 == bf16x6 && tiles.strict == strict);
}

#define PLAIN SB_EMULATED_PLAIN
#define WIDE  SB_EMULATED_WIDE

static void around_a_tile(void)
{
	for (int d = -1; d <= 1; d++) {
		struct sb_emulated_case test = {128 + d, 128 - d, 64 + d, 1,	1.0f, 0.0f,
						PLAIN,	 WIDE,	  2,	  NULL, 0};

		/* The second row's tile is left alone, the second column's is not. */
		run(&test, d > 0, 1 + (d < 0), 0);
	}
}

static void small_and_thin(void)
{
	static const struct sb_emulated_case tests[] = {
		{1, 1, 1, 0, 1.0f, 0.0f, PLAIN, PLAIN, 2, NULL, 0},
		{5, 3, 17, 2, 1.0f, 0.0f, PLAIN, PLAIN, 2, NULL, 0},
		{4, 100, 96, 0, 1.0f, 0.0f, WIDE, PLAIN, 2, NULL, 0},
	};

	for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
		run(&tests[t], 0, 1, 0);
}

/* Three chunks of all lengths, whose sums meet in memory. */
static void chunks_of_k(void)
{
	static const int chunks[] = {1024, 1536, 2048, 4096};

	for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
		struct sb_emulated_case test = {
			20, 30, 2 * chunks[c] + 1, 3, 1.5f, 0.5f, PLAIN, PLAIN, 1, NULL, chunks[c]};

		run(&test, 0, 1, 0);
	}
}

/* The same chunks by other blocks, added up by a kernel of their own; one of a single window. */
static void parts_of_k(void)
{
	static const struct sb_emulated_poke pokes[] = {{'b', 131, 1030, INFINITY}, {0}};
	struct sb_emulated_case test = {20, 30, 3100, 3, 1.5f, 0.5f, PLAIN, PLAIN, 3, NULL, 0};
	struct sb_emulated_tiles tiles = {0};
	const char *wrong = sb_emulated_case_run_warps_cut(&test, 2048, &tiles);

	CU_ASSERT(wrong == NULL && tiles.bf16x6 == 1);
	test.chunk = 1536;
	wrong = wrong ? wrong : sb_emulated_case_run_warps_cut(&test, 1536, &tiles);
	CU_ASSERT(wrong == NULL && tiles.bf16x6 == 1);
	test = (struct sb_emulated_case){131, 140, 1055, 0, 1.0f, 0.0f, PLAIN, WIDE, 4, pokes, 0};
	wrong = wrong ? wrong : sb_emulated_case_run_warps_cut(&test, 1024, &tiles);
	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	CU_ASSERT(wrong == NULL && tiles.bf16x6 == 2 && tiles.strict == 2);
}

/* More tiles than blocks, some of which are left alone, one to the strict kernel. */
static void blocks_go_from_tile_to_tile(void)
{
	static const struct sb_emulated_poke pokes[] = {
		{'a', 300, 3, 0x1.fffffep-120f}, {'b', 200, 41, -INFINITY}, {0}};
	struct sb_emulated_case test = {300, 290, 42, 0, 1.0f, 0.0f, PLAIN, PLAIN, 4, NULL, 0};

	run(&test, 2, 7, 0);
	test.m = 301;
	test.blocks = 2;
	test.pokes = pokes;
	run(&test, 2, 2, 5);
}

static void alpha_and_beta(void)
{
	static const struct sb_emulated_poke pokes[] = {{'b', 128, 1, 0x1p-140f}, {0}};
	static const float factors[][2] = {
		{1.2345f, 0.0f}, {-0.3f, 0.7f}, {0.0f, 1.0f}, {1e-30f, -1.3f}, {1.0f, -0.0f}};

	for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
		struct sb_emulated_case test = {
			20,    140, 33,	   (int)f, factors[f][0], factors[f][1], PLAIN,
			PLAIN, 2,   pokes, 0};

		run(&test, 0, 1, 1);
	}
}

/* What the guard says on either side of what three parts hold. */
static void the_guard_is_exact(void)
{
	static const struct {
		float value;
		int strict;
	} tests[] = {
		{0x1.fffffep-110f, 0},
		{0x1.fffffep-111f, 1},
		{-0x1p-133f, 0},
		{0x1p-134f, 1},
		{0x1.fep127f, 0},
		{0x1.ff8p127f, 1},
		{0x1.fffffep127f, 1},
		{INFINITY, 1},
		{-INFINITY, 1},
		{NAN, 1},
		{-0.0f, 0},
	};

	for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
		struct sb_emulated_poke pokes[] = {
			{t % 2 ? 'b' : 'a', 7, (int)t * 3, tests[t].value}, {0}};
		struct sb_emulated_case test = {9,     10,    40, 0,	 1.0f, 0.0f,
						PLAIN, PLAIN, 1,  pokes, 0};

		run(&test, 0, !tests[t].strict, tests[t].strict);
	}
}

/* Each float comes once, in fours; each is split once; and nobody meets another in a bank. */
static void no_access_meets_another(void)
{
	static struct sb_exact_counts counts;
	static const uint64_t elements = (128 + 128) * 96;
	struct sb_emulated_case test = {128, 128, 96, 0, 1.0f, 0.0f, PLAIN, PLAIN, 1, NULL, 0};
	struct sb_emulated_tiles tiles;
	uint64_t loaded = 0, stored = 0;

	CU_ASSERT_FATAL(sb_emulated_case_run_warps(&test, &tiles, &counts) == NULL);
	for (size_t s = 0; s < counts.sites; s++) {
		const struct sb_exact_site *site = &counts.site[s];

		if (site->shared) {
			CU_ASSERT(site->ways == 1);
			stored += site->write ? site->words : 0;
		} else if (site->lane_bytes == 16) {
			CU_ASSERT(site->sectors * 8 == site->words);
			loaded += site->write ? 0 : site->words;
		}
	}
	/* One window more than there are, and a quarter of one: the last comes again. */
	CU_ASSERT(loaded == elements + elements / 3 + elements / 12);
	/* Three halves of a word. */
	CU_ASSERT(stored == (elements + elements / 3) * 3 / 2);
	CU_ASSERT(counts.barriers == 2 + 96 / 32);
}

int main(void)
{
	unsigned failures;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite suite = CU_add_suite("emulated_warps", NULL, NULL);
	CU_ADD_TEST(suite, small_and_thin);
	CU_ADD_TEST(suite, around_a_tile);
	CU_ADD_TEST(suite, chunks_of_k);
	CU_ADD_TEST(suite, parts_of_k);
	CU_ADD_TEST(suite, blocks_go_from_tile_to_tile);
	CU_ADD_TEST(suite, alpha_and_beta);
	CU_ADD_TEST(suite, the_guard_is_exact);
	CU_ADD_TEST(suite, no_access_meets_another);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures != 0;
}
