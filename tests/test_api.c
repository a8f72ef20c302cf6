/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions, and the layout of their structs: the promise of libshimblas.so.0. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distance.h"
#include "shimblas.h"
#include "suite.h"

/* A change to any of these breaks programs that were compiled before it. */
_Static_assert(offsetof(struct shimblas_side_statistics, calls) == 0, "ABI");
_Static_assert(offsetof(struct shimblas_side_statistics, flops) == 8, "ABI");
_Static_assert(offsetof(struct shimblas_side_statistics, bytes) == 16, "ABI");
_Static_assert(offsetof(struct shimblas_side_statistics, seconds) == 24, "ABI");
_Static_assert(sizeof(struct shimblas_side_statistics) == 32, "ABI: it is an array's element");
_Static_assert(offsetof(struct shimblas_statistics, size) == 0, "ABI");
_Static_assert(offsetof(struct shimblas_statistics, cpu) == 8, "ABI");
_Static_assert(offsetof(struct shimblas_statistics, gpu) == 40, "ABI");
_Static_assert(sizeof(struct shimblas_statistics) >= 72, "ABI");
_Static_assert(offsetof(struct shimblas_decision, size) == 0, "ABI");
_Static_assert(offsetof(struct shimblas_decision, side) == 8, "ABI");
_Static_assert(offsetof(struct shimblas_decision, reason) == 16, "ABI");
_Static_assert(offsetof(struct shimblas_decision, kernel) == 24, "ABI");
_Static_assert(offsetof(struct shimblas_decision, m) == 32, "ABI");
_Static_assert(offsetof(struct shimblas_decision, n) == 40, "ABI");
_Static_assert(offsetof(struct shimblas_decision, k) == 48, "ABI");
_Static_assert(offsetof(struct shimblas_decision, seconds) == 56, "ABI");
_Static_assert(offsetof(struct shimblas_decision, arithmetic) == 64, "ABI");
_Static_assert(offsetof(struct shimblas_decision, fallback) == 72, "ABI");
_Static_assert(sizeof(struct shimblas_decision) >= 80, "ABI");
_Static_assert(SHIMBLAS_MATH_STRICT == 0 && SHIMBLAS_MATH_EMULATED == 1, "ABI");
_Static_assert(SHIMBLAS_MODE_AUTO == 0 && SHIMBLAS_MODE_CPU == 1 && SHIMBLAS_MODE_GPU == 2 &&
		       SHIMBLAS_MODE_CHECK == 3,
	       "ABI");

/* The functions, from the library under test. */
static struct {
	__typeof__(&shimblas_version) version;
	__typeof__(&shimblas_version_string) version_string;
	__typeof__(&shimblas_get_mode) get_mode;
	__typeof__(&shimblas_set_mode) set_mode;
	__typeof__(&shimblas_get_math) get_math;
	__typeof__(&shimblas_set_math) set_math;
	__typeof__(&shimblas_get_statistics) get_statistics;
	__typeof__(&shimblas_reset_statistics) reset_statistics;
	__typeof__(&shimblas_last_decision) last_decision;
	__typeof__(&shimblas_report) report;
	__typeof__(&shimblas_explain_reason) explain_reason;
	__typeof__(&shimblas_entry) entry;
	__typeof__(&shimblas_backend) backend;
} api;

#define BIND(name) (*(void **)&api.name = suite_symbol("shimblas_" #name))

static void multiply(int layout, int m, int n, int k)
{
	static float memory[1 << 16];
	void (*gemm)(int, int, int, int, int, int, float, const void *, int, const void *, int,
		     float, void *, int);

	*(void **)&gemm = suite_symbol("cblas_sgemm");
	gemm(layout, NOTRANS, NOTRANS, m, n, k, 1, memory, 256, memory, 256, 0, memory, 256);
}

static struct shimblas_statistics statistics(void)
{
	struct shimblas_statistics now = {.size = sizeof now};

	CU_ASSERT_EQUAL(api.get_statistics(&now), 0);
	return now;
}

static void versions_agree(void)
{
	char text[32];

	snprintf(text, sizeof text, "%d.%d.%d", SHIMBLAS_VERSION_MAJOR, SHIMBLAS_VERSION_MINOR,
		 SHIMBLAS_VERSION_PATCH);
	CU_ASSERT_EQUAL(api.version(), SHIMBLAS_VERSION);
	CU_ASSERT_STRING_EQUAL(api.version_string(), text);
	CU_ASSERT_STRING_EQUAL(text, PACKAGE_VERSION);
}

