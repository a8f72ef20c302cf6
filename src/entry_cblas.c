/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 7: the CBLAS spellings. Each takes its integers in the 64-bit registers and stack slots
 * they travel in on every 64-bit Linux; a 32-bit spelling means their lower halves.
 */
#include "gemm.h"
#include "names.h"

_Static_assert(sizeof(void *) == 8, "a 32-bit argument is expected in a slot of 64 bits");

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };
enum { NO_TRANSPOSE = 111, TRANSPOSE = 112, CONJUGATE_TRANSPOSE = 113 };

static bool transposed(int64_t word)
{
	return (int)word == TRANSPOSE || (int)word == CONJUGATE_TRANSPOSE;
}

static bool known(const struct sb_cblas_arguments *x)
{
	return ((int)x->layout == ROW_MAJOR || (int)x->layout == COLUMN_MAJOR) &&
	       ((int)x->trans_a == NO_TRANSPOSE || transposed(x->trans_a)) &&
	       ((int)x->trans_b == NO_TRANSPOSE || transposed(x->trans_b));
}

/* A row-major product is the column-major product of the operands exchanged. */
static void enter(enum sb_name_index index, const void *caller, const struct sb_cblas_arguments *x,
		  int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
{
	bool swap = (int)x->layout == ROW_MAJOR;
	const struct sb_call call = {
		.operation = SB_GEMM,
		.type = SB_FLOAT32,
		.unknown = !known(x),
		.trans_a = transposed(swap ? x->trans_b : x->trans_a),
		.trans_b = transposed(swap ? x->trans_a : x->trans_b),
		.m = swap ? n : m,
		.n = swap ? m : n,
		.k = k,
		.lda = swap ? ldb : lda,
		.ldb = swap ? lda : ldb,
		.ldc = ldc,
		.alpha = x->alpha,
		.beta = x->beta,
		.a = swap ? x->b : x->a,
		.b = swap ? x->a : x->b,
		.c = x->c,
	};
	const struct sb_forward forward = {&sb_names[index], caller, &call, {.cblas = x}};

	sb_gemm(&forward);
}

/*
 * The six arguments that travel on the stack of x86-64, as one: its psABI passes a struct of more
 * than two eightbytes by value exactly where it would pass the members. A compiler that jumps on
 * leaves such a struct where it is; it would copy six parameters out and in again.
 */
#if defined(__x86_64__)
struct rest {
	const void *a;
	int64_t lda;
	const void *b;
	int64_t ldb;
	void *c;
	int64_t ldc;
};
#define SB_PARAMETERS                                                                              \
	int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,         \
		float alpha, float beta, struct rest rest
#define SB_ARGUMENTS	layout, trans_a, trans_b, m, n, k, alpha, beta, rest
#define SB_REST(member) rest.member
#else
#define SB_PARAMETERS                                                                              \
	int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n, int64_t k,         \
		float alpha, const void *a, int64_t lda, const void *b, int64_t ldb, float beta,   \
		void *c, int64_t ldc
#define SB_ARGUMENTS	layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define SB_REST(member) member
#endif

/*
 * A small call jumps straight on, with nothing of ours left on the stack; the others are entered
 * apart, so that their locals do not stand in the way of that jump.
 */
#define SB_NAME(interface, spelling, integer, plain) SB_ENTRY_##interface(spelling, integer)
#define SB_ENTRY_F77(spelling, integer)
#define SB_ENTRY_CBLAS(spelling, integer)                                                          \
	static __attribute__((noinline)) void large_##spelling(const void *caller, SB_PARAMETERS)  \
	{                                                                                          \
		const struct sb_cblas_arguments x = {                                              \
			layout,                                                                    \
			trans_a,                                                                   \
			trans_b,                                                                   \
			m,                                                                         \
			n,                                                                         \
			k,                                                                         \
			alpha,                                                                     \
			SB_REST(a),                                                                \
			SB_REST(lda),                                                              \
			SB_REST(b),                                                                \
			SB_REST(ldb),                                                              \
			beta,                                                                      \
			SB_REST(c),                                                                \
			SB_REST(ldc),                                                              \
		};                                                                                 \
                                                                                                   \
		enter(SB_NAME_##spelling, caller, &x, (integer)m, (integer)n, (integer)k,          \
		      (integer)x.lda, (integer)x.ldb, (integer)x.ldc);                             \
	}                                                                                          \
	void spelling(SB_PARAMETERS);                                                              \
	void spelling(SB_PARAMETERS)                                                               \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		bool swap = (int)layout == ROW_MAJOR;                                              \
		sb_function small = sb_gemm_small(&sb_names[SB_NAME_##spelling], caller,           \
						  (integer)(swap ? n : m),                         \
						  (integer)(swap ? m : n), (integer)k);            \
                                                                                                   \
		if (small)                                                                         \
			((__typeof__(&spelling))(void *)small)(SB_ARGUMENTS);                      \
		else                                                                               \
			large_##spelling(caller, SB_ARGUMENTS);                                    \
	}
#include "names.def"
