/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"
#include "suite.h"

#define BIG INT64_MAX

static const struct {
	const char *what;
	bool unknown, ta, tb;
	int64_t m, n, k, lda, ldb, ldc;
	float alpha;
	enum sb_call_kind kind;
} table[] = {
	{"plain", 0, 0, 0, 2, 3, 4, 2, 4, 2, 1, SB_CALL_WORK},
	{"TN", 0, 1, 0, 2, 3, 4, 4, 4, 2, 1, SB_CALL_WORK},
	{"NT", 0, 0, 1, 2, 3, 4, 2, 3, 2, 1, SB_CALL_WORK},
	{"TT", 0, 1, 1, 2, 3, 4, 4, 3, 2, 1, SB_CALL_WORK},
	{"lda short", 0, 0, 0, 2, 3, 4, 1, 4, 2, 1, SB_CALL_ILLEGAL},
	{"lda short, T", 0, 1, 0, 2, 3, 4, 3, 4, 2, 1, SB_CALL_ILLEGAL},
	{"ldb short", 0, 0, 0, 2, 3, 4, 2, 3, 2, 1, SB_CALL_ILLEGAL},
	{"ldb short, T", 0, 0, 1, 2, 3, 4, 2, 2, 2, 1, SB_CALL_ILLEGAL},
	{"ldc short", 0, 0, 0, 2, 3, 4, 2, 4, 1, 1, SB_CALL_ILLEGAL},
	{"unknown word", 1, 0, 0, 2, 3, 4, 2, 4, 2, 1, SB_CALL_ILLEGAL},
	{"m < 0", 0, 0, 0, -1, 3, 4, 2, 4, 2, 1, SB_CALL_ILLEGAL},
	{"n < 0", 0, 0, 0, 2, -1, 4, 2, 4, 2, 1, SB_CALL_ILLEGAL},
	{"k < 0", 0, 0, 0, 2, 3, -1, 2, 4, 2, 1, SB_CALL_ILLEGAL},
	{"m = 0", 0, 0, 0, 0, 3, 4, 1, 4, 1, 1, SB_CALL_QUICK},
	{"m = 0, lda = 0", 0, 0, 0, 0, 3, 4, 0, 4, 1, 1, SB_CALL_ILLEGAL},
	{"m = 0, ldc = 0", 0, 0, 0, 0, 3, 4, 1, 4, 0, 1, SB_CALL_ILLEGAL},
	{"n = 0", 0, 0, 0, 2, 0, 4, 2, 4, 2, 1, SB_CALL_QUICK},
	{"k = 0", 0, 0, 0, 2, 3, 0, 2, 1, 2, 1, SB_CALL_QUICK},
	{"k = 0, ldb = 0", 0, 0, 0, 2, 3, 0, 2, 0, 2, 1, SB_CALL_ILLEGAL},
	{"alpha = 0", 0, 0, 0, 2, 3, 4, 2, 4, 2, 0, SB_CALL_QUICK},
	{"alpha = -0", 0, 0, 0, 2, 3, 4, 2, 4, 2, -0.0f, SB_CALL_QUICK},
	{"alpha = 0 does not excuse a short ld", 0, 0, 0, 2, 3, 4, 1, 4, 2, 0, SB_CALL_ILLEGAL},
	{"quick returns have no extent", 0, 0, 0, 2, 3, 0, BIG, 1, 2, 1, SB_CALL_QUICK},
	{"A overflows", 0, 0, 0, 2, 3, 4, BIG, 4, 2, 1, SB_CALL_ILLEGAL},
	{"A of one column does not", 0, 0, 0, 2, 3, 1, BIG, 1, 2, 1, SB_CALL_WORK},
	{"B overflows", 0, 0, 0, 2, 3, 4, 2, BIG, 2, 1, SB_CALL_ILLEGAL},
	{"C overflows", 0, 0, 0, 2, 3, 4, 2, 4, BIG, 1, SB_CALL_ILLEGAL},
	{"bytes overflow, elements do not", 0, 0, 0, 1, 3, 1, 1, 1, BIG / 4, 1, SB_CALL_ILLEGAL},
	{"just inside", 0, 0, 0, 1, 2, 1, 1, 1, BIG / 4 - 1, 1, SB_CALL_WORK},
	{"just outside", 0, 0, 0, 1, 2, 1, 1, 1, BIG / 4 + 1, 1, SB_CALL_ILLEGAL},
	{"2^31 elements", 0, 0, 0, 50000, 50000, 1, 50000, 1, 50000, 1, SB_CALL_WORK},
};

