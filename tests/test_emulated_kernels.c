/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulated tier's kernels give the oracle's bits, on the exact engine, whatever they are asked.
 */
#include "emulated_case.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>

static void run(const struct sb_emulated_case *test, int fp16x3, int bf16x6, int strict)
{
	struct sb_emulated_tiles tiles = {0};
	const char *wrong = sb_emulated_case_run(test, &tiles);

	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	else if (tiles.fp16x3 != fp16x3 || tiles.bf16x6 != bf16x6 || tiles.strict != strict)
		fprintf(stderr, "tiles: %d, %d, %d\n", tiles.fp16x3, tiles.bf16x6, tiles.strict);
	CU_ASSERT(wrong == NULL);
	CU_ASSERT(tiles.fp16x3 == fp16x3 && tiles.bf16x6 == bf16x6 && tiles.strict == strict);
}

#define PLAIN	 SB_EMULATED_PLAIN
#define POSITIVE SB_EMULATED_POSITIVE
#define WIDE	 SB_EMULATED_WIDE
#define ROWS	 SB_EMULATED_ROWS
#define OUTLIER	 SB_EMULATED_OUTLIER
#define TINY	 SB_EMULATED_TINY
#define LARGE	 SB_EMULATED_LARGE

static void around_a_tile(void)
{
	for (int d = -1; d <= 1; d++) {
		struct sb_emulated_case test = {128 + d, 128 - d, 64 + d, 1,	1.0f, 0.0f,
						PLAIN,	 PLAIN,	  2,	  NULL, 0};

		run(&test, d ? 2 : 1, 0, 0);
	}
}

static void small_and_thin(void)
{
	static const struct sb_emulated_case tests[] = {
		{1, 1, 1, 0, 1.0f, 0.0f, PLAIN, PLAIN, 2, NULL, 0},
		{5, 3, 17, 2, 1.0f, 0.0f, PLAIN, POSITIVE, 2, NULL, 0},
		{4, 100, 31, 0, 1.0f, 0.0f, PLAIN, PLAIN, 2, NULL, 0},
	};

	for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
		run(&tests[t], 1, 0, 0);
}

/* Whatever the parts, and whoever adds them up, the bits are those of sums that are not cut. */
static void run_cut(const struct sb_emulated_case *test, int part, int fp16x3, int bf16x6,
		    int strict)
{
	struct sb_emulated_tiles tiles = {0};
	const char *wrong = sb_emulated_case_run_cut(test, part, &tiles);

	if (wrong)
		fprintf(stderr, "parts of %d: %s\n", part, wrong);
	else if (tiles.fp16x3 != fp16x3 || tiles.bf16x6 != bf16x6 || tiles.strict != strict)
		fprintf(stderr, "tiles: %d, %d, %d\n", tiles.fp16x3, tiles.bf16x6, tiles.strict);
	CU_ASSERT(wrong == NULL);
	CU_ASSERT(tiles.fp16x3 == fp16x3 && tiles.bf16x6 == bf16x6 && tiles.strict == strict);
}

/* Parts of one chunk and of several; a last one of less than a chunk, a window, a step. */
static void parts_of_k(void)
{
	static const struct {
		int k, part, chunk;
	} cuts[] = {{1025, 1024, 1024}, {2048, 1024, 1024}, {3001, 2048, 1024}, {4500, 1024, 1024},
		    {4097, 2048, 1024}, {5119, 3072, 1024}, {4097, 1536, 1536}, {5119, 3072, 1536},
		    {6200, 4096, 2048}, {8193, 4096, 4096}};

	for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
		struct sb_emulated_case test = {
			9 + (int)c,	      13,   cuts[c].k,	  1, 1.5f, 0.5f, PLAIN, POSITIVE,
			2 + 2 * (int)(c % 3), NULL, cuts[c].chunk};

		run_cut(&test, cuts[c].part, 1, 0, 0);
	}
}

/* More tiles than blocks, of each kind, found in other parts of k than the first. */
static void tiles_of_parts(void)
{
	static const struct sb_emulated_poke pokes[] = {{'a', 130, 1500, 0x1.000006p-32f},
							{'a', 256, 2060, INFINITY},
							{'b', 128, 1023, 0x1p80f},
							{'b', 127, 1030, 0.0f},
							{0}};
	struct sb_emulated_case test = {257, 131, 2070, 0, 1.0f, 1.0f, PLAIN, PLAIN, 4, NULL, 0};

	run_cut(&test, 1024, 6, 0, 0);
	test.pokes = pokes;
	test.blocks = 6;
	run_cut(&test, 1024, 1, 3, 2);
}

