/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernels serve an emulated product together, and when one is emulated at all. */
#include "child.h"

#include "args.h"
#include "registry.h"

static const struct sb_target h200 = {90, 132, 232448, true, SB_LIE_COPIED, SB_LIE_COPIED};

static enum sb_fallback tiers_for(int64_t m, int64_t n, int64_t k, int arch, struct sb_tiers *tiers)
{
	const struct sb_target target = {
		.arch = arch, .multiprocessors = 132, .shared = 232448, .maps = true};
	enum sb_fallback why = SB_FALLBACKS;
	bool any = sb_registry_pick_tiers(m, n, k, &target, tiers, &why);

	CU_ASSERT_EQUAL(any, why == SB_FALLBACK_NONE || why == SB_FALLBACK_SHORT);
	return why;
}

static void emulated_products_have_tiers_where_the_device_has_kernels(void)
{
	static const int none[] = {70, 75, 100, 103, 110, 130};
	static const int slower[] = {86, 89, 120, 121};
	struct sb_tiers tiers;

	CU_ASSERT_EQUAL(tiers_for(4096, 4096, 4096, 90, &tiers), SB_FALLBACK_NONE);
	CU_ASSERT_STRING_EQUAL(tiers.fp16x3->source, "sgemm_fp16x3");
	CU_ASSERT_STRING_EQUAL(tiers.bf16x6->source, "sgemm_bf16x6");
	CU_ASSERT_EQUAL(tiers.strict->arithmetic, SB_STRICT);
	CU_ASSERT(tiers.bm % 128 == 0 && tiers.bn % 128 == 0 && tiers.bk % 64 == 0);
	CU_ASSERT_EQUAL(tiers_for(4096, 4096, 1023, 90, &tiers), SB_FALLBACK_SHORT);
	CU_ASSERT_PTR_NULL(tiers.fp16x3);
	CU_ASSERT_EQUAL(tiers_for(64, 64, 64, 90, &tiers), SB_FALLBACK_FASTER);
	CU_ASSERT_EQUAL(tiers_for(128, 128, 65536, 90, &tiers), SB_FALLBACK_FASTER);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CU_ASSERT_EQUAL(tiers_for(4096, 4096, 4096, none[i], &tiers),
				SB_FALLBACK_NO_KERNEL);
	CU_ASSERT_EQUAL(tiers_for(4096, 4096, 4096, 80, &tiers), SB_FALLBACK_NONE);
	CU_ASSERT_PTR_NULL(tiers.fp16x3);
	CU_ASSERT_STRING_EQUAL(tiers.bf16x6->source, "sgemm_bf16x6sync");
	/* Their multiply-adds are faster than six products on their tensor cores. */
	for (size_t i = 0; i < sizeof slower / sizeof *slower; i++) {
		const struct sb_target target = {
			.arch = slower[i], .multiprocessors = 132, .shared = 232448, .maps = true};
		enum sb_fallback why;

		CU_ASSERT_EQUAL(tiers_for(4096, 4096, 4096, slower[i], &tiers), SB_FALLBACK_FASTER);
		CU_ASSERT(sb_registry_tiers_of(sb_registry_find("sgemm_bf16x6sync_128x128x32"),
					       4096, 4096, 4096, &target, &tiers, &why));
	}
}

static struct sb_tiers_launch launched(int64_t m, int64_t n, int64_t k)
{
	struct sb_tiers_launch launch;
	struct sb_tiers tiers;
	enum sb_fallback why;

	(void)sb_registry_pick_tiers(m, n, k, &h200, &tiers, &why);
	launch = sb_registry_tiers_launch(&tiers, m, n, k, h200.multiprocessors);
	CU_ASSERT_EQUAL(launch.count, k < SB_FP16X3_LEAST ? 2 : 3);
	CU_ASSERT_EQUAL(launch.kernels[launch.count - 2]->arithmetic, SB_BF16X6);
	CU_ASSERT_EQUAL(launch.kernels[launch.count - 1]->arithmetic, SB_STRICT);
	for (int i = 0; i < launch.count; i++)
		CU_ASSERT(sb_registry_work(launch.kernels[i], m, n, k) <=
			  sb_registry_tiers_work(&tiers, m, n, k));
	return launch;
}

static const struct sb_kernel *first_launched(int64_t m, int64_t n, int64_t k)
{
	return launched(m, n, k).kernels[0];
}

static void small_grids_of_emulated_products_get_smaller_tiles(void)
{
	CU_ASSERT_EQUAL(first_launched(1024, 1024, 8192)->bm, 64);
	CU_ASSERT_EQUAL(first_launched(4096, 4096, 8192)->bm, 128);
	CU_ASSERT_EQUAL(first_launched(16384, 1024, 4096)->bm, 128);
	CU_ASSERT_EQUAL(first_launched(1024, 1024, 512)->arithmetic, SB_BF16X6);
}

