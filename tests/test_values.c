/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products that other libraries got wrong, each with its report. SHIMBLAS_MODE chooses the side, so
 * that the same table runs on a GPU; with SHIMBLAS_TEST_SIDE=gpu a product that was answered
 * elsewhere is a failure. On the CPU the answer is, to the bit, what OpenBLAS says alone. In
 * emulated arithmetic a few rows have an answer of their own.
 */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distance.h"
#include "literals.h"
#include "shimblas.h"
#include "suite.h"

static distance_cblas *gemm;
static __typeof__(&shimblas_last_decision) last_decision;

static bool on_cpu(void)
{
	struct shimblas_decision last = {.size = sizeof last};

	return last_decision(&last) == 0 && strcmp(last.side, "cpu") == 0;
}

static bool emulated(void)
{
	struct shimblas_decision last = {.size = sizeof last};

	return last_decision(&last) == 0 && strcmp(last.side, "gpu") == 0 &&
	       strcmp(last.arithmetic, "strict") != 0;
}

static bool went(void)
{
	const char *side = getenv("SHIMBLAS_TEST_SIDE");

	return !side || on_cpu() == (strcmp(side, "cpu") == 0);
}

static void run(const struct sb_call *call)
{
	gemm(COLUMN, call->trans_a ? TRANS : NOTRANS, call->trans_b ? TRANS : NOTRANS, (int)call->m,
	     (int)call->n, (int)call->k, call->alpha, call->a, (int)call->lda, call->b,
	     (int)call->ldb, call->beta, call->c, (int)call->ldc);
}

static bool all_same(const float *x, const float *y)
{
	for (int i = 0; i < 8; i++)
		if (!((isnan(x[i]) && isnan(y[i])) || x[i] == y[i]))
			return false;
	return true;
}

static void literal_call(distance_cblas *by, const struct literal *row, float *c)
{
	memcpy(c, row->c, sizeof row->c);
	by(row->layout, row->trans_a, row->trans_b, row->m, row->n, row->k, row->alpha, row->a,
	   row->lda, row->b, row->ldb, row->beta, c, row->ldc);
}

/*
 * On the CPU the program's BLAS is the authority, also where it errs: the small kernels of OpenBLAS
 * 0.3.21 read A and B although alpha is 0.
 */
static void literal_values_are_exact(void)
{
	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
		const struct literal *row = &literals[i];
		float c[8], alone[8], wanted[8];
		bool right, own;

		literal_call(gemm, row, c);
		CU_ASSERT_TRUE(!row->product || went());
		own = emulated();
		literal_call(distance_openblas_itself(), row, alone);
		memcpy(wanted, row->wanted, sizeof wanted);
		if (row->emulated != NONE && own)
			wanted[0] = row->emulated;
		right = all_same(c, on_cpu() ? alone : wanted);
		if (!right)
			printf("    %s: {%g,%g,%g,%g}\n", row->report, (double)c[0], (double)c[1],
			       (double)c[2], (double)c[3]);
		CU_ASSERT_TRUE(right);
		/* The table itself is checked where OpenBLAS agrees with it. */
		if (row->product)
			CU_ASSERT_TRUE(all_same(alone, row->wanted));
	}
}

static void empty_products_take_null(void)
{
	float c[4] = {1, 2, 3, 4};

	gemm(COLUMN, NOTRANS, NOTRANS, 0, 2, 2, 1, NULL, 2, NULL, 2, 0, NULL, 2);
	gemm(COLUMN, NOTRANS, NOTRANS, 2, 0, 2, 1, NULL, 2, NULL, 2, 0, NULL, 2);
	gemm(COLUMN, NOTRANS, NOTRANS, 2, 2, 0, 1, NULL, 2, NULL, 2, 2, c, 2);
	CU_ASSERT(c[0] == 2 && c[1] == 4 && c[2] == 6 && c[3] == 8);
}

/* --- made values: m, n, k, transposes, what C holds before; judged by distance --- */

enum before { RANDOM, ALL_NAN, ALL_ONES_BITS };

static const struct made {
	const char *report;
	bool trans_a, trans_b;
	int64_t m, n, k, gap_a, gap_b, gap_c;
	float beta;
	enum before before;
	int off_a, off_b, off_c; /* elements past 64-byte alignment */
} mades[] = {
	{"ComputeLibrary#690", 0, 0, 257, 129, 65, 0, 0, 0, 0, ALL_NAN, 0, 0, 0},
	{"clBLAS#201", 0, 0, 200, 150, 100, 0, 0, 3, 0, ALL_ONES_BITS, 0, 0, 0},
	/* Row-major 64x239x64 with a gap is this one, exchanged. */
	{"libxsmm#51", 0, 0, 239, 64, 64, 1, 0, 1, 1, RANDOM, 0, 0, 0},
	{"libxsmm#51, transposed", 1, 1, 239, 64, 64, 1, 1, 1, 1, RANDOM, 0, 0, 0},
	{"OpenBLAS#1137", 0, 0, 131, 67, 129, 0, 0, 0, 1, RANDOM, 1, 1, 1},
	{"OpenBLAS#1137", 1, 0, 131, 67, 129, 2, 0, 0, 1, RANDOM, 2, 1, 3},
	{"OpenBLAS#1137", 0, 1, 131, 67, 129, 0, 2, 0, 0, RANDOM, 3, 3, 1},
	{"OpenBLAS#1137", 1, 1, 128, 128, 128, 1, 1, 1, 1, RANDOM, 1, 2, 3},
};