static void scales_of_parts(void)
{
	struct sb_emulated_case test = {
		40, 10, 4096, 0, 1.0f, 0.0f, SB_EMULATED_SLABS, SB_EMULATED_SLABS, 4, NULL, 0};

	run_cut(&test, 1024, 1, 0, 0);
	test.k = 2100;
	test.a = test.b = SB_EMULATED_FAR_SLABS;
	run_cut(&test, 1024, 1, 0, 0);
	test.a = test.b = WIDE;
	run_cut(&test, 1024, 0, 1, 0);
}

/* Scales of a row differ from slab to slab; the last slab has one block of 64. */
static void slabs_of_k(void)
{
	struct sb_emulated_case test = {40, 70, 1030, 0, 1.0f, 0.0f, WIDE, POSITIVE, 2, NULL, 0};
	static const struct sb_emulated_poke pokes[] = {
		{'a', 3, 511, 1024.0f}, {'a', 3, 512, 3.0f}, {'b', 69, 1029, -60000.0f}, {0}};

	run(&test, 0, 1, 0); /* 2^-15 beside 2^15 with all of its places */
	test.a = PLAIN;
	test.pokes = pokes;
	run(&test, 1, 0, 0);
}

/* Chunks of all lengths: one, two and three of them, whose sums meet in memory. */
static void chunks_of_k(void)
{
	static const struct sb_emulated_poke pokes[] = {{'b', 1, 1000, 1e30f}, {0}};
	static const int chunks[] = {1024, 1536, 2048, 4096};

	for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
		const int k = chunks[c];
		struct sb_emulated_case test = {9,     70,    2 * k + 1, 3,    1.5f, 0.5f,
						PLAIN, PLAIN, 2,	 NULL, k};

		run(&test, 1, 0, 0);
		test.k = k;
		run(&test, 1, 0, 0);
		test.k = k + 1;
		test.pokes = pokes;
		run(&test, 0, 1, 0);
	}
}

/* Sums that slabs of other scales go on with: as far from those as they may be, and farther. */
static void scales_of_slabs(void)
{
	struct sb_emulated_case test = {
		9, 10, 4096, 0, 1.0f, 0.0f, SB_EMULATED_SLABS, SB_EMULATED_SLABS, 2, NULL, 0};

	run(&test, 1, 0, 0);
	test.k = 1040;
	test.a = test.b = SB_EMULATED_FAR_SLABS;
	run(&test, 1, 0, 0);
}

/* More tiles than blocks; a row of tiles that has no neighbour; tiles passed over between them. */
static void blocks_go_from_tile_to_tile(void)
{
	static const struct sb_emulated_poke pokes[] = {
		{'a', 129, 3, 0x1.000006p-32f}, {'b', 300, 37, 0x1.55555p-32f}, {0}};
	struct sb_emulated_case test = {257, 390, 90, 0, 1.0f, 0.0f, PLAIN, PLAIN, 4, NULL, 0};

	run(&test, 12, 0, 0);
	test.blocks = 2;
	test.pokes = pokes;
	/* Two windows of bf16x6: what a tile leaves in the last one's stage, the next one
	 * overwrites. */
	test.k = 50;
	run(&test, 6, 6, 0);
}

static void alpha_and_beta(void)
{
	static const struct sb_emulated_poke pokes[] = {
		{'a', 0, 0, 1e25f}, {'b', 128, 1, 0x1p-140f}, {0}};
	static const float factors[][2] = {
		{1.2345f, 0.0f}, {-0.3f, 0.7f}, {0.0f, 1.0f}, {1e-30f, -1.3f}, {1.0f, -0.0f}};

	for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
		struct sb_emulated_case test = {
			20,    140, 65,	   (int)f, factors[f][0], factors[f][1], PLAIN,
			PLAIN, 2,   pokes, 0};

		run(&test, 0, 1, 1);
	}
}

static void kinds_of_values(void)
{
	static const struct {
		enum sb_emulated_values a, b;
		int fp16x3, bf16x6, strict;
	} tests[] = {
		{POSITIVE, POSITIVE, 2, 0, 0}, {WIDE, WIDE, 0, 2, 0},	  {ROWS, PLAIN, 2, 0, 0},
		{ROWS, ROWS, 2, 0, 0},	       {OUTLIER, PLAIN, 2, 0, 0}, {PLAIN, OUTLIER, 2, 0, 0},
		{TINY, PLAIN, 0, 0, 2},	       {PLAIN, TINY, 0, 0, 2},	  {LARGE, TINY, 0, 0, 2},
		{LARGE, PLAIN, 0, 2, 0},
	};

	for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
		struct sb_emulated_case test = {129,	    24,		200, 0,	   1.0f, 0.0f,
						tests[t].a, tests[t].b, 4,   NULL, 0};

		run(&test, tests[t].fp16x3, tests[t].bf16x6, tests[t].strict);
	}
}

