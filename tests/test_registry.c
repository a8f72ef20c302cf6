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

static void a_pick_runs_where_it_is_picked_for(void)
{
	static const int archs[] = {75, 80, 86, 89, 90, 100, 120, 130};
	static const int64_t sizes[] = {1, 31, 128, 255, 512, 4096, 100000};

	for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (int maps = 0; maps < 2; maps++) {
				const struct sb_kernel *kernel =
					sb_registry_pick(sizes[s], 4096, sizes[s], archs[a], maps);

				CU_ASSERT(kernel->arch <= archs[a]);
				CU_ASSERT(maps || !sb_registry_has_maps(kernel));
			}
}

static void large_products_are_given_bulk_copies_where_there_are_any(void)
{
	CU_ASSERT_STRING_EQUAL(sb_registry_pick(4096, 4096, 4096, 90, true)->source, "sgemm_bulk");
	CU_ASSERT_STRING_NOT_EQUAL(sb_registry_pick(4096, 4096, 4096, 90, false)->source,
				   "sgemm_bulk");
	CU_ASSERT_STRING_NOT_EQUAL(sb_registry_pick(4096, 4096, 4096, 86, true)->source,
				   "sgemm_bulk");
	CU_ASSERT_STRING_EQUAL(sb_registry_pick(5, 5, 5, 90, true)->source, "sgemm_plain");
}

static void choose(const void *name)
{
	CHECK(strcmp(sb_registry_choose(5, 5, 5, 80, true)->name, name) == 0);
	CHECK(strcmp(sb_registry_choose(5, 5, 5, 80, true)->name, name) == 0);
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

static void a_narrow_kernel_reads_the_same_panels(void)
{
	for (int row = 0; row < sb_registry_count(); row++) {
		const struct sb_kernel *kernel = sb_registry_row(row);
		const struct sb_kernel *narrow = sb_registry_narrow(kernel);

		if (!narrow)
			continue;
		CU_ASSERT_STRING_EQUAL(narrow->source, kernel->source);
		CU_ASSERT(narrow->form == kernel->form && narrow->arch <= kernel->arch);
		CU_ASSERT(kernel->bm % narrow->bm == 0 && kernel->bn % narrow->bn == 0);
		CU_ASSERT(kernel->bk % narrow->bk == 0);
	}
	CU_ASSERT_PTR_EQUAL(sb_registry_narrow(sb_registry_find("sgemm_bulk_256x128x32")),
			    sb_registry_find("sgemm_bulk_128x128x32"));
	CU_ASSERT_PTR_NULL(sb_registry_narrow(sb_registry_plain()));
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
		{"a kernel asked for by name is used if it runs",
		 a_kernel_asked_for_by_name_is_used_if_it_runs},
		{"a narrow kernel reads the same panels", a_narrow_kernel_reads_the_same_panels},
		{"pack kernels follow the source", pack_kernels_follow_the_source},
		{"every preferred source has an image", every_preferred_source_has_an_image},
	};

	return SUITE("registry", tests);
}
