/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of kernels, and which one serves a call. */
#include "child.h"

#include "images.h"
#include "registry.h"

static void names_are_unique_and_found(void)
{
	for (int i = 0; i < sb_registry_count(); i++) {
		const struct sb_kernel *kernel = sb_registry_row(i);

		CU_ASSERT_PTR_EQUAL(sb_registry_find(kernel->name), kernel);
		CU_ASSERT(strncmp(kernel->name, kernel->source, strlen(kernel->source)) == 0);
	}
	CU_ASSERT_PTR_NULL(sb_registry_find("sgemm_nothing"));
}

static void the_plain_kernel_runs_everywhere(void)
{
	CU_ASSERT_STRING_EQUAL(sb_registry_plain()->source, "sgemm_plain");
	CU_ASSERT_EQUAL(sb_registry_plain()->form, SB_FORM_ANY);
	CU_ASSERT_EQUAL(sb_registry_plain()->dynamic, 0);
	CU_ASSERT_EQUAL(sb_registry_plain()->arch, 75);
}

static const struct sb_target h200 = {90, 132, 232448, true, SB_LIE_COPIED, SB_LIE_COPIED};

static const char *picked(int64_t m, int64_t n, int64_t k, struct sb_target target)
{
	return sb_registry_pick(m, n, k, &target)->name;
}

static void a_pick_runs_where_it_is_picked_for(void)
{
	static const int archs[] = {75, 80, 86, 89, 90, 100, 120, 130};
	static const int64_t sizes[] = {1, 31, 128, 255, 512, 4096, 100000};
	static const int shared[] = {65536, 101376, 232448};

	for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (int i = 0; i < 6; i++) {
				struct sb_target target = {archs[a],
							   1 + 20 * i,
							   shared[i / 2],
							   i % 2 != 0,
							   (enum sb_lie)(i % SB_LIES),
							   (enum sb_lie)(i / 2)};
				const struct sb_kernel *kernel =
					sb_registry_pick(sizes[s], 4096, sizes[s], &target);

				CU_ASSERT(kernel->arch <= archs[a]);
				CU_ASSERT(kernel->dynamic <= target.shared);
				CU_ASSERT(target.maps || !sb_registry_has_maps(kernel));
			}
}

static void large_products_are_given_bulk_copies_where_there_are_any(void)
{
	struct sb_target no_maps = h200, older = h200, little = h200;

	no_maps.maps = false;
	older.arch = 86;
	little.shared = 101376;
	CU_ASSERT_STRING_EQUAL(picked(4096, 4096, 4096, h200), "sgemm_bulk_256x128x32");
	CU_ASSERT_STRING_EQUAL(picked(4096, 4096, 4096, no_maps), "sgemm_multistage_128x128x32");
	CU_ASSERT_STRING_EQUAL(picked(4096, 4096, 4096, older), "sgemm_multistage_128x128x32");
	/* Bulk copies, but not a tile that needs 192 KB. */
	CU_ASSERT_STRING_EQUAL(picked(4096, 4096, 4096, little), "sgemm_bulk_128x128x32");
	CU_ASSERT_STRING_EQUAL(picked(5, 5, 5, h200), "sgemm_plain_64x64x16");
}

/* Cards without bulk copies, or with less shared memory than the largest tiles need, by their own.
 */
static void large_products_elsewhere_are_given_asynchronous_copies(void)
{
	static const struct sb_target targets[] = {
		{80, 108, 166912, true, SB_LIE_COPIED, SB_LIE_COPIED},
		{86, 84, 101376, true, SB_LIE_COPIED, SB_LIE_COPIED},
		{87, 16, 166912, true, SB_LIE_COPIED, SB_LIE_COPIED},
		{89, 128, 101376, true, SB_LIE_COPIED, SB_LIE_COPIED},
		{89, 128, 101376, false, SB_LIE_COPIED, SB_LIE_COPIED},
	};
	const struct sb_target turing = {75, 68, 65536, true, SB_LIE_COPIED, SB_LIE_COPIED};

	for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
		for (int64_t n = 4096; n <= 16384; n *= 2)
			CU_ASSERT_STRING_EQUAL(picked(n, n, n, targets[t]),
					       "sgemm_multistage_128x128x32");
	CU_ASSERT_STRING_EQUAL(picked(4096, 4096, 4096, turing), "sgemm_double_128x128x16");
	/* Where there are bulk copies those are never worse. */
	for (int64_t n = 32; n <= 16384; n += n / 2)
		for (int64_t k = 32; k <= 16384; k *= 4)
			CU_ASSERT(strcmp(sb_registry_pick(n, n, k, &h200)->source,
					 "sgemm_multistage") != 0);
}