static float *aligned_operand(size_t bytes, int off, float **base)
{
	size_t room = (bytes / sizeof(float) + 64) * sizeof(float);

	*base = aligned_alloc(64, (room + 63) / 64 * 64);
	suite_fill(*base, room / sizeof(float));
	return *base + off;
}

static bool made_is_right(const struct made *row, int64_t m, int64_t n)
{
	struct sb_call call = {.trans_a = row->trans_a,
			       .trans_b = row->trans_b,
			       .m = m,
			       .n = n,
			       .k = row->k,
			       .alpha = 1,
			       .beta = row->beta};
	float *bases[3], *before, *c;
	double distance;

	call.lda = (call.trans_a ? call.k : m) + row->gap_a;
	call.ldb = (call.trans_b ? n : call.k) + row->gap_b;
	call.ldc = m + row->gap_c;
	call.a = aligned_operand(sb_call_bytes_a(&call), row->off_a, &bases[0]);
	call.b = aligned_operand(sb_call_bytes_b(&call), row->off_b, &bases[1]);
	call.c = c = aligned_operand(sb_call_bytes_c(&call), row->off_c, &bases[2]);
	if (row->before == ALL_NAN)
		for (size_t i = 0; i < sb_call_bytes_c(&call) / sizeof *c; i++)
			c[i] = NAN;
	if (row->before == ALL_ONES_BITS)
		memset(c, 0xff, sb_call_bytes_c(&call));
	before = distance_copy(&call);
	run(&call);
	distance = distance_of(&call, before);
	if (!(distance <= 1) || !went())
		printf("    %s m=%ld n=%ld: %g\n", row->report, (long)m, (long)n, distance);
	free(before);
	for (int i = 0; i < 3; i++)
		free(bases[i]);
	return distance <= 1 && went();
}

static void made_values_are_within_the_bound(void)
{
	for (size_t i = 0; i < sizeof mades / sizeof *mades; i++)
		CU_ASSERT_TRUE(made_is_right(&mades[i], mades[i].m, mades[i].n));
}

static void edge_tiles_do_not_read_c(void)
{
	static const struct made row = {"rten#81", 0, 0, 0, 0, 33, 0, 0, 0, 0, ALL_NAN, 0, 0, 0};
	static const int64_t tiles[] = {16, 32, 64, 96, 128, 192, 256};

	for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
		for (int64_t dm = -1; dm <= 1; dm++)
			for (int64_t dn = -1; dn <= 1; dn++)
				CU_ASSERT_TRUE(made_is_right(&row, tiles[i] + dm, tiles[i] + dn));
}

static float *filled(size_t count, float value)
{
	float *values = malloc(count * sizeof *values);

	for (size_t i = 0; i < count; i++)
		values[i] = value;
	return values;
}

static void ones_add_up(void) /* OpenBLAS#3152 */
{
	static const int sizes[] = {64, 128, 200};

	for (int s = 0; s < 3; s++) {
		int n = sizes[s], wrong = 0;
		float *a = filled((size_t)(n * n), 1), *c = filled((size_t)(n * n), NONE);

		gemm(COLUMN, NOTRANS, NOTRANS, n, n, n, 1, a, n, a, n, 0, c, n);
		for (int i = 0; i < n * n; i++)
			wrong += c[i] != (float)n;
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT_TRUE(went());
		free(a);
		free(c);
	}
}

static void zero_times_nan_is_nan(void) /* OpenBLAS#4728 */
{
	static const float poisons[] = {NAN, INFINITY};

	for (int p = 0; p < 2; p++) {
		enum { M = 33, N = 130, K = 140, COL = 77 };
		float *a = filled(M * K, 1), *b = filled(K * N, 1), *c = filled(M * N, NONE);
		int wrong = 0;

		for (int k = 0; k < K; k++)
			a[5 + k * M] = 0;
		b[100 + COL * K] = poisons[p];
		gemm(COLUMN, NOTRANS, NOTRANS, M, N, K, 1, a, M, b, K, 0, c, M);
		for (int j = 0; j < N; j++)
			wrong += j == COL ? !isnan(c[5 + j * M]) : c[5 + j * M] != 0;
		for (int i = 0; i < M; i++)
			wrong += i != 5 && isfinite(c[i + COL * M]);
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT_TRUE(went());
		free(a);
		free(b);
		free(c);
	}
}

