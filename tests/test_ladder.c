/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each rung of the ladder claims to change, as numbers that the exact engine counts: bank
 * conflicts of an access, sectors of a request, shared words an FMA, barriers. Whole tiles in the
 * natural layout: A contiguous along i, B along k, everything aligned.
 */
#include "kernel_case.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

static struct sb_exact_counts counts;

static void count(const char *name, int m, int n, int k)
{
	const struct sb_kernel_row *row = sb_kernel_row(name);
	struct sb_kernel_case test = {m, n, k, false, false, 0, 0, 1.0f, 0.0f, SB_VALUES_PLAIN};
	const char *wrong;

	CU_ASSERT_FATAL(row != NULL);
	wrong = sb_kernel_case_run(row, &test, &counts);
	if (wrong != NULL)
		fprintf(stderr, "%s\n", wrong);
	CU_ASSERT_FATAL(wrong == NULL);
}

/* The nth site, by line, of a source file that accesses shared or global memory so. */
static const struct sb_exact_site *site(const char *file, bool shared, bool write, int nth)
{
	for (int line = 0;; nth--) {
		const struct sb_exact_site *first = NULL;

		for (size_t s = 0; s < counts.sites; s++) {
			const struct sb_exact_site *c = &counts.site[s];
			size_t path = strlen(c->file), name = strlen(file);

			if (c->shared == shared && c->write == write && c->line > line &&
			    path >= name && strcmp(c->file + path - name, file) == 0 &&
			    (first == NULL || c->line < first->line))
				first = c;
		}
		CU_ASSERT_FATAL(first != NULL);
		if (nth == 0)
			return first;
		line = first->line;
	}
}

static unsigned worst_ways(void)
{
	unsigned ways = 0;

	for (size_t s = 0; s < counts.sites; s++)
		if (counts.site[s].ways > ways)
			ways = counts.site[s].ways;
	return ways;
}

/* Words that threads read from (write to) global memory, in accesses of lane_bytes (0: any). */
static uint64_t global_words(bool write, unsigned lane_bytes)
{
	uint64_t words = 0;

	for (size_t s = 0; s < counts.sites; s++)
		if (!counts.site[s].shared && counts.site[s].write == write &&
		    (lane_bytes == 0 || counts.site[s].lane_bytes == lane_bytes))
			words += counts.site[s].words;
	return words;
}

/* Every full request to whole sectors: as few of them as its words need. */
static bool coalesced(const struct sb_exact_site *s)
{
	return s->sectors * 8 == s->words;
}

static void naive_is_uncoalesced(void)
{
	count("sgemm_naive_32x32x1", 32, 32, 32);
	CU_ASSERT(site("single.cuh", false, false, 0)->sectors_worst == 1);
	CU_ASSERT(site("single.cuh", false, false, 1)->sectors_worst == 32);
	CU_ASSERT(site("tile.cuh", false, true, 0)->sectors_worst == 32);
	CU_ASSERT(global_words(false, 0) == 2 * counts.fmas);
}

static void coalesced_is(void)
{
	count("sgemm_coalesced_32x32x1", 32, 32, 32);
	CU_ASSERT(site("single.cuh", false, false, 0)->sectors_worst == 4);
	CU_ASSERT(site("single.cuh", false, false, 1)->sectors_worst == 1);
	CU_ASSERT(coalesced(site("tile.cuh", false, true, 0)));
	CU_ASSERT(global_words(false, 0) == 2 * counts.fmas);
}

static void tiles_cut_the_traffic(void)
{
	count("sgemm_tiled_16x16x16", 32, 32, 32);
	CU_ASSERT(global_words(false, 0) == 2 * counts.fmas / 16);
	CU_ASSERT(counts.shared_words_read == 2 * counts.fmas);
	CU_ASSERT(counts.barriers == 4 * 2 * 2);
	count("sgemm_tiled_32x32x32", 64, 64, 64);
	CU_ASSERT(global_words(false, 0) == 2 * counts.fmas / 32);
	CU_ASSERT(counts.barriers == 4 * 2 * 2);
}

static void a_broadcast_is_no_conflict(void)
{
	count("sgemm_tiled_32x32x32", 32, 32, 32);
	/* All lanes of a request want the same word of B's tile: one pass. */
	CU_ASSERT(site("sgemm_tiled.cu", true, false, 1)->ways == 1);
	CU_ASSERT(worst_ways() == 1);
	count("sgemm_tiled_16x16x16", 32, 32, 32);
	CU_ASSERT(worst_ways() == 1);
}

