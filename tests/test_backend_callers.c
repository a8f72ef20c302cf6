/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom the finder must tell apart: ourselves, our copies, and callers of one name. */
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
static struct sb_name wide = {"sgemm_64_", SB_F77, 64, 3, "sgemm_", NULL, 0};

typedef float number_function(void);

static const char *copied;

static void copy_library(void)
{
	char command[2048], *path = malloc(512);

	snprintf(path, 512, "%s/copy.so", suite_scratch());
	snprintf(command, sizeof command, "cp '%s' '%s'", suite_library(), path);
	CU_ASSERT_EQUAL(system(command), 0);
	copied = path;
}

static void only_ourselves(void)
{
	SUITE_EXPECT(dlopen(suite_library(), RTLD_NOW | RTLD_GLOBAL) != NULL);
	SUITE_EXPECT(dlopen(copied, RTLD_NOW | RTLD_GLOBAL) != NULL);
	SUITE_EXPECT(dlsym(RTLD_DEFAULT, "sgemm_64_") != NULL);
	SUITE_EXPECT(found(&wide, here(), SB_SOURCE_BUILT_IN, ""));
	SUITE_EXPECT(found(&sgemm, here(), SB_SOURCE_WALK, ".so.0"));
}

static void copies_call_each_other_never(void)
{
	number_function *run;
	void *caller;

	SUITE_EXPECT(dlopen(copied, RTLD_NOW | RTLD_GLOBAL) != NULL);
	SUITE_EXPECT(dlopen(suite_library(), RTLD_NOW | RTLD_GLOBAL) != NULL);
	caller = load("tests/caller_one.so", RTLD_LOCAL);
	*(void **)&run = dlsym(caller, "caller_run");
	alarm(20);
	SUITE_EXPECT(run() == 1);
}

static void neither_this_library_nor_a_copy_is_a_backend(void)
{
	copy_library();
	SUITE_CHILD_PASSES(only_ourselves);
	SUITE_CHILD_PASSES(copies_call_each_other_never);
}

static const char *provider(void)
{
	static char path[1024];
	const char *folder = getenv("SB_PROVIDER_DIR");

	snprintf(path, sizeof path, "%s/libblas.so.3", folder ? folder : suite_built("provider"));
	return path;
}

static void provider_global(void)
{
	void *handle = dlopen(provider(), RTLD_NOW | RTLD_GLOBAL);
	if (!handle)
		printf("    %s\n", dlerror());
	SUITE_EXPECT(handle != NULL);
	SUITE_EXPECT(!sb_object_foreign(dlsym(handle, "sgemm_")));
	SUITE_EXPECT(sb_object_foreign(dlsym(handle, "saxpy_")));
	/* The BLAS it needs is loaded with it. */
	SUITE_EXPECT(strstr(sb_backend_find(&sgemm, here())->path, "openblas") != NULL);
}

static void the_provider_is_no_backend(void)
{
	/* In the build tree it does not find the library it needs by itself. */
	if (access(provider(), R_OK) != 0 || !dlopen(suite_library(), RTLD_NOW | RTLD_LOCAL)) {
		suite_skip("no provider");
		return;
	}
	SUITE_CHILD_PASSES(provider_global);
}

static number_function *number_of(const char *file, const char *function)
{
	number_function *run = NULL;
	void *handle = load(file, RTLD_LOCAL);

	if (handle)
		*(void **)&run = dlsym(handle, function);
	SUITE_EXPECT(run != NULL);
	return run;
}

static void two_wheels(void)
{
	number_function *one, *two;

	SUITE_EXPECT(dlopen(suite_library(), RTLD_NOW | RTLD_GLOBAL) != NULL);
	one = number_of("tests/caller_one.so", "caller_run");
	two = number_of("tests/caller_two.so", "caller_run");
	for (int i = 0; i < 3; i++) {
		SUITE_EXPECT(one() == 1);
		SUITE_EXPECT(two() == 2);
	}
	SUITE_EXPECT(number_of("tests/caller_one.so", "caller_run_often")() == 3000);
	SUITE_EXPECT(number_of("tests/caller_two.so", "caller_run_often")() == 6000);
	SUITE_EXPECT(number_of("tests/caller_one.so", "caller_run_often")() == 3000);
}

static void two_libraries_of_one_name_each_get_their_own(void)
{
	SUITE_CHILD_PASSES(two_wheels);
}

static void tail_jump(void)
{
	const int one = 1;
	const float unit = 1, zero = 0;
	float c = 0;
	void *handle;
	void (*jump)(const char *, const char *, const int *, const int *, const int *,
		     const float *, const float *, const int *, const float *, const int *,
		     const float *, float *, const int *, size_t, size_t);

	SUITE_EXPECT(dlopen(suite_library(), RTLD_NOW | RTLD_GLOBAL) != NULL);
	handle = load("tests/caller_two.so", RTLD_LOCAL);
	*(void **)&jump = dlsym(handle, "caller_jump");
	if (!jump)
		return;
	for (int i = 0; i < 3; i++) {
		c = 0;
		jump("N", "N", &one, &one, &one, &unit, &unit, &one, &unit, &one, &zero, &c, &one,
		     1, 1);
		SUITE_EXPECT(c == 2);
	}
}

static void a_caller_that_jumps_on_is_answered_by_what_is_loaded(void)
{
	SUITE_CHILD_PASSES(tail_jump);
}

static const struct suite_case cases[] = {
	{"neither this library nor a copy is a backend",
	 neither_this_library_nor_a_copy_is_a_backend},
	{"the provider is no backend", the_provider_is_no_backend},
	{"two libraries of one name each get their own",
	 two_libraries_of_one_name_each_get_their_own},
	{"a caller that jumps on is answered by what is loaded",
	 a_caller_that_jumps_on_is_answered_by_what_is_loaded},
};

int main(void)
{
	unsetenv("SHIMBLAS_BACKEND");
	suite_scratch();
	return SUITE("backend callers", cases);
}