static void zeros_raise_no_flag(void) /* OpenBLAS#1924, numpy#24067 */
{
	enum { N = 33 };
	static float a[N * N], b[N * N], c[N * N];

	for (int which = 1; which < 4; which++) {
		feclearexcept(FE_ALL_EXCEPT);
		gemm(COLUMN, which & 1 ? TRANS : NOTRANS, which & 2 ? TRANS : NOTRANS, N, N, N, 1,
		     a, N, b, N, 0, c, N);
		CU_ASSERT_FALSE(fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW));
		CU_ASSERT_TRUE(went());
	}
}

static void eleven_bits_are_not_enough(void) /* pytorch#53635, mlx#3860 */
{
	enum { N = 512 };
	float *a = filled(N * N, 0), *b = filled(N * N, 0), *c = filled(N * N, NONE);
	double error = 0, size = 0;

	for (int i = 0; i < N; i++) {
		a[i + i * N] = 1024.5f;
		b[i + i * N] = 1;
	}
	gemm(COLUMN, NOTRANS, NOTRANS, N, N, N, 1, a, N, b, N, 0, c, N);
	CU_ASSERT(c[0] == 1024.5f && c[N * N - 1] == 1024.5f && c[1] == 0);
	CU_ASSERT_TRUE(went());
	/* A sum of twelve uniform numbers is normal enough. */
	for (int i = 0; i < N * N; i++) {
		a[i] = b[i] = 0;
		for (int j = 0; j < 12; j++) {
			a[i] += 0.5f * suite_uniform();
			b[i] += 0.5f * suite_uniform();
		}
	}
	gemm(COLUMN, TRANS, NOTRANS, N, N, N, 1, a, N, b, N, 0, c, N);
	CU_ASSERT_TRUE(went());
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += (double)a[k + i * N] * (double)b[k + j * N];
			error += ((double)c[i + j * N] - sum) * ((double)c[i + j * N] - sum);
			size += sum * sum;
		}
	CU_ASSERT(sqrt(error / size) <= 5e-7);
	free(a);
	free(b);
	free(c);
}

static void one_route_gives_one_answer(void) /* OpenBLAS#2115 */
{
	/* A modelled tensor core takes a minute for one of the size that it was reported of. */
	const bool modelled = distance_emulated();
	const int N = modelled ? 140 : 1278, K = modelled ? 1030 : N;
	float *a = filled((size_t)(N * K), 0), *b = filled((size_t)(K * N), 0);
	float *c = filled((size_t)(N * N), 0), *first = filled((size_t)(N * N), 0);
	const size_t bytes = (size_t)(N * N) * sizeof *c;
	/* A sanitized stand-in needs a minute for all of them. */
	int differ = 0, rounds = suite_sanitized() ? 2 : 20;

	suite_fill(a, (size_t)(N * K));
	suite_fill(b, (size_t)(K * N));
	for (int round = 0; round < rounds; round++) {
		gemm(COLUMN, NOTRANS, NOTRANS, N, N, K, 1, a, N, b, K, 0, c, N);
		CU_ASSERT_TRUE(went());
		if (round == 0)
			memcpy(first, c, bytes);
		differ += memcmp(first, c, bytes) != 0;
	}
	CU_ASSERT_EQUAL(differ, 0);
	for (int sample = 0; sample < 200; sample++) {
		int64_t i = suite_between(0, N - 1), j = suite_between(0, N - 1);
		double sum = 0, magnitude = 0;

		for (int k = 0; k < K; k++) {
			double product = (double)a[i + k * N] * (double)b[k + j * K];

			sum += product;
			magnitude += fabs(product);
		}
		CU_ASSERT(fabs((double)c[i + j * N] - sum) <= K * 0x1p-23 * magnitude);
	}
	free(a);
	free(b);
	free(c);
	free(first);
}

/* Only here is it known what the answer is, bit for bit: nobody but OpenBLAS gave it. */
static void on_the_cpu_the_bits_are_openblass(void)
{
	for (int round = 0; round < 60; round++) {
		struct sb_call call = distance_random(200);
		float *alone = distance_copy(&call);

		run(&call);
		if (on_cpu()) {
			distance_openblas(&call, alone);
			CU_ASSERT_EQUAL(memcmp(alone, call.c, sb_call_bytes_c(&call)), 0);
		}
		free(alone);
		distance_close(&call);
	}
}

static const struct suite_case cases[] = {
	{"literal values are exact", literal_values_are_exact},
	{"empty products take NULL", empty_products_take_null},
	{"made values are within the bound", made_values_are_within_the_bound},
	{"edge tiles do not read C", edge_tiles_do_not_read_c},
	{"ones add up", ones_add_up},
	{"zero times NaN is NaN", zero_times_nan_is_nan},
	{"zeros raise no flag", zeros_raise_no_flag},
	{"eleven bits are not enough", eleven_bits_are_not_enough},
	{"one route gives one answer", one_route_gives_one_answer},
	{"on the CPU the bits are OpenBLAS's", on_the_cpu_the_bits_are_openblass},
};

int main(void)
{
	*(void **)&gemm = suite_symbol("cblas_sgemm");
	*(void **)&last_decision = suite_symbol("shimblas_last_decision");
	return SUITE("values", cases);
}
