/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 7: the Fortran spellings. They never read the hidden lengths of their two strings, which
 * many callers do not pass.
 */
#include "gemm.h"
#include "names.h"

static bool transposed(const char *word)
{
	return *word == 'T' || *word == 't' || *word == 'C' || *word == 'c';
}

static bool known(const char *word)
{
	return *word == 'N' || *word == 'n' || transposed(word);
}

/* A call that computes nothing may come without its scalars. */
static float scalar(const void *pointer)
{
	return pointer ? *(const float *)pointer : 0.0f;
}

static inline void enter(enum sb_name_index index, const void *caller,
			 const struct sb_f77_arguments *x, int64_t m, int64_t n, int64_t k,
			 int64_t lda, int64_t ldb, int64_t ldc)
{
	const struct sb_call call = {
		.operation = SB_GEMM,
		.type = SB_FLOAT32,
		.unknown = !known(x->trans_a) || !known(x->trans_b),
		.trans_a = transposed(x->trans_a),
		.trans_b = transposed(x->trans_b),
		.m = m,
		.n = n,
		.k = k,
		.lda = lda,
		.ldb = ldb,
		.ldc = ldc,
		.alpha = scalar(x->alpha),
		.beta = scalar(x->beta),
		.a = x->a,
		.b = x->b,
		.c = x->c,
	};
	const struct sb_forward forward = {&sb_names[index], caller, &call, {.f77 = x}};

	if (sb_backend_wrapped((int)index, caller))
		sb_backend_run(&forward);
	else
		sb_gemm(&forward);
}

#define SB_PARAMETERS(integer)                                                                     \
	const char *trans_a, const char *trans_b, const integer *m, const integer *n,              \
		const integer *k, const void *alpha, const void *a, const integer *lda,            \
		const void *b, const integer *ldb, const void *beta, void *c, const integer *ldc
#define SB_ARGUMENTS trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

/* A small call is answered without a copy of its arguments; see entry_cblas.c. */
#define SB_NAME(interface, spelling, integer, plain) SB_ENTRY_##interface(spelling, integer)
#define SB_ENTRY_CBLAS(spelling, integer)
#define SB_ENTRY_F77(spelling, integer)                                                            \
	static __attribute__((noinline)) void large_##spelling(const void *caller,                 \
							       SB_PARAMETERS(integer))             \
	{                                                                                          \
		const struct sb_f77_arguments x = {SB_ARGUMENTS};                                  \
                                                                                                   \
		enter(SB_NAME_##spelling, caller, &x, *m, *n, *k, *lda, *ldb, *ldc);               \
	}                                                                                          \
	void spelling(SB_PARAMETERS(integer));                                                     \
	void spelling(SB_PARAMETERS(integer))                                                      \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		sb_function small = NULL;                                                          \
                                                                                                   \
		if (!sb_backend_wrapped(SB_NAME_##spelling, caller))                               \
			small = sb_gemm_small(&sb_names[SB_NAME_##spelling], caller, *m, *n, *k);  \
                                                                                                   \
		if (small)                                                                         \
			((void (*)(SB_PARAMETERS(integer), size_t, size_t))(void *)small)(         \
				SB_ARGUMENTS, 1, 1);                                               \
		else                                                                               \
			large_##spelling(caller, SB_ARGUMENTS);                                    \
	}
#include "names.def"
