/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance.h"
#include "reference.h"
#include "suite.h"

static void random_products_agree_with_openblas(void)
{
	for (int round = 0; round < 200; round++) {
		struct sb_call call = distance_random(40), by_openblas = call;
		float *before = distance_copy(&call), *theirs = distance_copy(&call);

		distance_openblas(&call, theirs);
		sb_reference(&call);
		by_openblas.c = theirs;
		CU_ASSERT(distance_of(&by_openblas, before) <= 1);
		/* In double precision and rounded once: half an ulp. */
		CU_ASSERT(distance_of(&call, before) <= 0.6);
		free(theirs);
		free(before);
		distance_close(&call);
	}
}

struct row {
	float alpha, beta, a, b, c;
	int64_t k;
	float wanted;
};

static void special_values_follow_the_table(void)
{
	const struct row rows[] = {
		{1, 0, 2, 3, NAN, 1, 6},
		{1, -0.0f, 2, 3, INFINITY, 1, 6},
		{0, 2, NAN, NAN, 3, 1, 6},
		{0, 0, NAN, NAN, NAN, 1, 0},
		{0, 1, NAN, NAN, 3, 1, 3},
		{NAN, 0, 1, 1, 1, 1, NAN},
		{1, NAN, 1, 1, 1, 1, NAN},
		{1, 0, 0, INFINITY, 1, 1, NAN},
		{1, 0, 0, NAN, 1, 1, NAN},
		{1, 2, 1, 1, 3, 0, 6},
		{1, 0, 1, 1, NAN, 0, 0},
		{1, 0, 1e-30f, 1e-12f, 1, 1, 1e-42f},
		{1, 1, 1, 1, INFINITY, 1, INFINITY},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];
		float c = row->c;
		struct sb_call call = {.m = 1,
				       .n = 1,
				       .k = row->k,
				       .lda = 1,
				       .ldb = 1,
				       .ldc = 1,
				       .alpha = row->alpha,
				       .beta = row->beta,
				       .a = &row->a,
				       .b = &row->b,
				       .c = &c};

		sb_reference(&call);
		CU_ASSERT(isnan(row->wanted) ? isnan(c) : c == row->wanted);
	}
}

static const struct wrong {
	int position;
	struct sb_call call;
} wrongs[] = {
	{1, {.unknown = true, .m = 2, .n = 3, .k = 4, .lda = 2, .ldb = 4, .ldc = 2}},
	{3, {.m = -1, .n = 3, .k = 4, .lda = 2, .ldb = 4, .ldc = 2}},
	{4, {.m = 2, .n = -1, .k = 4, .lda = 2, .ldb = 4, .ldc = 2}},
	{5, {.m = 2, .n = 3, .k = -1, .lda = 2, .ldb = 4, .ldc = 2}},
	{8, {.m = 2, .n = 3, .k = 4, .lda = 1, .ldb = 4, .ldc = 2}},
	{8, {.trans_a = true, .m = 2, .n = 3, .k = 4, .lda = 3, .ldb = 4, .ldc = 2}},
	{10, {.m = 2, .n = 3, .k = 4, .lda = 2, .ldb = 3, .ldc = 2}},
	{10, {.trans_b = true, .m = 2, .n = 3, .k = 4, .lda = 2, .ldb = 2, .ldc = 2}},
	{13, {.m = 2, .n = 3, .k = 4, .lda = 2, .ldb = 4, .ldc = 1}},
	/* The first of several counts. */
	{3, {.m = -1, .n = -1, .k = 4, .lda = 0, .ldb = 0, .ldc = 0}},
	{8, {.m = 0, .n = 0, .k = 0, .lda = 0, .ldb = 1, .ldc = 1}},
};
static const struct wrong *wrong;

static void call_wrongly(void)
{
	struct sb_call call = wrong->call;
	float a[64] = {0}, b[64] = {0}, c[64], kept[64];

	suite_fill(c, 64);
	memcpy(kept, c, sizeof c);
	call.alpha = 1;
	call.a = a;
	call.b = b;
	call.c = c;
	sb_reference(&call);
	SUITE_EXPECT(memcmp(c, kept, sizeof c) == 0);
}

static void an_illegal_argument_is_named_and_c_untouched(void)
{
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		char line[80];

		wrong = &wrongs[i];
		SUITE_CHILD_PASSES(call_wrongly);
		snprintf(line, sizeof line, "shimblas: SGEMM: argument %d has an illegal value\n",
			 wrong->position);
		CU_ASSERT_STRING_EQUAL(suite_child_said(), line);
	}
}

static void empty_products_read_nothing(void)
{
	struct sb_call call = {.m = 0, .n = 5, .k = 5, .lda = 5, .ldb = 5, .ldc = 1, .alpha = 1};
	float c = 2;

	sb_reference(&call);
	call = (struct sb_call){.m = 1,
				.n = 1,
				.k = 0,
				.lda = 1,
				.ldb = 1,
				.ldc = 1,
				.alpha = 1,
				.beta = 3,
				.c = &c};
	sb_reference(&call);
	CU_ASSERT_EQUAL(c, 6);
	call.k = 7;
	call.alpha = 0;
	call.ldb = 7;
	sb_reference(&call);
	CU_ASSERT_EQUAL(c, 18);
}

static const struct suite_case cases[] = {
	{"random products agree with OpenBLAS", random_products_agree_with_openblas},
	{"special values follow the table", special_values_follow_the_table},
	{"an illegal argument is named and C untouched",
	 an_illegal_argument_is_named_and_c_untouched},
	{"empty products read nothing", empty_products_read_nothing},
};

int main(void)
{
	return SUITE("reference", cases);
}