static void the_kind_follows_from_the_arguments(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const struct sb_call call = {
			.unknown = table[i].unknown,
			.trans_a = table[i].ta,
			.trans_b = table[i].tb,
			.m = table[i].m,
			.n = table[i].n,
			.k = table[i].k,
			.lda = table[i].lda,
			.ldb = table[i].ldb,
			.ldc = table[i].ldc,
			.alpha = table[i].alpha,
		};
		bool right = sb_call_kind(&call) == table[i].kind;

		if (!right)
			printf("    %s: kind %d\n", table[i].what, (int)sb_call_kind(&call));
		CU_ASSERT(right);
	}
}

/* One past the largest offset that the product touches. */
static size_t touched(int64_t rows, int64_t columns, int64_t ld)
{
	size_t last = 0;

	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			if ((size_t)(i + j * ld) > last)
				last = (size_t)(i + j * ld);
	return (last + 1) * sizeof(float);
}

static void byte_counts_end_with_the_last_element(void)
{
	for (int round = 0; round < 200; round++) {
		struct sb_call call = {
			.trans_a = suite_between(0, 1),
			.trans_b = suite_between(0, 1),
			.m = suite_between(1, 9),
			.n = suite_between(1, 9),
			.k = suite_between(1, 9),
			.alpha = 1,
		};
		int64_t rows_a = call.trans_a ? call.k : call.m;
		int64_t rows_b = call.trans_b ? call.n : call.k;

		call.lda = rows_a + suite_between(0, 3);
		call.ldb = rows_b + suite_between(0, 3);
		call.ldc = call.m + suite_between(0, 3);
		CU_ASSERT_EQUAL(sb_call_kind(&call), SB_CALL_WORK);
		CU_ASSERT_EQUAL(sb_call_bytes_a(&call),
				touched(rows_a, call.trans_a ? call.m : call.k, call.lda));
		CU_ASSERT_EQUAL(sb_call_bytes_b(&call),
				touched(rows_b, call.trans_b ? call.k : call.n, call.ldb));
		CU_ASSERT_EQUAL(sb_call_bytes_c(&call), touched(call.m, call.n, call.ldc));
	}
}

static void flops_may_pass_64_bits(void)
{
	const struct sb_call small = {.m = 2, .n = 3, .k = 5},
			     huge = {.m = 1 << 30, .n = 1 << 30, .k = 1 << 30};

	CU_ASSERT_EQUAL(sb_call_flops(&small), 60);
	CU_ASSERT_EQUAL(sb_call_flops(&huge), 0x1p91);
}

static void bytes_may_pass_32_bits(void)
{
	const struct sb_call call = {.m = 1000,
				     .n = 1000,
				     .k = 1000,
				     .lda = 2200000,
				     .ldb = 1000,
				     .ldc = 1000,
				     .alpha = 1};

	CU_ASSERT_EQUAL(sb_call_bytes_a(&call), 4u * (999u * 2200000ull + 1000u));
}

static const struct suite_case cases[] = {
	{"the kind follows from the arguments", the_kind_follows_from_the_arguments},
	{"byte counts end with the last element", byte_counts_end_with_the_last_element},
	{"flops may pass 64 bits", flops_may_pass_64_bits},
	{"bytes may pass 32 bits", bytes_may_pass_32_bits},
};

int main(void)
{
	return SUITE("call", cases);
}
