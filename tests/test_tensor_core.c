/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of the tensor core against what a card recorded, and against sums made by hand: what
 * the oracle of emulated arithmetic and the exact engine rest on.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stand_in/tensor_core.h"
#include "suite.h"

enum { LENGTH_MOST = 12, DEPTH = SB_CORE_DEPTH };

struct recorded {
	enum sb_core_format format;
	int length;
	uint32_t accumulator, result;
	uint16_t a[LENGTH_MOST][DEPTH], b[LENGTH_MOST][DEPTH];
};

static bool read_case(FILE *file, struct recorded *to)
{
	char kind[8];

	if (fscanf(file, "%7s", kind) != 1)
		return false;
	if (kind[0] == '#') {
		for (int c = 0; c != EOF && c != '\n';)
			c = fgetc(file);
		return read_case(file, to);
	}
	to->format = strcmp(kind, "fp16") == 0 ? SB_CORE_FP16 : SB_CORE_BF16;
	if (fscanf(file, "%d %x %x :", &to->length, &to->accumulator, &to->result) != 3 ||
	    to->length < 1 || to->length > LENGTH_MOST)
		return false;
	for (int p = 0; p < to->length * DEPTH; p++)
		if (fscanf(file, "%hx %hx", &to->a[p / DEPTH][p % DEPTH],
			   &to->b[p / DEPTH][p % DEPTH]) != 2)
			return false;
	return true;
}

/* Number `at` of the eight is the case's; the others are the same in another order of k. */
static float by_eights(const struct recorded *r, int at)
{
	float sums[SB_CORE_WIDTH], apart[SB_CORE_WIDTH];

	for (int j = 0; j < SB_CORE_WIDTH; j++)
		sums[j] = apart[j] = sb_core_float(r->accumulator);
	for (int l = 0; l < r->length; l++) {
		struct sb_core_row row;
		struct sb_core_eight eight;
		uint16_t turned[SB_CORE_WIDTH][DEPTH];

		for (int p = 0; p < DEPTH; p++) {
			uint16_t bits[SB_CORE_WIDTH];

			for (int j = 0; j < SB_CORE_WIDTH; j++)
				bits[j] = turned[j][p] = r->b[l][(p + j - at + DEPTH) % DEPTH];
			sb_core_eight_set(&eight, r->format, p, bits);
		}
		sb_core_row_set(&row, r->format, r->a[l]);
		sb_tensor_core_dots(r->format, &row, &eight, sums);
		for (int j = 0; j < SB_CORE_WIDTH; j++) {
			apart[j] = sb_tensor_core_dot(r->format, r->a[l], turned[j], apart[j]);
			CU_ASSERT_EQUAL(sb_core_bits(apart[j]), sb_core_bits(sums[j]));
		}
	}
	return sums[at];
}