/* Each of these was the fastest that was measured, or within 1 % of it. */
static void tiles_follow_the_grid(void)
{
	static const struct {
		int64_t n;
		const char *name;
	} fastest[] = {
		{256, "sgemm_gather_32x32x32"},	       {384, "sgemm_bulk_64x32x32"},
		{512, "sgemm_bulk_64x32x32"},	       {640, "sgemm_bulk_64x64x32"},
		{768, "sgemm_bulk_96x48x32"},	       {1024, "sgemm_bulk_128x64x32"},
		{1280, "sgemm_bulk_128x128x32"},       {1536, "sgemm_bulk_96x96x32"},
		{2048, "sgemm_bulk_256x128x32"},       {2560, "sgemm_persistent_256x128x32"},
		{3000, "sgemm_persistent_256x128x32"}, {8192, "sgemm_bulk_256x128x32"},
	};

	for (size_t i = 0; i < sizeof fastest / sizeof *fastest; i++) {
		int64_t n = fastest[i].n;

		CU_ASSERT_STRING_EQUAL(picked(n, n, n, h200), fastest[i].name);
	}
}

/* A wide tile of which a thin product fills a strip would multiply zeros. */
static void thin_products_are_given_small_tiles(void)
{
	static const int64_t thin[][3] = {{8, 4096, 4096},
					  {4096, 8, 4096},
					  {16, 16384, 512},
					  {64, 64, 65536},
					  {1, 8192, 8192}};

	for (size_t i = 0; i < sizeof thin / sizeof *thin; i++) {
		const struct sb_kernel *kernel =
			sb_registry_pick(thin[i][0], thin[i][1], thin[i][2], &h200);

		CU_ASSERT(kernel->bm <= 64 || kernel->bm < 2 * thin[i][0]);
		CU_ASSERT(kernel->bn <= 64 || kernel->bn < 2 * thin[i][1]);
	}
}

/* Long sums of few elements occupy the device only when k is split; very thin ones wait for memory.
 */
static void k_is_split_where_tiles_are_few(void)
{
	const struct sb_kernel *split = sb_registry_find("sgemm_split_64x64x32");

	CU_ASSERT(sb_registry_splits(sb_registry_pick(64, 64, 65536, &h200)));
	CU_ASSERT(sb_registry_splits(sb_registry_pick(128, 128, 8192, &h200)));
	CU_ASSERT_STRING_EQUAL(picked(1, 8192, 8192, h200), "sgemm_thin_4x256x32");
	CU_ASSERT_STRING_EQUAL(picked(8192, 1, 8192, h200), "sgemm_thin_256x4x32");
	CU_ASSERT_STRING_EQUAL(picked(8, 8192, 8192, h200), "sgemm_thin_16x256x16");
	CU_ASSERT(!sb_registry_splits(sb_registry_plain()) && sb_registry_splits(split));
	CU_ASSERT_EQUAL(sb_registry_slabs(split, 256), 1);
	CU_ASSERT_EQUAL(sb_registry_slabs(split, 257), 2);
	CU_ASSERT_EQUAL(sb_registry_slabs(sb_registry_plain(), 257), 1);
	CU_ASSERT_EQUAL(sb_registry_work(split, 10, 20, 256), 0);
	CU_ASSERT_EQUAL(sb_registry_work(split, 10, 20, 520), 3 * 10 * 20 * sizeof(float));
}