/* On borders of chunks, into parts that fill the device; and there is room for all sums. */
static void k_is_cut_where_tiles_are_few(void)
{
	static const int64_t sizes[][3] = {{512, 512, 65536},
					   {256, 256, 262144},
					   {512, 1024, 16384},
					   {768, 768, 1 << 20},
					   {300, 200, 30000}};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int64_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
		struct sb_tiers_launch launch = launched(m, n, k);
		struct sb_tiers tiers;
		enum sb_fallback why;

		CU_ASSERT(sb_registry_pick_tiers(m, n, k, &h200, &tiers, &why));
		CU_ASSERT(launch.part > 0 && launch.part < k && launch.part % tiers.chunk == 0);
		CU_ASSERT(strstr(launch.kernels[0]->name, "cut") != NULL);
		CU_ASSERT_EQUAL(launch.kernels[2]->bm, 32);
		CU_ASSERT(sb_registry_tiles(launch.kernels[0], m, n) * (k / launch.part) >= 66);
		CU_ASSERT(sb_registry_tiers_work(&tiers, m, n, k) >=
			  (size_t)(m * n * ((k + tiers.chunk - 1) / tiers.chunk)) * sizeof(float));
		/* A block of it works in no more. */
		CU_ASSERT(sb_registry_tiers_work(&tiers, m / 2, n / 3, k) <=
			  sb_registry_tiers_work(&tiers, m, n, k));
	}
	/* Neither where all multiprocessors have tiles, nor in blocks of a C of which they do. */
	CU_ASSERT_EQUAL(launched(4096, 4096, 4096).part, 0);
	CU_ASSERT_EQUAL(launched(2048, 2048, 65536).part, 0);
	{
		struct sb_tiers tiers;
		enum sb_fallback why;

		CU_ASSERT(sb_registry_pick_tiers(4096, 4096, 65536, &h200, &tiers, &why));
		CU_ASSERT_EQUAL(sb_registry_tiers_launch(&tiers, 256, 256, 65536, 132).part, 0);
	}
	/* Nor where k has one chunk. */
	CU_ASSERT_EQUAL(launched(512, 512, 1024).part, 0);
}

/* Of k where C is large; where it is small, so long that the multiprocessors share them. */
static void chunks_are_as_long_as_sums_and_tiles_allow(void)
{
	static const struct {
		int64_t m, n, k;
		int chunk;
	} shapes[] = {{4096, 4096, 1, 1024},	    {4096, 4096, 4095, 1024},
		      {4096, 4096, 4096, 1536},	    {4096, 4096, 6143, 1536},
		      {4096, 4096, 6144, 2048},	    {4096, 4096, 16383, 2048},
		      {4096, 4096, 16384, 4096},    {4096, 4096, 1 << 30, 4096},
		      {1024, 1024, 4096, 1536},	    {1024, 1024, 16384, 4096},
		      {1024, 896, 4096, 1024},	    {1024, 896, 6144, 1536},
		      {256, 256, 65536, 1024},	    {256, 256, 98304, 2048},
		      {256, 256, 1 << 20, 4096},    {1, 1, 191 * 4096, 2048},
		      {1, 1, 191 * 4096 + 1, 4096}, {129, 1, 95 * 1536, 1024},
		      {129, 1, 95 * 1536 + 1, 1536}};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		int64_t m = shapes[i].m, n = shapes[i].n, k = shapes[i].k;
		struct sb_tiers tiers;
		enum sb_fallback why;

		CU_ASSERT_EQUAL(sb_split_chunk(m, n, k), shapes[i].chunk);
		CU_ASSERT_EQUAL(sb_split_chunk(n, m, k), shapes[i].chunk);
		CU_ASSERT(sb_registry_tiers_of(sb_registry_find("sgemm_bf16x6_256x128x16"), m, n, k,
					       &h200, &tiers, &why));
		CU_ASSERT_EQUAL(tiers.chunk, shapes[i].chunk);
	}
}

/* A strict pick, whatever the shape, is strict; so is what a block of it is given. */
static void picks_never_mix_arithmetics(void)
{
	for (int64_t n = 1; n < 40000; n = n * 2 + 1)
		for (int64_t k = 1; k < 40000; k = k * 3 + 1) {
			const struct sb_kernel *kernel = sb_registry_pick(n, n, k, &h200);

			CU_ASSERT_EQUAL(kernel->arithmetic, SB_STRICT);
			CU_ASSERT_EQUAL(
				sb_registry_alike(kernel, n / 2 + 1, n, k, &h200)->arithmetic,
				SB_STRICT);
		}
	for (int row = 0; row < sb_registry_count(); row++)
		for (int64_t m = 100; m < 20000; m *= 5) {
			const struct sb_kernel *kernel = sb_registry_row(row);

			CU_ASSERT_EQUAL(sb_registry_alike(kernel, m, 900, 2000, &h200)->arithmetic,
					kernel->arithmetic);
		}
}

static void choose_tiers(const void *name)
{
	struct sb_tiers tiers;
	enum sb_fallback why;
	bool any = sb_registry_choose_tiers(5, 5, 5000, &h200, &tiers, &why);

	CHECK(any == (name != NULL));
	CHECK(!any || strcmp(sb_registry_first(&tiers)->source, name) == 0);
	CHECK(why == (any && tiers.fp16x3 ? SB_FALLBACK_NONE : SB_FALLBACK_NAMED));
}

static void a_kernel_asked_for_by_name_decides_the_tiers(void)
{
	CU_ASSERT_EQUAL(
		in_child("SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64", choose_tiers, "sgemm_fp16x3"),
		0);
	CU_ASSERT_EQUAL(
		in_child("SHIMBLAS_KERNEL=sgemm_bf16x6_256x128x16", choose_tiers, "sgemm_bf16x6"),
		0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_KERNEL=sgemm_plain_64x64x16", choose_tiers, NULL), 0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"a kernel asked for by name decides the tiers",
		 a_kernel_asked_for_by_name_decides_the_tiers},
		{"chunks are as long as sums and tiles allow",
		 chunks_are_as_long_as_sums_and_tiles_allow},
		{"emulated products have tiers where the device has kernels",
		 emulated_products_have_tiers_where_the_device_has_kernels},
		{"k is cut where tiles are few", k_is_cut_where_tiles_are_few},
		{"small grids of emulated products get smaller tiles",
		 small_grids_of_emulated_products_get_smaller_tiles},
		{"picks never mix arithmetics", picks_never_mix_arithmetics},
	};

	return SUITE("tiers", tests);
}