static void a_card_gave_the_same_bits(void)
{
	char name[4096];
	struct recorded r;
	FILE *file;
	int count = 0, wrong = 0;

	snprintf(name, sizeof name, "%s/tests/cases/tensor_core_recorded.txt", getenv("srcdir"));
	file = fopen(name, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (; read_case(file, &r); count++) {
		float sum = sb_core_float(r.accumulator);

		for (int l = 0; l < r.length; l++)
			sum = sb_tensor_core_dot(r.format, r.a[l], r.b[l], sum);
		wrong += sb_core_bits(sum) != r.result;
		wrong += sb_core_bits(by_eights(&r, count % SB_CORE_WIDTH)) != r.result;
	}
	fclose(file);
	CU_ASSERT(count > 300);
	CU_ASSERT_EQUAL(wrong, 0);
}

/* Products of fp16 that are powers of two times few places, and what they are to add up to. */
struct by_hand {
	const char *why;
	float sum;
	float a[4], b[4];
	float result;
};

static void sums_made_by_hand(void)
{
	static const struct by_hand cases[] = {
		{"an exact sum", 1, {2, 3}, {4, 5}, 24},
		{"2^-25 of the largest is kept: two of them are the last place but two",
		 1,
		 {0x1p-12f, 0x1p-12f, 0x1p-12f, 0x1p-12f},
		 {0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f},
		 0x1.000002p0f},
		{"2^-26 of the largest is not",
		 1,
		 {0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f},
		 {0x1p-13f, 0x1p-13f, 0x1p-13f, 0x1p-13f},
		 1},
		{"nor is what is left of a larger one",
		 1,
		 {0x1.8p-12f, 0x1.8p-12f},
		 {0x1p-13f, 0x1p-13f},
		 1},
		{"a negative one is cut toward zero too: nothing is left to take away",
		 1,
		 {-0x1p-13f},
		 {0x1p-13f},
		 1},
		{"what is kept is taken away, and the sum cut toward zero",
		 1,
		 {-0x1p-12f},
		 {0x1p-13f},
		 0x1.fffffep-1f},
		{"a significand of 2.25 has the exponent 0: a place more is kept of the others",
		 0,
		 {1.5f, 0x1p-13f, 0x1p-13f},
		 {1.5f, 0x1p-12f, 0x1p-12f},
		 2.25f},
		{"though it makes the sum's last place larger",
		 0,
		 {1.5f, 0x1p-11f, 0x1p-11f},
		 {1.5f, 0x1p-12f, 0x1p-12f},
		 2.25f + 0x1p-22f},
		{"a product that is the largest cuts the accumulator",
		 0x1.fffffep0f,
		 {4},
		 {0x1p10f},
		 4097.0f + 0x1.ffcp-1f},
		{"denormal factors count", 0, {0x1p-24f}, {0x1p-24f}, 0x1p-48f},
		{"a zero has no exponent, whatever the other factor",
		 0x1p-40f,
		 {0, 0x1p-24f},
		 {65504, 0x1p-24f},
		 0x1.01p-40f},
		{"what cancels is +0", 0, {1, -1}, {1, 1}, 0},
		{"and so is -0", -0.0f, {-0.0f}, {1}, 0},
		{"what is cut off does not overflow",
		 0x1.fffffep127f,
		 {65504},
		 {65504},
		 0x1.fffffep127f},
		{"infinity stays", 1, {INFINITY}, {-2}, -INFINITY},
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		uint16_t a[DEPTH] = {0}, b[DEPTH] = {0};
		float sum;

		for (int p = 0; p < 4; p++) {
			/* Far from each other: all of a step are one group. */
			a[p * 5] = sb_core_round(SB_CORE_FP16, cases[c].a[p]);
			b[p * 5] = sb_core_round(SB_CORE_FP16, cases[c].b[p]);
		}
		sum = sb_tensor_core_dot(SB_CORE_FP16, a, b, cases[c].sum);
		if (sb_core_bits(sum) != sb_core_bits(cases[c].result))
			fprintf(stderr, "%s: %a, not %a\n", cases[c].why, sum, cases[c].result);
		CU_ASSERT_EQUAL(sb_core_bits(sum), sb_core_bits(cases[c].result));
	}
}

static void floats_and_their_halves(void)
{
	static const struct {
		enum sb_core_format format;
		float x;
		uint16_t bits;
	} cases[] = {
		{SB_CORE_FP16, 1, 0x3c00},
		{SB_CORE_FP16, -65504, 0xfbff},
		{SB_CORE_FP16, 65519.996f, 0x7bff},
		{SB_CORE_FP16, 65520, 0x7c00},
		{SB_CORE_FP16, 0x1.002p0f, 0x3c00}, /* ties to even */
		{SB_CORE_FP16, 0x1.006p0f, 0x3c02},
		{SB_CORE_FP16, 0x1.002002p0f, 0x3c01},
		{SB_CORE_FP16, 0x1p-14f, 0x0400},
		{SB_CORE_FP16, 0x1.ffep-15f, 0x0400},
		{SB_CORE_FP16, 0x1p-24f, 0x0001},
		{SB_CORE_FP16, 0x1p-25f, 0x0000},
		{SB_CORE_FP16, -0x1.000002p-25f, 0x8001},
		{SB_CORE_FP16, 0x1.8p-24f, 0x0002},
		{SB_CORE_FP16, 0x1p-149f, 0x0000},
		{SB_CORE_FP16, -INFINITY, 0xfc00},
		{SB_CORE_BF16, 1, 0x3f80},
		{SB_CORE_BF16, 0x1.01p0f, 0x3f80},
		{SB_CORE_BF16, 0x1.03p0f, 0x3f82},
		{SB_CORE_BF16, 0x1.fep127f, 0x7f7f},
		{SB_CORE_BF16, 0x1.ffp127f, 0x7f80},
		{SB_CORE_BF16, 0x1p-133f, 0x0001},
		{SB_CORE_BF16, 0x1p-134f, 0x0000},
		{SB_CORE_BF16, 0x1.8p-133f, 0x0002},
		{SB_CORE_BF16, -0.0f, 0x8000},
		{SB_CORE_BF16, INFINITY, 0x7f80},
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		CU_ASSERT_EQUAL(sb_core_round(cases[c].format, cases[c].x), cases[c].bits);
	CU_ASSERT(isnan(sb_core_value(SB_CORE_FP16, sb_core_round(SB_CORE_FP16, -NAN))));
	CU_ASSERT_EQUAL(sb_core_round(SB_CORE_BF16, -NAN), 0x7fff);
	for (int format = SB_CORE_FP16; format <= SB_CORE_BF16; format++)
		for (uint32_t bits = 0; bits < 0x10000; bits++) {
			float x = sb_core_value((enum sb_core_format)format, (uint16_t)bits);

			if (!isnan(x) && sb_core_round((enum sb_core_format)format, x) != bits)
				CU_FAIL("a value that does not come back");
		}
}

int main(void)
{
	static const struct suite_case cases[] = {
		{"a card gave the same bits", a_card_gave_the_same_bits},
		{"sums made by hand", sums_made_by_hand},
		{"floats and their halves", floats_and_their_halves},
	};

	return SUITE("tensor_core", cases);
}