/* Each tile by the means that its own rows and columns allow; the whole rule from 1024 on. */
static void tiles_of_all_three_kinds(void)
{
	static const struct sb_emulated_poke pokes[] = {{'a', 130, 700, 0x1.000006p-32f},
							{'a', 256, 2, INFINITY},
							{'b', 128, 1023, 0x1p80f},
							{'b', 127, 10, 0.0f},
							{0}};
	struct sb_emulated_case test = {257, 129, 1024, 0, 1.0f, 1.0f, PLAIN, PLAIN, 2, pokes, 0};

	run(&test, 1, 3, 2);
}

/* What the guards say on either side of what they hold. */
static void guards_are_exact(void)
{
	static const struct {
		int k; /* one element a row, or many between 2^-2 and 2^-1 */
		float value;
		int fp16x3, bf16x6, strict;
	} tests[] = {
		{1, 0x1.8p70f, 1, 0, 0}, /* e = -56 */
		{1, 0x1p71f, 0, 1, 0},
		{1, 0x1p-42f, 1, 0, 0}, /* e = 56 */
		{1, 0x1.fp-43f, 0, 1, 0},
		{40, 0x1.000004p-31f, 1, 0, 0}, /* as far off as may be */
		{40, 0x1.000006p-31f, 0, 1, 0},
		{40, 0x1p-51f, 1, 0, 0}, /* the least that the low part holds */
		{40, 0x1p-52f, 0, 1, 0},
		{40, 0x1p-149f, 0, 0, 1},	/* which scaling keeps and nothing else does */
		{1, 0x1.fffffep-110f, 0, 1, 0}, /* three parts, the last one's last place */
		{1, 0x1.fffffep-111f, 0, 0, 1},
		{1, 0x1.fep127f, 0, 1, 0},
		{1, 0x1.ffp127f, 0, 0, 1}, /* which rounds to infinity */
		{1, -INFINITY, 0, 0, 1},
		{40, NAN, 0, 0, 1},
	};

	for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
		struct sb_emulated_poke pokes[] = {
			{t % 2 ? 'b' : 'a', 7, tests[t].k / 2, tests[t].value}, {0}};
		struct sb_emulated_case test = {9,	  10,	    tests[t].k, 0,     1.0f, 0.0f,
						POSITIVE, POSITIVE, 2,		pokes, 0};

		run(&test, tests[t].fp16x3, tests[t].bf16x6, tests[t].strict);
	}
}

/* A row with 2^16 loses 2^-149 to scaling: that is an element the planes do not hold. */
static void what_scaling_makes_zero_is_not_held(void)
{
	static const struct sb_emulated_poke pokes[] = {
		{'a', 2, 1, 0x1p16f}, {'a', 2, 2, 0x1p-149f}, {0}};
	struct sb_emulated_case test = {9, 10, 40, 0, 1.0f, 0.0f, POSITIVE, POSITIVE, 2, pokes, 0};

	run(&test, 0, 0, 1);
}

int main(void)
{
	unsigned failures;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite suite = CU_add_suite("emulated_kernels", NULL, NULL);
	CU_ADD_TEST(suite, small_and_thin);
	CU_ADD_TEST(suite, around_a_tile);
	CU_ADD_TEST(suite, slabs_of_k);
	CU_ADD_TEST(suite, chunks_of_k);
	CU_ADD_TEST(suite, scales_of_slabs);
	CU_ADD_TEST(suite, parts_of_k);
	CU_ADD_TEST(suite, tiles_of_parts);
	CU_ADD_TEST(suite, scales_of_parts);
	CU_ADD_TEST(suite, blocks_go_from_tile_to_tile);
	CU_ADD_TEST(suite, alpha_and_beta);
	CU_ADD_TEST(suite, kinds_of_values);
	CU_ADD_TEST(suite, tiles_of_all_three_kinds);
	CU_ADD_TEST(suite, guards_are_exact);
	CU_ADD_TEST(suite, what_scaling_makes_zero_is_not_held);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures != 0;
}
