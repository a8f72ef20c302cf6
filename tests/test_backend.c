/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is found is remembered for the life of a process, so every case has one of its own. This
 * program is linked with no BLAS: what there is to find, a case loads.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"
#include "fake_blas.h"
#include "finder.h"
#include "object.h"
#include "suite.h"

static struct sb_name sgemm = {"sgemm_", SB_F77, 32, 1, "sgemm_", NULL, 0};
static struct sb_name cblas = {"cblas_sgemm", SB_CBLAS, 32, 0, "cblas_sgemm", NULL, 0};
static struct sb_name scipy = {"scipy_sgemm_", SB_F77, 32, 7, "sgemm_", NULL, 0};
static struct sb_name wide = {"sgemm_64_", SB_F77, 64, 3, "sgemm_", NULL, 0};

static void setting(void)
{
	setenv("SHIMBLAS_BACKEND", suite_built("tests/fake_one.so"), 1);
	load("tests/fake_two.so", RTLD_GLOBAL);
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_SETTING, "/fake_one.so"));
	SUITE_EXPECT(sgemm.process_wide != NULL);
	/* A spelling that the library has under its plain name only. */
	SUITE_EXPECT(found(&scipy, here(), SB_SOURCE_SETTING, "/fake_one.so"));
	/* And one of other integers, which it has not. */
	SUITE_EXPECT(found(&wide, here(), SB_SOURCE_BUILT_IN, ""));
}

static void the_setting_comes_first(void)
{
	SUITE_CHILD_PASSES(setting);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "cannot answer sgemm_64_"));
}

static void bad_setting(void)
{
	setenv("SHIMBLAS_BACKEND", "/nonexistent/libblas.so", 1);
	load("tests/fake_two.so", RTLD_GLOBAL);
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_NEXT, "/fake_two.so"));
	SUITE_EXPECT(found(&cblas, here(), SB_SOURCE_NEXT, "/fake_two.so"));
}

static void a_setting_that_cannot_be_opened_is_told_once(void)
{
	SUITE_CHILD_PASSES(bad_setting);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "/nonexistent/libblas.so"));
	CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "SHIMBLAS_BACKEND"));
}

static void setting_is_ourselves(void)
{
	setenv("SHIMBLAS_BACKEND", suite_library(), 1);
	load("tests/fake_two.so", RTLD_GLOBAL);
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_NEXT, "/fake_two.so"));
}

static void a_setting_that_names_this_library_is_passed_over(void)
{
	SUITE_CHILD_PASSES(setting_is_ourselves);
}

static void next(void)
{
	load("tests/fake_one.so", RTLD_GLOBAL);
	load("tests/fake_two.so", RTLD_LOCAL);
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_NEXT, "/fake_one.so"));
	SUITE_EXPECT(sgemm.process_wide != NULL);
}

static void then_the_global_scope(void)
{
	SUITE_CHILD_PASSES(next);
}

static void closure(void)
{
	void *one = load("tests/caller_one.so", RTLD_LOCAL);
	void *two = load("tests/caller_two.so", RTLD_LOCAL);

	SUITE_EXPECT(found(&sgemm, dlsym(two, "caller_run"), SB_SOURCE_CLOSURE, "/fake_two.so"));
	SUITE_EXPECT(found(&sgemm, dlsym(one, "caller_run"), SB_SOURCE_CLOSURE, "/fake_one.so"));
	SUITE_EXPECT(sgemm.process_wide == NULL);
	/* Each spelling of one call site apart. */
	SUITE_EXPECT(found(&cblas, dlsym(one, "caller_run"), SB_SOURCE_CLOSURE, "/fake_one.so"));
	/* What is remembered for the object stays loaded. */
	dlclose(one);
	SUITE_EXPECT(dlopen(suite_built("tests/caller_one.so"), RTLD_NOW | RTLD_NOLOAD) != NULL);
}

static void then_what_the_caller_was_linked_with(void)
{
	SUITE_CHILD_PASSES(closure);
}

static void walk(void)
{
	void *handle = load("tests/caller_two.so", RTLD_LOCAL);

	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_WALK, "/fake_two.so"));
	/* Code that lies in no object. */
	SUITE_EXPECT(found(&sgemm, malloc(1), SB_SOURCE_WALK, "/fake_two.so"));
	dlclose(handle);
	SUITE_EXPECT(dlopen(suite_built("tests/fake_two.so"), RTLD_NOW | RTLD_NOLOAD) != NULL);
}

static void then_whatever_is_loaded(void)
{
	SUITE_CHILD_PASSES(walk);
}

static void fallback(void)
{
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_FALLBACK, ".so.0"));
	/* It is loaded now, so what it defines is found a step earlier. */
	SUITE_EXPECT(found(&cblas, here(), SB_SOURCE_WALK, ".so.0"));
	SUITE_EXPECT(found(&scipy, here(), SB_SOURCE_FALLBACK, ".so.0"));
	SUITE_EXPECT(sb_backend_find(&sgemm, here())->bits == 32);
	SUITE_EXPECT(dlsym(RTLD_DEFAULT, "cblas_sgemm") == NULL);
}

static void then_the_blas_of_configure(void)
{
	SUITE_CHILD_PASSES(fallback);
}

