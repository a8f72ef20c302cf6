/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which memory a call touches, and which arguments it refuses. As test_values.c: SHIMBLAS_MODE
 * chooses the side.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "distance.h"
#include "suite.h"

static distance_cblas *gemm;

static void run(const struct sb_call *call)
{
	gemm(COLUMN, call->trans_a ? TRANS : NOTRANS, call->trans_b ? TRANS : NOTRANS, (int)call->m,
	     (int)call->n, (int)call->k, call->alpha, call->a, (int)call->lda, call->b,
	     (int)call->ldb, call->beta, call->c, (int)call->ldc);
}

static float *reserve(size_t elements)
{
	void *memory = mmap(NULL, elements * sizeof(float), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static long resident_kilobytes(void)
{
	long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file) {
		if (fscanf(file, "%ld %ld", &size, &resident) != 2)
			resident = 0;
		fclose(file);
	}
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void operands_may_span_more_than_31_bits(void) /* numpy#5533 */
{
	enum { N = 1000, LD = 2200000 };
	struct sb_call call = {.m = N, .n = N, .k = N, .lda = N, .ldb = N, .ldc = N, .alpha = 1};
	size_t span = (size_t)(N - 1) * LD + N;
	float *wide, *c, *dense;
	long before;

	distance_open(&call);
	c = distance_copy(&call);
	dense = call.c;
	wide = reserve(span);
	CU_ASSERT_PTR_NOT_NULL(wide);
	if (!wide)
		return;
	for (int64_t j = 0; j < N; j++)
		memcpy(wide + j * LD, (const float *)call.a + j * N, N * sizeof *wide);
	run(&call);
	before = resident_kilobytes();
	gemm(COLUMN, NOTRANS, NOTRANS, N, N, N, 1, wide, LD, call.b, N, 0, c, N);
	CU_ASSERT(resident_kilobytes() - before < 256 * 1024);
	CU_ASSERT_EQUAL(memcmp(c, dense, N * N * sizeof *c), 0);
	munmap(wide, span * sizeof *wide);
	free(c);
	distance_close(&call);
}

/* As near as the arithmetic promises: strict products are rounded to the nearest. */
static bool near(float x, float y)
{
	return fabsf(x - y) <= (distance_emulated() ? 0x1p-22f : 0.0f) * fabsf(y);
}

static void c_may_span_more_than_31_bits(void) /* GEMMA#120 */
{
	enum { M = 4, N = 45000, LD = 50000 };
	size_t span = (size_t)(N - 1) * LD + M;
	float *c = reserve(span), a[M] = {1, 2, 3, 4}, *b = malloc(N * sizeof *b);
	int wrong = 0;

	CU_ASSERT_PTR_NOT_NULL(c);
	if (!c)
		return;
	suite_fill(b, N);
	gemm(COLUMN, NOTRANS, NOTRANS, M, N, 1, 1, a, M, b, 1, 0, c, LD);
	for (int64_t j = 0; j < N; j++)
		for (int64_t i = 0; i < M; i++)
			wrong += !near(c[i + j * LD], a[i] * b[j]);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(near(c[span - 1], 4 * b[N - 1]));
	munmap(c, span * sizeof *c);
	free(b);
}

/* --- the end of an operand is the end of the world --- */

static struct sb_call at_the_edge;

/* `bytes` that end where a page begins that nobody may touch. */
static void *fenced(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
	char *memory =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	SUITE_EXPECT(memory != MAP_FAILED && mprotect(memory + room, page, PROT_NONE) == 0);
	suite_fill((float *)(memory + room - bytes), bytes / sizeof(float));
	return memory + room - bytes;
}

static void stand_at_the_edge(void)
{
	struct sb_call call = at_the_edge;
	float *before;

	call.a = fenced(sb_call_bytes_a(&call));
	call.b = fenced(sb_call_bytes_b(&call));
	call.c = fenced(sb_call_bytes_c(&call));
	before = distance_copy(&call);
	run(&call);
	SUITE_EXPECT(distance_of(&call, before) <= 1);
}

static void nothing_past_an_operand_is_touched(void) /* OpenBLAS#535, julia#10217 */
{
	static const int64_t sizes[][3] = {
		{130, 129, 131}, {17, 300, 500}, {5, 7, 3}, {256, 1, 256}};

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (int which = 0; which < 8; which++) {
			struct sb_call call = {.trans_a = which & 1,
					       .trans_b = which & 2,
					       .m = sizes[s][0],
					       .n = sizes[s][1],
					       .k = sizes[s][2],
					       .alpha = 1,
					       .beta = which & 4 ? 0.5f : 0};

			call.lda = (call.trans_a ? call.k : call.m) + 13;
			call.ldb = (call.trans_b ? call.n : call.k) + 13;
			call.ldc = call.m + 13;
			at_the_edge = call;
			SUITE_CHILD_PASSES(stand_at_the_edge);
		}
}

/* --- what lies between the rows of C is somebody else's --- */

enum { ROWS = 150, WIDTH = 140, DEPTH = 130 };
static float shared_a[ROWS * DEPTH], shared_b[DEPTH * WIDTH], shared_c[2 * ROWS * WIDTH];

static void *every_other_row(void *which)
{
	/* Row-major; this thread's rows are the even or the odd ones of C. */
	for (int round = 0; round < 20; round++)
		gemm(ROW, NOTRANS, NOTRANS, ROWS, WIDTH, DEPTH, 1, shared_a, DEPTH, shared_b, WIDTH,
		     0, shared_c + (intptr_t)which * WIDTH, 2 * WIDTH);
	return NULL;
}

static void padding_of_c_is_never_written(void) /* SCILIB-Accel */
{
	struct sb_call call = {.m = WIDTH,
			       .n = ROWS,
			       .k = DEPTH,
			       .lda = WIDTH,
			       .ldb = DEPTH,
			       .ldc = 2 * WIDTH,
			       .alpha = 1,
			       .a = shared_b,
			       .b = shared_a};
	pthread_t threads[2];

	suite_fill(shared_a, ROWS * DEPTH);
	suite_fill(shared_b, DEPTH * WIDTH);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, every_other_row, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		/* The other rows may be anything: they are compared with themselves. */
		call.c = shared_c + i * WIDTH;
		CU_ASSERT(distance_of(&call, call.c) <= 1);
	}
}

/* --- arguments --- */

static const struct refusal {
	const char *report;
	int layout, trans_a, trans_b, m, n, k, lda, ldb, ldc;
} refusals[] = {
	{"OpenBLAS#620", ROW, NOTRANS, NOTRANS, 2, 2, 3, 2, 2, 2},
	{"OpenBLAS#1014", COLUMN, NOTRANS, NOTRANS, 3, 3, 3, 3, 3, 2},
	{"torch7#58", ROW, NOTRANS, NOTRANS, 1, 2, 2, 2, 0, 2},
	{"blis#410", COLUMN, NOTRANS, NOTRANS, -1, 3, 3, 3, 3, 3},
	{"large", COLUMN, NOTRANS, NOTRANS, 200, 200, 200, 199, 200, 200},
	{"large", ROW, NOTRANS, NOTRANS, 200, 200, 200, 200, 200, 199},
	{"no such transpose", COLUMN, 1, NOTRANS, 200, 200, 200, 200, 200, 200},
	{"no such layout", 7, NOTRANS, NOTRANS, 200, 200, 200, 200, 200, 200},
};
static const struct refusal *refusal;

static void be_refused(void)
{
	static float a[200 * 200], b[200 * 200], c[200 * 200], kept[200 * 200];

	/* OpenBLAS names it on stdout. */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	suite_fill(c, 200 * 200);
	memcpy(kept, c, sizeof c);
	gemm(refusal->layout, refusal->trans_a, refusal->trans_b, refusal->m, refusal->n,
	     refusal->k, 1, a, refusal->lda, b, refusal->ldb, 0, c, refusal->ldc);
	SUITE_EXPECT(memcmp(c, kept, sizeof c) == 0);
}

static void an_illegal_argument_is_named_by_the_backend(void)
{
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		refusal = &refusals[i];
		SUITE_CHILD_PASSES(be_refused);
		CU_ASSERT_PTR_NOT_NULL(strstr(suite_child_said(), "SGEMM"));
		CU_ASSERT_PTR_NULL(strstr(suite_child_said(), "shimblas"));
	}
}

static const struct suite_case cases[] = {
	{"operands may span more than 31 bits", operands_may_span_more_than_31_bits},
	{"C may span more than 31 bits", c_may_span_more_than_31_bits},
	{"nothing past an operand is touched", nothing_past_an_operand_is_touched},
	{"padding of C is never written", padding_of_c_is_never_written},
	{"an illegal argument is named by the backend",
	 an_illegal_argument_is_named_by_the_backend},
};

int main(void)
{
	*(void **)&gemm = suite_symbol("cblas_sgemm");
	return SUITE("memory", cases);
}