/* Of operands that lie on the device already panels are made where the sums are long enough. */
static void panels_are_made_where_that_pays(void)
{
	static const int64_t thin[][3] = {{1760, 32, 1760}, {35, 8457, 4096}, {4096, 16, 4096}};
	struct sb_target packs = h200;

	packs.a = packs.b = SB_LIE_ACROSS;
	for (size_t i = 0; i < sizeof thin / sizeof *thin; i++)
		CU_ASSERT_EQUAL(sb_registry_pick(thin[i][0], thin[i][1], thin[i][2], &packs)->form,
				SB_FORM_ANY);
	CU_ASSERT_EQUAL(sb_registry_pick(7680, 32, 2560, &h200)->form, SB_FORM_PANELS);
	CU_ASSERT_EQUAL(sb_registry_pick(7680, 32, 2560, &packs)->form, SB_FORM_ANY);
	CU_ASSERT_EQUAL(sb_registry_pick(4096, 4096, 4096, &packs)->form, SB_FORM_PANELS);
}

/* What a kernel can read as it lies costs no panel, and what is turned or off 16 bytes costs more.
 */
static void what_lies_in_place_needs_no_panel(void)
{
	static const enum sb_lie lies[] = {SB_LIE_ALONG, SB_LIE_ALONG_WORDS, SB_LIE_ACROSS,
					   SB_LIE_ACROSS_WORDS};
	const struct sb_kernel *bulk = sb_registry_find("sgemm_bulk_128x128x32");
	const struct sb_kernel *multistage = sb_registry_find("sgemm_multistage_128x128x32");
	const struct sb_kernel *turner = sb_registry_find("sgemm_gather_128x128x32");
	struct sb_target target = h200;
	double in_place;

	target.a = target.b = SB_LIE_ALONG;
	in_place = sb_registry_seconds(bulk, 4096, 128, 4096, &target);
	CU_ASSERT(in_place <= sb_registry_seconds(bulk, 4096, 128, 4096, &h200));
	/* Without maps a panel is made whatever there is. */
	CU_ASSERT(sb_registry_seconds(multistage, 4096, 128, 4096, &target) >
		  sb_registry_seconds(multistage, 4096, 128, 4096, &h200));
	for (size_t i = 1; i < sizeof lies / sizeof *lies; i++) {
		target.a = lies[i];
		CU_ASSERT(sb_registry_seconds(bulk, 4096, 128, 4096, &target) > in_place + 20e-6);
		target.a = SB_LIE_ALONG;
	}
	in_place = sb_registry_seconds(turner, 4096, 4096, 512, &target);
	target.a = target.b = SB_LIE_ACROSS;
	CU_ASSERT(sb_registry_seconds(turner, 4096, 4096, 512, &target) > 1.05 * in_place);
	/* Measured: 90 us, and 135 by 128x64x16, whose threads turn nothing. */
	CU_ASSERT_STRING_EQUAL(picked(7680, 64, 2560, target), "sgemm_gather_64x64x32");
}

/* One column takes as long as the bytes of A, whose blocks do hardly any multiplications. */
static void one_column_is_bound_by_bytes(void)
{
	static const int64_t columns[][2] = {
		{4608, 1536}, {7680, 2560}, {8448, 2816}, {6144, 2048}};
	const struct sb_kernel *thin = sb_registry_find("sgemm_thin_256x4x32");
	struct sb_target target = h200;

	target.a = SB_LIE_ALONG;
	target.b = SB_LIE_ACROSS;
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		CU_ASSERT_STRING_EQUAL(picked(columns[i][0], 1, columns[i][1], target), thin->name);
	/* Measured: 9.3 us. */
	CU_ASSERT_DOUBLE_EQUAL(sb_registry_seconds(thin, 4608, 1, 1536, &target), 9.3e-6, 2.5e-6);
}

/* Tiles are fetched no further ahead than the next one ends: of the shortest sums each is alone. */
static void a_persistent_block_has_one_tile_where_k_is_shorter_than_what_is_fetched(void)
{
	for (int row = 0; row < sb_registry_count(); row++) {
		const struct sb_kernel *kernel = sb_registry_row(row);
		int64_t tiles = sb_registry_tiles(kernel, 8192, 8192);

		if (!sb_registry_persists(kernel))
			continue;
		CU_ASSERT_EQUAL(sb_registry_blocks(kernel, 8192, 8192, kernel->bk, 132),
				kernel->stages > 2 ? tiles : 132);
		CU_ASSERT_EQUAL(sb_registry_blocks(kernel, 8192, 8192, kernel->bk + 1, 132), 132);
	}
}