static void modes_that_exist_are_set(void)
{
	enum shimblas_mode kept = api.get_mode();

	for (int mode = SHIMBLAS_MODE_AUTO; mode <= SHIMBLAS_MODE_CHECK; mode++) {
		CU_ASSERT_EQUAL(api.set_mode((enum shimblas_mode)mode), 0);
		CU_ASSERT_EQUAL(api.get_mode(), (enum shimblas_mode)mode);
	}
	CU_ASSERT_EQUAL(api.set_mode((enum shimblas_mode)4), -1);
	CU_ASSERT_EQUAL(api.set_mode((enum shimblas_mode) - 1), -1);
	CU_ASSERT_EQUAL(api.get_mode(), SHIMBLAS_MODE_CHECK);
	CU_ASSERT_EQUAL(api.set_mode(kept), 0);
}

static void calls_are_counted_until_reset(void)
{
	struct shimblas_statistics now;

	api.reset_statistics();
	now = statistics();
	CU_ASSERT_EQUAL(now.cpu.calls + now.gpu.calls, 0);
	multiply(COLUMN, 2, 3, 4);
	multiply(COLUMN, 2, 3, 4);
	now = statistics();
	CU_ASSERT_EQUAL(now.cpu.calls + now.gpu.calls, 2);
	CU_ASSERT_EQUAL(now.cpu.flops + now.gpu.flops, 96);
	CU_ASSERT_EQUAL(now.cpu.bytes + now.gpu.bytes, 2 * 4 * (8 + 12 + 6));
	api.reset_statistics();
	now = statistics();
	CU_ASSERT_EQUAL(now.cpu.calls + now.gpu.calls, 0);
	CU_ASSERT_EQUAL(now.cpu.flops + now.gpu.flops, 0);
}

static void a_struct_is_filled_to_its_size_and_no_further(void)
{
	struct {
		struct shimblas_statistics statistics;
		char after[16];
	} small, large;
	struct {
		struct shimblas_decision decision;
		char after[16];
	} decision;

	memset(&small, 'x', sizeof small);
	small.statistics.size = sizeof small.statistics;
	CU_ASSERT_EQUAL(api.get_statistics(&small.statistics), 0);
	CU_ASSERT_EQUAL(small.statistics.size, sizeof small.statistics);
	CU_ASSERT_EQUAL(small.after[0], 'x');
	/* A program compiled against a later version. */
	memset(&large, 'x', sizeof large);
	large.statistics.size = sizeof large;
	CU_ASSERT_EQUAL(api.get_statistics(&large.statistics), 0);
	CU_ASSERT_EQUAL(large.after[0], 'x');
	CU_ASSERT_EQUAL(large.statistics.cpu.calls, small.statistics.cpu.calls);
	memset(&decision, 'x', sizeof decision);
	decision.decision.size = sizeof decision.decision;
	multiply(COLUMN, 2, 3, 4);
	CU_ASSERT_EQUAL(api.last_decision(&decision.decision), 0);
	CU_ASSERT_EQUAL(decision.after[0], 'x');
	/* One that knows nothing of the arithmetic. */
	memset(&decision, 'x', sizeof decision);
	decision.decision.size = offsetof(struct shimblas_decision, arithmetic);
	CU_ASSERT_EQUAL(api.last_decision(&decision.decision), 0);
	CU_ASSERT_EQUAL(*(char *)&decision.decision.arithmetic, 'x');
}

static void the_arithmetic_is_set_and_told(void)
{
	struct shimblas_decision last = {.size = sizeof last};
	enum shimblas_math before = api.get_math();

	CU_ASSERT_EQUAL(api.set_math(SHIMBLAS_MATH_EMULATED), 0);
	CU_ASSERT_EQUAL(api.get_math(), SHIMBLAS_MATH_EMULATED);
	CU_ASSERT_EQUAL(api.set_math((enum shimblas_math)2), -1);
	CU_ASSERT_EQUAL(api.get_math(), SHIMBLAS_MATH_EMULATED);
	multiply(COLUMN, 200, 130, 140);
	CU_ASSERT_EQUAL(api.last_decision(&last), 0);
	/* A product as small as this is left to strict kernels, where it is the GPU's at all. */
	CU_ASSERT_STRING_EQUAL(last.arithmetic, strcmp(last.side, "gpu") ? "-" : "strict");
	CU_ASSERT(strcmp(last.side, "cpu") == 0 || strcmp(last.fallback, "-") != 0);
	CU_ASSERT_EQUAL(api.set_math(before), 0);
}

