/* SPDX-License-Identifier: BSD-3-Clause */
/* How a backend is called: the only place that knows the signatures of the BLAS. */
#include "backend.h"

#include "reference.h"

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

typedef void cblas_function(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
			    int64_t k, float alpha, const void *a, int64_t lda, const void *b,
			    int64_t ldb, float beta, void *c, int64_t ldc);
typedef void f77_function(const char *trans_a, const char *trans_b, const void *m, const void *n,
			  const void *k, const void *alpha, const void *a, const void *lda,
			  const void *b, const void *ldb, const void *beta, void *c,
			  const void *ldc, size_t trans_a_length, size_t trans_b_length);

static inline void call_cblas(sb_function function, const struct sb_cblas_arguments *x)
{
	((cblas_function *)(void *)function)(x->layout, x->trans_a, x->trans_b, x->m, x->n, x->k,
					     x->alpha, x->a, x->lda, x->b, x->ldb, x->beta, x->c,
					     x->ldc);
}

static inline void call_f77(sb_function function, const struct sb_f77_arguments *x)
{
	((f77_function *)(void *)function)(x->trans_a, x->trans_b, x->m, x->n, x->k, x->alpha, x->a,
					   x->lda, x->b, x->ldb, x->beta, x->c, x->ldc, 1, 1);
}

void sb_backend_run(const struct sb_forward *forward)
{
	const struct sb_backend *backend = sb_backend_find(forward->name, forward->caller);

	if (!backend->function)
		sb_reference(forward->call);
	else if (forward->name->interface == SB_CBLAS)
		call_cblas(backend->function, forward->cblas);
	else
		call_f77(backend->function, forward->f77);
}

void sb_backend_call(const struct sb_forward *forward, const struct sb_call *call)
{
	const struct sb_backend *backend = sb_backend_find(forward->name, forward->caller);
	const struct sb_cblas_arguments cblas = {
		COLUMN_MAJOR,
		call->trans_a ? TRANSPOSE : NO_TRANSPOSE,
		call->trans_b ? TRANSPOSE : NO_TRANSPOSE,
		call->m,
		call->n,
		call->k,
		call->alpha,
		call->a,
		call->lda,
		call->b,
		call->ldb,
		call->beta,
		call->c,
		call->ldc,
	};
	/* Little-endian: the lower half of each stands where a 32-bit integer would. */
	const struct sb_f77_arguments f77 = {
		call->trans_a ? "T" : "N",
		call->trans_b ? "T" : "N",
		&call->m,
		&call->n,
		&call->k,
		&call->alpha,
		call->a,
		&call->lda,
		call->b,
		&call->ldb,
		&call->beta,
		call->c,
		&call->ldc,
	};

	if (!backend->function)
		sb_reference(call);
	else if (forward->name->interface == SB_CBLAS)
		call_cblas(backend->function, &cblas);
	else
		call_f77(backend->function, &f77);
}

bool sb_backend_foreign(struct sb_name *name, const void *caller)
{
	return sb_backend_find(name, caller)->bits != name->bits;
}
