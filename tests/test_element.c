/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "element.h"
#include "suite.h"

enum { M = 5, N = 4, LDC = 7, LDT = 6 };
static const float sentinel = 1234.5f;

static void commit(float *c, const float *t, double beta)
{
	sb_element(SB_FLOAT32)->commit(c, LDC, t, LDT, M, N, beta);
}

static void the_row_names_its_type(void)
{
	CU_ASSERT_STRING_EQUAL(sb_element(SB_FLOAT32)->operation, "sgemm");
	CU_ASSERT_EQUAL(sb_element(SB_FLOAT32)->bytes, 4);
}

static void beta_zero_does_not_read(void)
{
	static const double zeros[] = {0.0, -0.0};

	for (int z = 0; z < 2; z++) {
		float c[LDC * N], t[LDT * N];

		memset(c, 0xff, sizeof c);
		suite_fill(t, LDT * N);
		t[0] = -0.0f;
		commit(c, t, zeros[z]);
		for (int j = 0; j < N; j++)
			CU_ASSERT_EQUAL(memcmp(c + j * LDC, t + j * LDT, M * sizeof *c), 0);
	}
}

static void padding_is_untouched(void)
{
	static const double betas[] = {0, 1, 0.5};

	for (int b = 0; b < 3; b++) {
		float c[LDC * N], t[LDT * N];

		for (int i = 0; i < LDC * N; i++)
			c[i] = sentinel;
		suite_fill(t, LDT * N);
		commit(c, t, betas[b]);
		for (int j = 0; j < N; j++)
			for (int i = M; i < LDC; i++)
				CU_ASSERT_EQUAL(c[i + j * LDC], sentinel);
	}
}

static void product_and_sum_are_rounded_apart(void)
{
	/* (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; the last term is lost when the product is rounded. */
	const float x = 1 + 0x1p-12f;
	float c[LDC * N], t[LDT * N];
	volatile float product = x * x;

	for (int i = 0; i < LDC * N; i++)
		c[i] = x;
	for (int i = 0; i < LDT * N; i++)
		t[i] = -product;
	commit(c, t, (double)x);
	CU_ASSERT_EQUAL(c[0], 0);
	CU_ASSERT_NOT_EQUAL(fmaf(x, x, -product), 0);
}

static void random_values_follow_the_formula(void)
{
	for (int round = 0; round < 50; round++) {
		float c[LDC * N], before[LDC * N], t[LDT * N], beta = suite_uniform();

		suite_fill(c, LDC * N);
		suite_fill(t, LDT * N);
		memcpy(before, c, sizeof c);
		commit(c, t, (double)beta);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < M; i++) {
				volatile float product = beta * before[i + j * LDC];
				volatile float sum = t[i + j * LDT] + product;

				CU_ASSERT_EQUAL(c[i + j * LDC], sum);
			}
	}
}

static void nan_in_c_stays_unless_beta_is_zero(void)
{
	float c[LDC * N], t[LDT * N] = {0};

	for (int i = 0; i < LDC * N; i++)
		c[i] = NAN;
	commit(c, t, 1);
	CU_ASSERT(isnan(c[0]));
	commit(c, t, 0);
	CU_ASSERT_EQUAL(c[0], 0);
}

static void nothing_is_written_of_an_empty_block(void)
{
	float c = sentinel, t = 1;

	sb_element(SB_FLOAT32)->commit(&c, 1, &t, 1, 0, 1, 0);
	sb_element(SB_FLOAT32)->commit(&c, 1, &t, 1, 1, 0, 1);
	CU_ASSERT_EQUAL(c, sentinel);
}

static const struct suite_case cases[] = {
	{"the row names its type", the_row_names_its_type},
	{"beta zero does not read", beta_zero_does_not_read},
	{"padding is untouched", padding_is_untouched},
	{"product and sum are rounded apart", product_and_sum_are_rounded_apart},
	{"random values follow the formula", random_values_follow_the_formula},
	{"NaN in C stays unless beta is zero", nan_in_c_stays_unless_beta_is_zero},
	{"nothing is written of an empty block", nothing_is_written_of_an_empty_block},
};

int main(void)
{
	return SUITE("element", cases);
}
