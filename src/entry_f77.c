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
		.alpha = *(const float *)x->alpha,
		.beta = *(const float *)x->beta,
		.a = x->a,
		.b = x->b,
		.c = x->c,
	};
	const struct sb_forward forward = {&sb_names[index], caller, &call, {.f77 = x}};

	sb_gemm(&forward);
}

#define SB_NAME(interface, spelling, integer, plain) SB_ENTRY_##interface(spelling, integer)
#define SB_ENTRY_CBLAS(spelling, integer)
#define SB_ENTRY_F77(spelling, integer)                                                            \
	void spelling(const char *trans_a, const char *trans_b, const integer *m,                  \
		      const integer *n, const integer *k, const void *alpha, const void *a,        \
		      const integer *lda, const void *b, const integer *ldb, const void *beta,     \
		      void *c, const integer *ldc);                                                \
	void spelling(const char *trans_a, const char *trans_b, const integer *m,                  \
		      const integer *n, const integer *k, const void *alpha, const void *a,        \
		      const integer *lda, const void *b, const integer *ldb, const void *beta,     \
		      void *c, const integer *ldc)                                                 \
	{                                                                                          \
		const struct sb_f77_arguments x = {trans_a, trans_b, m,	  n,	k, alpha, a,       \
						   lda,	    b,	     ldb, beta, c, ldc};           \
                                                                                                   \
		enter(SB_NAME_##spelling, __builtin_return_address(0), &x, *m, *n, *k, *lda, *ldb, \
		      *ldc);                                                                       \
	}
#include "names.def"
