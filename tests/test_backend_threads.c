/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend is asked how many threads it has, under the names of its kind. */
#include <dlfcn.h>
#include <stdlib.h>

#include "backend.h"
#include "finder.h"
#include "route.h"
#include "suite.h"

static struct sb_name plain = {"sgemm_", SB_F77, 32, 1, "sgemm_", NULL, 0};
static struct sb_name cblas = {"cblas_sgemm", SB_CBLAS, 32, 0, "cblas_sgemm", NULL, 0};
static struct sb_name wheel = {"scipy_sgemm_64_", SB_F77, 64, 9, "sgemm_", NULL, 0};
static struct sb_name suffixed = {"cblas_sgemm_64", SB_CBLAS, 64, 4, "cblas_sgemm", NULL, 0};

static const struct sb_backend *from(struct sb_name *name, const char *file)
{
	setenv("SHIMBLAS_BACKEND", suite_built(file), 1);
	return sb_backend_find(name, here());
}

/* Five at first; then what it is told. */
static bool heeds(const struct sb_backend *backend)
{
	return sb_backend_threads_get(&backend->threads) == 5 &&
	       sb_backend_threads_set(&backend->threads, 3) &&
	       sb_backend_threads_get(&backend->threads) == 3;
}

static void wheel_of_openblas(void)
{
	SUITE_EXPECT(heeds(from(&wheel, "tests/fake_wheel_threads.so")));
}

static void mkl(void)
{
	SUITE_EXPECT(heeds(from(&suffixed, "tests/fake_mkl_threads.so")));
}

static void blis(void)
{
	SUITE_EXPECT(heeds(from(&plain, "tests/fake_blis_threads.so")));
}

static void each_kind_is_asked_under_its_own_names(void)
{
	SUITE_CHILD_PASSES(wheel_of_openblas);
	SUITE_CHILD_PASSES(mkl);
	SUITE_CHILD_PASSES(blis);
}

static void silent(void)
{
	const struct sb_backend *backend = from(&plain, "tests/fake_one.so");

	SUITE_EXPECT(backend->function != NULL);
	SUITE_EXPECT(sb_backend_threads_get(&backend->threads) == 0);
	SUITE_EXPECT(!sb_backend_threads_set(&backend->threads, 1));
}

static void one_that_does_not_say_is_not_asked(void)
{
	SUITE_CHILD_PASSES(silent);
}

static void openblas(void)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
	int (*get)(void);
	void (*set)(int);
	const struct sb_backend *backend = sb_backend_find(&cblas, here());

	SUITE_EXPECT(library != NULL);
	if (!library)
		return;
	*(void **)&get = dlsym(library, "openblas_get_num_threads");
	*(void **)&set = dlsym(library, "openblas_set_num_threads");
	SUITE_EXPECT(sb_backend_threads_get(&backend->threads) == get());
	set(1);
	SUITE_EXPECT(sb_backend_threads_get(&backend->threads) == 1);
}

static void the_real_one_says_what_is_in_force_now(void)
{
	SUITE_CHILD_PASSES(openblas);
}

/* The judge asks at each call. */
static void judged(void)
{
	const struct sb_backend *backend = from(&plain, "tests/fake_blis_threads.so");
	static float memory[4];
	const struct sb_call call = {.m = 300,
				     .n = 300,
				     .k = 300,
				     .lda = 300,
				     .ldb = 300,
				     .ldc = 300,
				     .alpha = 1,
				     .a = memory,
				     .b = memory,
				     .c = memory};
	const struct sb_forward forward = {&plain, here(), &call, {NULL}};
	double many, few;

	SUITE_EXPECT(sb_backend_threads_set(&backend->threads, 16));
	many = sb_route(&call, &forward).cpu_seconds;
	SUITE_EXPECT(sb_backend_threads_set(&backend->threads, 1));
	few = sb_route(&call, &forward).cpu_seconds;
	SUITE_EXPECT(many > 0 && few > 1.5 * many);
}

static void the_prediction_follows_what_it_says(void)
{
	SUITE_CHILD_PASSES(judged);
}

static const struct suite_case cases[] = {
	{"each kind is asked under its own names", each_kind_is_asked_under_its_own_names},
	{"one that does not say is not asked", one_that_does_not_say_is_not_asked},
	{"the real one says what is in force now", the_real_one_says_what_is_in_force_now},
	{"the prediction follows what it says", the_prediction_follows_what_it_says},
};

int main(void)
{
	return SUITE("backend_threads", cases);
}
