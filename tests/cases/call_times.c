/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a product takes in the situations that programs call it in, after a few calls that do
 * not count; to be run under the shim, by hand: LD_PRELOAD=libshimblas.so.0 call_times SITUATION
 * SIZE CALLS [PAD] Row-major, SIZE being N or MxNxK, leading dimensions longer by PAD. Prints the
 * median, the least, the mean and the nine-tenths of the calls in milliseconds, and ends with 1 if
 * the last of them was wrong.
 *
 *     warm     one call after the other, the same operands
 *     pause    20 ms of sleep before each
 *     after    a product of 1024 by the backend itself before each: its threads still spin
 *     yielding, spinning, others    see company.h
 *     fresh    C in memory that was never written
 *     bound    the caller bound to one processor
 *     beta     C is added to
 *     nt tn tt with B, A, both transposed
 *     threads  eight threads at once, with a C each; printed: the time of a call in all
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "blas_names.h"
#include "company.h"

enum { BEFORE = 5, THREADS = 8, BACKEND = 1024 };

typedef void gemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
		  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

static struct {
	int m, n, k, lda, ldb, ldc, calls, trans_a, trans_b;
	float beta, *a, *b, *c;
	size_t bytes; /* of C */
} work = {.trans_a = NO_TRANS, .trans_b = NO_TRANS};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int ascending(const void *left, const void *right)
{
	double x = *(const double *)left, y = *(const double *)right;

	return (x > y) - (x < y);
}

static float *fresh(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(2);
	return memory;
}

static float *filled(size_t bytes)
{
	float *memory = fresh(bytes);

	for (size_t i = 0; i < bytes / sizeof *memory; i++)
		memory[i] = (float)(i * 2654435761u % 1021) / 1021 - 0.5f;
	return memory;
}

static double one_call(float *c)
{
	double start = now();

	cblas_sgemm(ROW_MAJOR, work.trans_a, work.trans_b, work.m, work.n, work.k, 1, work.a,
		    work.lda, work.b, work.ldb, work.beta, c, work.ldc);
	return now() - start;
}

static void *many_calls(void *unused)
{
	float *c = filled(work.bytes);

	for (int i = 0; i < work.calls; i++)
		one_call(c);
	return unused;
}

/* All eight of them; their C is filled within the time. */
static double in_threads(void)
{
	pthread_t threads[THREADS];
	double start = now();

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, many_calls, NULL) != 0)
			exit(2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return (now() - start) / work.calls / THREADS;
}

static void bind(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	(void)sched_setaffinity(0, sizeof set, &set);
}

/* The backend, past whoever stands before it. */
static gemm *backend(void)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	gemm *found = NULL;

	if (library)
		*(void **)&found = dlsym(library, "cblas_sgemm");
	return found;
}

static double in_situation(const char *situation, gemm *spinning, float *operand)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	float *c = work.c;
	double time;

	if (strcmp(situation, "pause") == 0)
		nanosleep(&pause, NULL);
	if (spinning)
		spinning(ROW_MAJOR, NO_TRANS, NO_TRANS, BACKEND, BACKEND, BACKEND, 1, operand,
			 BACKEND, operand, BACKEND, 0, operand + BACKEND * BACKEND, BACKEND);
	company_work();
	if (strcmp(situation, "fresh") == 0)
		c = fresh(work.bytes);
	time = one_call(c);
	if (c != work.c)
		munmap(c, work.bytes);
	return time;
}

/* Some elements of what one call makes of a C of ones, against sums in double. */
static bool right(void)
{
	const double beta = (double)work.beta;
	size_t elements = work.bytes / sizeof(float);

	for (size_t i = 0; i < elements; i++)
		work.c[i] = 1;
	one_call(work.c);
	for (int i = 0; i < 64; i++) {
		size_t row = (size_t)i * 7919 % (size_t)work.m;
		size_t column = (size_t)i * 104729 % (size_t)work.n;
		double sum = beta, sizes = 1, off;

		for (size_t p = 0; p < (size_t)work.k; p++) {
			double x = (double)(work.trans_a == TRANS
						    ? work.a[p * (size_t)work.lda + row]
						    : work.a[row * (size_t)work.lda + p]);
			double y = (double)(work.trans_b == TRANS
						    ? work.b[column * (size_t)work.ldb + p]
						    : work.b[p * (size_t)work.ldb + column]);

			sum += x * y;
			sizes += x * y > 0 ? x * y : -x * y;
		}
		off = (double)work.c[row * (size_t)work.ldc + column] - sum;
		if (!(off <= 1e-5 * sizes && -off <= 1e-5 * sizes))
			return false;
	}
	return true;
}

/* N or MxNxK, and the leading dimensions. */
static bool understand(const char *size, int pad)
{
	if (sscanf(size, "%dx%dx%d", &work.m, &work.n, &work.k) != 3)
		work.m = work.n = work.k = atoi(size);
	work.lda = (work.trans_a == TRANS ? work.m : work.k) + pad;
	work.ldb = (work.trans_b == TRANS ? work.k : work.n) + pad;
	work.ldc = work.n + pad;
	return work.m > 0 && work.n > 0 && work.k > 0 && pad >= 0;
}

static float *operand_of(bool transposed, int rows, int columns, int ld)
{
	return filled((size_t)(transposed ? columns : rows) * (size_t)ld * sizeof(float));
}

int main(int count, char **arguments)
{
	const char *situation = count > 3 ? arguments[1] : "";
	bool after = strcmp(situation, "after") == 0;
	float *operand = NULL;
	gemm *spinning = NULL;
	double *times, sum = 0;

	if (count < 4 || (work.calls = atoi(arguments[3])) < 1)
		return 2;
	work.beta = strcmp(situation, "beta") == 0 ? 0.5f : 0;
	if (situation[0] == 't' && situation[1] && !situation[2])
		work.trans_a = TRANS;
	if (situation[0] && situation[1] == 't' && !situation[2])
		work.trans_b = TRANS;
	if (!understand(arguments[2], count > 4 ? atoi(arguments[4]) : 0))
		return 2;
	work.bytes = (size_t)work.m * (size_t)work.ldc * sizeof(float);
	work.a = operand_of(work.trans_a == TRANS, work.m, work.k, work.lda);
	work.b = operand_of(work.trans_b == TRANS, work.k, work.n, work.ldb);
	work.c = filled(work.bytes);
	times = calloc((size_t)work.calls, sizeof *times);
	if (after) {
		operand = filled(2 * sizeof(float) * BACKEND * BACKEND);
		spinning = backend();
	}
	if (!times || (after && !spinning))
		return 2;
	if (strcmp(situation, "bound") == 0)
		bind();
	(void)company_come(situation);
	for (int i = 0; i < BEFORE; i++)
		one_call(work.c);
	if (strcmp(situation, "threads") == 0) {
		printf("%s %s: %.3f ms\n", situation, arguments[2], in_threads());
		return right() ? 0 : 1;
	}
	for (int i = 0; i < work.calls; i++)
		times[i] = in_situation(situation, spinning, operand);
	qsort(times, (size_t)work.calls, sizeof *times, ascending);
	for (int i = 0; i < work.calls; i++)
		sum += times[i];
	printf("%s %s: median %.3f ms, least %.3f ms, mean %.3f ms, nine in ten %.3f ms\n",
	       situation, arguments[2], times[work.calls / 2], times[0], sum / work.calls,
	       times[work.calls * 9 / 10]);
	company_go();
	free(times);
	return right() ? 0 : 1;
}