static void few_values_of_k_are_given_what_writes_c_fast(void)
{
	CU_ASSERT_STRING_EQUAL(picked(4093, 4093, 1, h200), "sgemm_rank_128x128x32");
	CU_ASSERT_STRING_EQUAL(picked(3001, 2003, 2, h200), "sgemm_rank_128x64x32");
	CU_ASSERT_STRING_EQUAL(picked(4093, 4093, 33, h200), "sgemm_gather_128x64x16");
}

/* Each thread an element of its own, unless there are few and each has many chains. */
static void the_sum_kernel_follows_the_elements(void)
{
	CU_ASSERT_EQUAL(sb_registry_sum(4096, 128, 16, 132)->be, 256);
	CU_ASSERT_EQUAL(sb_registry_sum(1760, 16, 7, 132)->be, 256);
	CU_ASSERT_EQUAL(sb_registry_sum(64, 64, 256, 132)->be, 32);
	CU_ASSERT_EQUAL(sb_registry_sums(), 2);
}

/* More work is never predicted to take less time, and what has no rate is never picked. */
static void predictions_grow_with_the_product(void)
{
	const struct sb_target older = {86, 68, 101376, true, SB_LIE_COPIED, SB_LIE_COPIED};

	for (int i = 0; i < sb_registry_count(); i++) {
		const struct sb_kernel *kernel = sb_registry_row(i);
		double before = sb_registry_seconds(kernel, 100, 100, 100, &h200);

		CU_ASSERT(before > 0);
		for (int64_t size = 200; size < 100000 && before < 1e9; size *= 2) {
			double seconds = sb_registry_seconds(kernel, size, size, size, &h200);

			CU_ASSERT(seconds > before);
			before = seconds;
		}
		if (kernel->arch > older.arch)
			CU_ASSERT(sb_registry_seconds(kernel, 9, 9, 9, &older) > 1e9);
	}
	CU_ASSERT(sb_registry_seconds(sb_registry_find("sgemm_naive_32x32x1"), 9, 9, 9, &h200) >
		  1e9);
}

static void choose(const void *name)
{
	const struct sb_target older = {80, 108, 166912, true, SB_LIE_COPIED, SB_LIE_COPIED};

	CHECK(strcmp(sb_registry_choose(5, 5, 5, &older)->name, name) == 0);
	CHECK(strcmp(sb_registry_choose(5, 5, 5, &older)->name, name) == 0);
}

static void a_kernel_asked_for_by_name_is_used_if_it_runs(void)
{
	const char *plain = sb_registry_plain()->name;

	CU_ASSERT_EQUAL(
		in_child("SHIMBLAS_KERNEL=sgemm_tiled_16x16x16", choose, "sgemm_tiled_16x16x16"),
		0);
	CU_ASSERT_EQUAL(
		in_child("SHIMBLAS_KERNEL=nonsense SHIMBLAS_LOGFILE=/dev/null", choose, plain), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_KERNEL=sgemm_bulk_256x128x32 "
				 "SHIMBLAS_LOGFILE=/dev/null",
				 choose, plain),
			0);
}

static void a_block_gets_a_kernel_for_the_same_panels(void)
{
	static const int64_t sizes[] = {1, 100, 512, 2048, 8192};
	const struct sb_target target = {
		.arch = 90, .multiprocessors = 132, .shared = 232448, .maps = true};

	for (int row = 0; row < sb_registry_count(); row++)
		for (size_t i = 0; i < 25; i++) {
			const struct sb_kernel *kernel = sb_registry_row(row);
			int64_t m = sizes[i / 5], n = sizes[i % 5], k = 1000;
			const struct sb_kernel *alike = sb_registry_alike(kernel, m, n, k, &target);

			CU_ASSERT(strcmp(alike->source, kernel->source) == 0 ||
				  (sb_registry_persists(kernel) &&
				   strcmp(alike->source, "sgemm_bulk") == 0));
			CU_ASSERT(sb_registry_work(alike, m, n, k) <=
				  sb_registry_work(kernel, m, n, k));
			CU_ASSERT(alike->form == kernel->form);
			CU_ASSERT(kernel->bm % alike->bm == 0 && kernel->bn % alike->bn == 0);
			CU_ASSERT(kernel->bk % alike->bk == 0);
			CU_ASSERT_PTR_EQUAL(sb_registry_alike(alike, m, n, k, &target), alike);
		}
}