/* The conflicts of filling A's tile by column, and of reading it so. */
static void by_column(const char *name, unsigned filling, unsigned reading)
{
	const struct sb_exact_site *fill, *read;

	count(name, 32, 32, 32);
	read = site("column.cuh", true, false, 0);
	fill = site("tile.cuh", true, true, 1);
	CU_ASSERT(fill->ways == filling);
	CU_ASSERT(fill->passes == fill->passes_least * filling);
	CU_ASSERT(read->ways == reading);
	CU_ASSERT(read->passes == read->passes_least * reading);
	CU_ASSERT(site("column.cuh", true, false, 1)->ways == 1);
}

static void columns_of_32_and_their_padding(void)
{
	by_column("sgemm_column_32x32x32", 32, 32);
	by_column("sgemm_padded_32x32x32", 1, 1);
}

static void columns_of_16_and_their_padding(void)
{
	by_column("sgemm_column_16x16x16", 8, 8);
	by_column("sgemm_padded_16x16x16", 2, 1);
	by_column("sgemm_padded2_16x16x16", 1, 1);
}

static void register_tiles_save_shared_loads(void)
{
	count("sgemm_register_32x32x16", 32, 32, 32);
	CU_ASSERT(counts.shared_words_read == counts.fmas);
	CU_ASSERT(worst_ways() == 1);
	count("sgemm_register_64x64x16", 64, 64, 32);
	CU_ASSERT(counts.shared_words_read * 2 == counts.fmas);
	CU_ASSERT(worst_ways() == 1);
	count("sgemm_register_128x128x16", 128, 128, 32);
	CU_ASSERT(counts.shared_words_read * 4 == counts.fmas);
	CU_ASSERT(worst_ways() == 1);
}

static void vectors_move_16_bytes(void)
{
	struct sb_kernel_case odd = {128, 128, 32, false, false, 0, 1, 1.0f, 0.0f, SB_VALUES_PLAIN};

	count("sgemm_vector_128x128x16", 128, 128, 32);
	CU_ASSERT(global_words(false, 4) == 0);
	CU_ASSERT(global_words(false, 16) == 2 * 128 * 32);
	CU_ASSERT(global_words(true, 16) == 128 * 128);
	CU_ASSERT(counts.shared_words_read * 4 == counts.fmas);
	/* The transposing stores: four rows of B's tile meet in a bank. */
	CU_ASSERT(site("quads.cuh", true, true, 1)->ways == 4);
	CU_ASSERT(sb_kernel_case_run(sb_kernel_row("sgemm_vector_128x128x16"), &odd, &counts) ==
		  NULL);
	CU_ASSERT(global_words(false, 16) == 0);
	CU_ASSERT(global_words(false, 4) == 2 * 128 * 32);
}

static void the_swizzle_ends_the_conflicts(void)
{
	count("sgemm_swizzled_128x128x16", 128, 128, 32);
	CU_ASSERT(site("quads.cuh", true, true, 1)->ways == 1);
	CU_ASSERT(worst_ways() == 1);
}

static void two_buffers_halve_the_barriers(void)
{
	count("sgemm_swizzled_128x128x16", 128, 128, 128);
	CU_ASSERT(counts.barriers == 2 * 128 / 16);
	count("sgemm_double_128x128x16", 128, 128, 128);
	CU_ASSERT(counts.barriers == 1 + 128 / 16);
	CU_ASSERT(worst_ways() == 1);
	count("sgemm_dynamic_128x128x32", 128, 128, 128);
	CU_ASSERT(counts.barriers == 1 + 128 / 32);
	CU_ASSERT(worst_ways() == 1);
}

static void asynchronous_copies_pass_no_registers(void)
{
	count("sgemm_multistage_128x128x32", 128, 128, 512);
	CU_ASSERT(counts.barriers == 1 + 512 / 32);
	CU_ASSERT(counts.shared_words_read == counts.fmas / 4);
	CU_ASSERT(counts.shared_words_written == (128 + 128) * 512);
	CU_ASSERT(global_words(false, 16) == (128 + 128) * 512);
	CU_ASSERT(global_words(false, 0) == global_words(false, 16));
	CU_ASSERT(worst_ways() == 1);
	for (size_t s = 0; s < counts.sites; s++)
		CU_ASSERT(counts.site[s].shared || coalesced(&counts.site[s]));
}

/* A in fours along i; B, contiguous along k, by words or, where few columns are a thread's, turned.
 */