static void a_size_that_no_version_had_is_refused(void)
{
	struct shimblas_statistics now = {.size = sizeof now - 1};
	struct shimblas_decision decision = {.size = 0};

	now.cpu.calls = 77;
	CU_ASSERT_EQUAL(api.get_statistics(&now), -1);
	CU_ASSERT_EQUAL(now.cpu.calls, 77);
	multiply(COLUMN, 2, 3, 4);
	CU_ASSERT_EQUAL(api.last_decision(&decision), -1);
}

static void the_last_decision_is_held_column_major(void)
{
	/* More than once: the first call of a process takes another way than the next. */
	for (int round = 0; round < 3; round++) {
		struct shimblas_decision last = {.size = sizeof last};

		multiply(ROW, 2, 3, 4);
		CU_ASSERT_EQUAL(api.last_decision(&last), 0);
		CU_ASSERT(last.m == 3 && last.n == 2 && last.k == 4);
		multiply(COLUMN, 2, 3, 4);
		CU_ASSERT_EQUAL(api.last_decision(&last), 0);
		CU_ASSERT(last.m == 2 && last.n == 3 && last.k == 4);
		CU_ASSERT(strcmp(last.side, "cpu") == 0 || strcmp(last.side, "gpu") == 0);
		CU_ASSERT_PTR_NOT_NULL(api.explain_reason(last.reason));
		CU_ASSERT(last.kernel == NULL || strcmp(last.side, "gpu") == 0);
		multiply(ROW, 200, 130, 140);
		CU_ASSERT_EQUAL(api.last_decision(&last), 0);
		CU_ASSERT(last.m == 130 && last.n == 200 && last.k == 140);
	}
}

static void *ask_elsewhere(void *context)
{
	struct shimblas_decision last = {.size = sizeof last};

	*(int *)context = api.last_decision(&last);
	return NULL;
}

static void a_thread_without_calls_has_no_decision(void)
{
	pthread_t thread;
	int result = 0;

	multiply(COLUMN, 2, 3, 4);
	pthread_create(&thread, NULL, ask_elsewhere, &result);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(result, -1);
}

static void reasons_are_explained(void)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(api.explain_reason("no-gpu"), "CUDA"));
	CU_ASSERT_PTR_NULL(api.explain_reason("because"));
	CU_ASSERT_PTR_NULL(api.explain_reason(""));
}

static void the_backend_is_named(void)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(api.backend("cblas_sgemm"), "blas"));
	CU_ASSERT_PTR_NULL(strstr(api.backend("cblas_sgemm"), "shimblas"));
	CU_ASSERT_STRING_EQUAL(api.backend("sgemm_64_"), "");
	CU_ASSERT_PTR_NULL(api.backend("sgemm"));
	CU_ASSERT_PTR_NULL(api.backend("dgemm_"));
}

static void a_report_is_appended_when_asked(void)
{
	char path[512], text[64] = "";
	FILE *file;

	snprintf(path, sizeof path, "%s/api.json", suite_scratch());
	CU_ASSERT_EQUAL(api.report(path), 0);
	file = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL(file);
	if (!file)
		return;
	CU_ASSERT_PTR_NOT_NULL(fgets(text, sizeof text, file));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"format\":2,"));
	fclose(file);
	CU_ASSERT_EQUAL(api.report("/nonexistent/report"), -1);
}

static const struct suite_case cases[] = {
	{"the last decision is held column-major", the_last_decision_is_held_column_major},
	{"versions agree", versions_agree},
	{"modes that exist are set", modes_that_exist_are_set},
	{"calls are counted until reset", calls_are_counted_until_reset},
	{"a struct is filled to its size and no further",
	 a_struct_is_filled_to_its_size_and_no_further},
	{"the arithmetic is set and told", the_arithmetic_is_set_and_told},
	{"a size that no version had is refused", a_size_that_no_version_had_is_refused},
	{"a thread without calls has no decision", a_thread_without_calls_has_no_decision},
	{"reasons are explained", reasons_are_explained},
	{"the backend is named", the_backend_is_named},
	{"a report is appended when asked", a_report_is_appended_when_asked},
};

int main(void)
{
	unsetenv("SHIMBLAS_BACKEND");
	BIND(version);
	BIND(version_string);
	BIND(get_mode);
	BIND(set_mode);
	BIND(get_math);
	BIND(set_math);
	BIND(get_statistics);
	BIND(reset_statistics);
	BIND(last_decision);
	BIND(report);
	BIND(explain_reason);
	BIND(entry);
	BIND(backend);
	return SUITE("api", cases);
}