static void a_block_of_few_tiles_gets_smaller_ones(void)
{
	const struct sb_target target = {
		.arch = 90, .multiprocessors = 132, .shared = 232448, .maps = true};
	const struct sb_kernel *large = sb_registry_find("sgemm_bulk_256x128x32");
	const struct sb_kernel *alike = sb_registry_alike(large, 512, 2048, 4096, &target);

	CU_ASSERT(alike->bm * alike->bn < large->bm * large->bn);
	CU_ASSERT_PTR_EQUAL(sb_registry_alike(large, 8192, 8448, 8192, &target), large);
}

/* Whichever kernel a block is given, it works in what was planned for the product's own. */
static void a_block_never_works_in_more_than_was_planned(void)
{
	for (int row = 0; row < sb_registry_count(); row++)
		for (int other = 0; other < sb_registry_count(); other++) {
			const struct sb_kernel *kernel = sb_registry_row(row);
			const struct sb_kernel *smaller = sb_registry_row(other);

			if (strcmp(kernel->source, smaller->source) != 0 ||
			    kernel->bm % smaller->bm || kernel->bn % smaller->bn)
				continue;
			for (int64_t m = 1; m < 40000; m = m * 3 + 1)
				CU_ASSERT(sb_registry_work(smaller, m, 2048, 1000) <=
					  sb_registry_work(kernel, m, 2048, 1000));
		}
}

static void pack_kernels_follow_the_source(void)
{
	CU_ASSERT_STRING_EQUAL(sb_registry_pack(true)->source, "pack_across");
	CU_ASSERT_STRING_EQUAL(sb_registry_pack(false)->source, "pack_along");
}

static void every_preferred_source_has_an_image(void)
{
	int found = 0;

	for (int i = 0; i < sb_images_count(); i++) {
		found += strcmp(sb_images_row(i)->source, "sgemm_plain") == 0;
		found += strcmp(sb_images_row(i)->source, "pack_across") == 0;
		CU_ASSERT_PTR_NOT_NULL(sb_images_row(i)->data);
		CU_ASSERT_EQUAL((uintptr_t)sb_images_row(i)->data % 64, 0);
	}
	CU_ASSERT_EQUAL(found, 2);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"names are unique and found", names_are_unique_and_found},
		{"the plain kernel runs everywhere", the_plain_kernel_runs_everywhere},
		{"a pick runs where it is picked for", a_pick_runs_where_it_is_picked_for},
		{"large products are given bulk copies where there are any",
		 large_products_are_given_bulk_copies_where_there_are_any},
		{"large products elsewhere are given asynchronous copies",
		 large_products_elsewhere_are_given_asynchronous_copies},
		{"tiles follow the grid", tiles_follow_the_grid},
		{"thin products are given small tiles", thin_products_are_given_small_tiles},
		{"k is split where tiles are few", k_is_split_where_tiles_are_few},
		{"panels are made where that pays", panels_are_made_where_that_pays},
		{"what lies in place needs no panel", what_lies_in_place_needs_no_panel},
		{"one column is bound by bytes", one_column_is_bound_by_bytes},
		{"a persistent block has one tile where k is shorter than what is fetched",
		 a_persistent_block_has_one_tile_where_k_is_shorter_than_what_is_fetched},
		{"few values of k are given what writes C fast",
		 few_values_of_k_are_given_what_writes_c_fast},
		{"the sum kernel follows the elements", the_sum_kernel_follows_the_elements},
		{"predictions grow with the product", predictions_grow_with_the_product},
		{"a kernel asked for by name is used if it runs",
		 a_kernel_asked_for_by_name_is_used_if_it_runs},
		{"a block gets a kernel for the same panels",
		 a_block_gets_a_kernel_for_the_same_panels},
		{"a block of few tiles gets smaller ones", a_block_of_few_tiles_gets_smaller_ones},
		{"a block never works in more than was planned",
		 a_block_never_works_in_more_than_was_planned},
		{"pack kernels follow the source", pack_kernels_follow_the_source},
		{"every preferred source has an image", every_preferred_source_has_an_image},
	};

	return SUITE("registry", tests);
}
