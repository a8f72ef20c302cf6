/* SPDX-License-Identifier: BSD-3-Clause */
/* Every kernel of the table gives the oracle's bits, on the exact engine, whatever it is asked. */
#include "kernel_case.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

static void check(const struct sb_kernel_row *row, const struct sb_kernel_case *test)
{
	const char *wrong = sb_kernel_case_run(row, test, NULL);

	if (wrong != NULL)
		fprintf(stderr, "%s\n", wrong);
	CU_ASSERT(wrong == NULL);
}

static void every_row(const struct sb_kernel_case *tests, size_t count)
{
	for (size_t r = 0; r < sb_kernel_row_count; r++)
		for (size_t t = 0; t < count; t++)
			check(&sb_kernel_rows[r], &tests[t]);
}

#define EVERY_ROW(tests) every_row(tests, sizeof(tests) / sizeof((tests)[0]))

static void around_a_tile(void)
{
	for (size_t r = 0; r < sb_kernel_row_count; r++) {
		const struct sb_kernel_row *row = &sb_kernel_rows[r];

		for (int d = -1; d <= 1; d++) {
			int k = row->BK > 1 ? 2 * row->BK + d : 3 + d;
			struct sb_kernel_case test = {row->BM + d, row->BN - d, k,    false, false,
						      0,	   0,		1.0f, 0.0f,  0};

			check(row, &test);
		}
	}
}