static void built_in(void)
{
	float a = 3, b = 5, c = 7;
	struct sb_call call = {.m = 1,
			       .n = 1,
			       .k = 1,
			       .lda = 1,
			       .ldb = 1,
			       .ldc = 1,
			       .alpha = 1,
			       .beta = 1,
			       .a = &a,
			       .b = &b,
			       .c = &c};
	struct sb_forward forward = {&wide, here(), &call, {NULL}};

	SUITE_EXPECT(found(&wide, here(), SB_SOURCE_BUILT_IN, ""));
	SUITE_EXPECT(!sb_backend_foreign(&wide, here()));
	sb_backend_run(&forward);
	SUITE_EXPECT(c == 22);
	sb_backend_call(&forward, &call);
	SUITE_EXPECT(c == 37);
	/* That there is nobody is remembered, until something is loaded. */
	SUITE_EXPECT(wide.nobody != 0 && wide.nobody == sb_object_loads());
	load("tests/fake_one.so", RTLD_GLOBAL);
	SUITE_EXPECT(wide.nobody != sb_object_loads());
	SUITE_EXPECT(found(&wide, here(), SB_SOURCE_BUILT_IN, ""));
	SUITE_EXPECT(wide.nobody == sb_object_loads());
	/* A BLAS that comes later is found. */
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_NEXT, "/fake_one.so"));
}

static void then_the_built_in_loops(void)
{
	SUITE_CHILD_PASSES(built_in);
}

static void wide_next(void)
{
	load("tests/fake_wide.so", RTLD_GLOBAL);
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_NEXT, "/fake_wide.so"));
	SUITE_EXPECT(sb_backend_find(&sgemm, here())->bits == 64);
	SUITE_EXPECT(sb_backend_foreign(&sgemm, here()));
	SUITE_EXPECT(sb_backend_foreign(&cblas, here()));
}

static void narrow_next(void)
{
	load("tests/fake_one.so", RTLD_GLOBAL);
	SUITE_EXPECT(sb_backend_find(&sgemm, here())->bits == 32);
	SUITE_EXPECT(!sb_backend_foreign(&sgemm, here()) && !sb_backend_foreign(&cblas, here()));
}

static void the_width_under_a_plain_name_is_found_out(void)
{
	SUITE_CHILD_PASSES(wide_next);
	SUITE_CHILD_PASSES(narrow_next);
}

static void wide_setting(void)
{
	setenv("SHIMBLAS_BACKEND", suite_built("tests/fake_wide.so"), 1);
	/* The other way round would be remembered wrongly for the plain name. */
	SUITE_EXPECT(found(&scipy, here(), SB_SOURCE_FALLBACK, ".so.0"));
	SUITE_EXPECT(!sb_backend_foreign(&scipy, here()));
	SUITE_EXPECT(found(&wide, here(), SB_SOURCE_SETTING, "/fake_wide.so"));
	SUITE_EXPECT(!sb_backend_foreign(&wide, here()));
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_SETTING, "/fake_wide.so"));
	SUITE_EXPECT(sb_backend_foreign(&sgemm, here()));
}

static void a_plain_name_stands_for_others_of_its_width_only(void)
{
	SUITE_CHILD_PASSES(wide_setting);
}

static void own_arguments(void)
{
	void *handle = load("tests/fake_one.so", RTLD_GLOBAL);
	struct fake_seen *seen = dlsym(handle, "fake_seen");
	int m = 1, n = 1, k = 1, ld = 1;
	float alpha = 1, beta = 0, a = 1, b = 1, c = 0;
	const struct sb_f77_arguments f77 = {"n", "T", &m,  &n,	   &k, &alpha, &a,
					     &ld, &b,  &ld, &beta, &c, &ld};
	const struct sb_cblas_arguments words = {
		102, 111, 114, (int64_t)0x7777777700000001, 2, 3, 1.5f, &a, 4, &b, 5, 2.5f, &c, 6};
	const struct sb_call none = {.unknown = true};
	struct sb_forward forward = {&sgemm, here(), &none, {.f77 = &f77}};

	sb_backend_run(&forward);
	SUITE_EXPECT(seen->calls == 1 && c == 1);
	SUITE_EXPECT(memcmp(seen->pointer, &f77, sizeof f77) == 0);
	SUITE_EXPECT(seen->length[0] == 1 && seen->length[1] == 1);
	forward = (struct sb_forward){&cblas, here(), &none, {.cblas = &words}};
	sb_backend_run(&forward);
	SUITE_EXPECT(seen->calls == 2);
	SUITE_EXPECT(seen->word[0] == 102 && seen->word[1] == 111 && seen->word[2] == 114);
	SUITE_EXPECT(seen->word[3] == (int64_t)0x7777777700000001);
	SUITE_EXPECT(seen->word[4] == 2 && seen->word[5] == 3 && seen->word[6] == 4);
	SUITE_EXPECT(seen->word[7] == 5 && seen->word[8] == 6);
	SUITE_EXPECT(seen->alpha == 1.5f && seen->beta == 2.5f && seen->a == &a && seen->c == &c);
}

static void the_callers_arguments_go_on_untouched(void)
{
	SUITE_CHILD_PASSES(own_arguments);
}

static const struct suite_case cases[] = {
	{"the setting comes first", the_setting_comes_first},
	{"a setting that cannot be opened is told once",
	 a_setting_that_cannot_be_opened_is_told_once},
	{"a setting that names this library is passed over",
	 a_setting_that_names_this_library_is_passed_over},
	{"then the global scope", then_the_global_scope},
	{"then what the caller was linked with", then_what_the_caller_was_linked_with},
	{"then whatever is loaded", then_whatever_is_loaded},
	{"then the BLAS of configure", then_the_blas_of_configure},
	{"then the built-in loops", then_the_built_in_loops},
	{"the width under a plain name is found out", the_width_under_a_plain_name_is_found_out},
	{"a plain name stands for others of its width only",
	 a_plain_name_stands_for_others_of_its_width_only},
	{"the caller's arguments go on untouched", the_callers_arguments_go_on_untouched},
};

int main(void)
{
	unsetenv("SHIMBLAS_BACKEND");
	suite_scratch();
	return SUITE("backend", cases);
}