static void gathered_operands_meet_no_conflict(void)
{
	count("sgemm_gather_128x128x32", 128, 128, 256);
	CU_ASSERT(counts.barriers == 256 / 32);
	CU_ASSERT(counts.shared_words_written == (128 + 128) * 256);
	CU_ASSERT(global_words(false, 16) == 128 * 256);
	CU_ASSERT(global_words(false, 4) == 128 * 256);
	CU_ASSERT(global_words(true, 16) == 128 * 128);
	CU_ASSERT(worst_ways() == 1);
	count("sgemm_gather_64x64x32", 64, 64, 256);
	CU_ASSERT(global_words(false, 0) == global_words(false, 16));
	CU_ASSERT(counts.shared_words_written == (64 + 64) * 256);
	CU_ASSERT(worst_ways() == 1);
}

/* Each element of C once, a warp's neighbours side by side, an odd leading dimension or not. */
static void few_values_of_k_leave_the_writing(void)
{
	count("sgemm_rank_128x64x32", 128, 64, 3);
	CU_ASSERT(global_words(true, 0) == 128 * 64);
	CU_ASSERT(counts.fmas == 128 * 64 * 3);
	CU_ASSERT(counts.barriers == 1);
	CU_ASSERT(worst_ways() == 1);
	for (size_t s = 0; s < counts.sites; s++)
		CU_ASSERT(counts.site[s].shared || !counts.site[s].write ||
			  coalesced(&counts.site[s]));
}

static void bulk_copies_leave_the_threads_the_fmas(void)
{
	count("sgemm_bulk_256x128x32", 256, 128, 512);
	CU_ASSERT(global_words(false, 0) == 0);
	CU_ASSERT(counts.barriers == 1);
	CU_ASSERT(counts.copies == 512 / 32);
	CU_ASSERT(counts.copied_bytes == (256 + 128) * 512 * 4);
	/*
	 * 24 words of fragments for 128 FMAs; of totals, 20 of 32 each slab and at the end.
	 */
	CU_ASSERT(counts.shared_words_read ==
		  counts.fmas / 128 * 24 + 256 * 128 / 32 * 20 * (512 / 256 + 1));
	CU_ASSERT(worst_ways() == 1);
	count("sgemm_bulk_128x128x32", 128, 128, 512);
	CU_ASSERT(counts.shared_words_read == counts.fmas / 4);
	CU_ASSERT(worst_ways() == 1);
}

/* Each group but the first puts its chain once a slab, and the first reads it: 2 of 4 slabs. */
static void groups_hand_each_slab_on_once(void)
{
	const uint64_t tile = 128 * 64;

	count("sgemm_bulk_128x64x32", 128, 64, 1024);
	CU_ASSERT(counts.barriers == 1);
	CU_ASSERT(counts.copies == 1024 / 32);
	CU_ASSERT(counts.shared_words_read == counts.fmas / 4 + 2 * tile);
	CU_ASSERT(worst_ways() == 1);
}

static void plain_meets_no_conflict_however_it_loads(void)
{
	for (int t = 0; t < 4; t++) {
		struct sb_kernel_case test = {64, 64, 32,   t % 2 != 0, t / 2 != 0,
					      0,  0,  1.0f, 0.0f,	SB_VALUES_PLAIN};

		CU_ASSERT(sb_kernel_case_run(sb_kernel_row("sgemm_plain_64x64x16"), &test,
					     &counts) == NULL);
		CU_ASSERT(worst_ways() == 1);
		for (size_t s = 0; s < counts.sites; s++)
			CU_ASSERT(counts.site[s].shared || coalesced(&counts.site[s]));
	}
}

int main(void)
{
	unsigned failures;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 99;
	CU_pSuite suite = CU_add_suite("ladder", NULL, NULL);
	CU_ADD_TEST(suite, naive_is_uncoalesced);
	CU_ADD_TEST(suite, coalesced_is);
	CU_ADD_TEST(suite, tiles_cut_the_traffic);
	CU_ADD_TEST(suite, a_broadcast_is_no_conflict);
	CU_ADD_TEST(suite, columns_of_32_and_their_padding);
	CU_ADD_TEST(suite, columns_of_16_and_their_padding);
	CU_ADD_TEST(suite, register_tiles_save_shared_loads);
	CU_ADD_TEST(suite, vectors_move_16_bytes);
	CU_ADD_TEST(suite, the_swizzle_ends_the_conflicts);
	CU_ADD_TEST(suite, two_buffers_halve_the_barriers);
	CU_ADD_TEST(suite, asynchronous_copies_pass_no_registers);
	CU_ADD_TEST(suite, gathered_operands_meet_no_conflict);
	CU_ADD_TEST(suite, few_values_of_k_leave_the_writing);
	CU_ADD_TEST(suite, bulk_copies_leave_the_threads_the_fmas);
	CU_ADD_TEST(suite, groups_hand_each_slab_on_once);
	CU_ADD_TEST(suite, plain_meets_no_conflict_however_it_loads);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures != 0;
}