static void small_and_thin(void)
{
	static const struct sb_kernel_case tests[] = {
		{1, 1, 1, false, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{1, 70, 5, false, true, 2, 1, 2.5f, 0.0f, SB_VALUES_PLAIN},
		{70, 1, 5, true, false, 2, 3, -1.0f, 1.0f, SB_VALUES_PLAIN},
		{5, 3, 300, false, false, 1, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
	};

	EVERY_ROW(tests);
}

static void slabs_of_k(void)
{
	static const struct sb_kernel_case tests[] = {
		{17, 19, 256, false, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{17, 19, 257, false, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{17, 19, 519, false, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		/* Fours along k, of both operands and of one. */
		{17, 19, 520, true, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{20, 12, 300, true, true, 4, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
	};

	EVERY_ROW(tests);
}

/* Of many tiles with one step of k each: none may wait for one that nobody fetches. */
static void tiles_of_one_step(void)
{
	for (size_t r = 0; r < sb_kernel_row_count; r++) {
		const struct sb_kernel_row *row = &sb_kernel_rows[r];
		struct sb_kernel_case test = {
			4 * row->BM, 3 * row->BN, 5,	false, false,
			0,	     0,		  1.0f, 0.0f,  SB_VALUES_PLAIN};

		if (strcmp(row->method, "persistent") == 0)
			check(row, &test);
	}
}

/* Persistent blocks, three of them here, cut the tiles that they share out. */
static void tiles_cut_on_borders_of_slabs(void)
{
	for (size_t r = 0; r < sb_kernel_row_count; r++) {
		const struct sb_kernel_row *row = &sb_kernel_rows[r];
		struct sb_kernel_case test = {
			row->BM + 1, row->BN + 1, 530,	false, false,
			0,	     0,		  1.1f, 0.7f,  SB_VALUES_PLAIN};

		if (strcmp(row->method, "persistent") == 0)
			check(row, &test);
	}
}

/* What the first launch leaves in C the second one goes on from; NaNs and -0 among it. */
static void runs_of_slabs(void)
{
	static const char *const methods[] = {"plain",	    "multistage", "bulk",
					      "persistent", "split",	  "slab",
					      "thin",	    "gather",	  "rank"};

	for (size_t r = 0; r < sb_kernel_row_count; r++) {
		const struct sb_kernel_row *row = &sb_kernel_rows[r];
		const struct sb_kernel_case tests[] = {
			{17, 19, 257, false, false, 1, 0, 1.5f, 0.0f, SB_VALUES_PLAIN},
			{row->BM + 4, 6, 778, true, false, 0, 0, -1.0f, 0.0f, SB_VALUES_PLAIN},
			{9, row->BN + 3, 770, false, true, 3, 1, 1.0f, 0.0f, SB_VALUES_NOT_FINITE},
			{row->BM + 1, row->BN + 1, 1030, false, false, 3, 0, 2.5f, 0.0f,
			 SB_VALUES_TINY},
		};
		const int cuts[] = {256, 512, 256, 512};
		bool resumes = false;

		for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
			resumes = resumes || strcmp(row->method, methods[m]) == 0;
		for (size_t t = 0; t < sizeof tests / sizeof *tests && resumes; t++) {
			const char *wrong = sb_kernel_case_run_cut(row, &tests[t], cuts[t]);

			if (wrong != NULL)
				fprintf(stderr, "%s\n", wrong);
			CU_ASSERT(wrong == NULL);
		}
	}
}

static void strides_and_alignment(void)
{
	static const struct sb_kernel_case tests[] = {
		{36, 20, 24, false, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{36, 20, 24, false, false, 4, 4, 1.0f, 1.0f, SB_VALUES_PLAIN},
		{37, 19, 23, false, false, 3, 1, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{37, 19, 23, true, false, 3, 2, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{37, 19, 23, false, true, 5, 3, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{37, 19, 23, true, true, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
		{36, 20, 24, true, true, 4, 0, 1.0f, 0.0f, SB_VALUES_PLAIN},
	};

	EVERY_ROW(tests);
}

static void alpha_and_beta(void)
{
	static const struct sb_kernel_case tests[] = {
		{19, 21, 33, false, false, 1, 0, 1.2345f, 0.0f, SB_VALUES_PLAIN},
		{19, 21, 33, false, false, 1, 0, -0.3f, 0.7f, SB_VALUES_PLAIN},
		{20, 20, 33, false, false, 0, 0, 1.1f, -1.3f, SB_VALUES_PLAIN},
		{19, 21, 9, false, false, 1, 0, 1e-30f, 1.0f, SB_VALUES_PLAIN},
		{19, 21, 9, false, false, 1, 0, 1.0f, -0.0f, SB_VALUES_PLAIN},
	};

	EVERY_ROW(tests);
}

static void values_that_are_not_plain(void)
{
	static const struct sb_kernel_case tests[] = {
		{19, 21, 260, false, false, 1, 0, 1.0f, 0.0f, SB_VALUES_NOT_FINITE},
		{19, 21, 20, true, false, 0, 0, 0.5f, 2.0f, SB_VALUES_NOT_FINITE},
		{19, 21, 260, false, true, 1, 0, 1.0f, 0.0f, SB_VALUES_TINY},
		{19, 21, 20, false, false, 0, 0, 0.5f, 1.0f, SB_VALUES_TINY},
	};

	EVERY_ROW(tests);
}

static void bad_launches(void)
{
	struct sb_exact_memory memory = {NULL, NULL};
	char args[64] = {0};

	CU_ASSERT(sb_exact_run("sgemm_none", 1, 32, 0, args, 64, &memory, NULL) ==
		  SB_EXACT_UNKNOWN);
	CU_ASSERT(sb_exact_run(sb_kernel_rows[0].name, 1, 32, 0, args, 64, &memory, NULL) ==
		  SB_EXACT_LAUNCH);
	CU_ASSERT(sb_exact_find("sgemm_none") == NULL);
	for (size_t r = 0; r < sb_kernel_row_count; r++) {
		const struct sb_exact_kernel *kernel = sb_exact_find(sb_kernel_rows[r].name);

		CU_ASSERT_FATAL(kernel != NULL);
		CU_ASSERT(kernel->threads == (unsigned)sb_kernel_rows[r].threads);
		CU_ASSERT(kernel->static_shared + kernel->dynamic_shared <= 232448);
		CU_ASSERT(kernel->static_shared <= 49152);
	}
}

int main(void)
{
	unsigned failures;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite suite = CU_add_suite("kernels", NULL, NULL);
	CU_ADD_TEST(suite, small_and_thin);
	CU_ADD_TEST(suite, around_a_tile);
	CU_ADD_TEST(suite, slabs_of_k);
	CU_ADD_TEST(suite, tiles_cut_on_borders_of_slabs);
	CU_ADD_TEST(suite, tiles_of_one_step);
	CU_ADD_TEST(suite, runs_of_slabs);
	CU_ADD_TEST(suite, strides_and_alignment);
	CU_ADD_TEST(suite, alpha_and_beta);
	CU_ADD_TEST(suite, values_that_are_not_plain);
	CU_ADD_TEST(suite, bad_launches);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures != 0;
}
