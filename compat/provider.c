/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider: libblas.so.3 as the distribution's alternatives, libblastrampoline and dlsym() know
 * it. It holds no code of the library's: each spelling jumps to the entry in the libshimblas.so.0
 * of this process, of which there is one, preloaded or not. Every other BLAS name is answered by
 * the full BLAS this object needs.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "shimblas.h"

typedef void entry_function(void);

/* The names below stand in front of libshimblas's in the search order, so they cannot be bound by
 * the linker: they are asked for. */
static entry_function *entry(_Atomic(entry_function *) *known, const char *spelling)
{
	entry_function *function = atomic_load_explicit(known, memory_order_relaxed);

	if (!function) {
		function = shimblas_entry(spelling);
		atomic_store_explicit(known, function, memory_order_relaxed);
	}
	return function;
}

#define SB_NAME(interface, spelling, integer, plain) SB_PROVIDE_##interface(spelling)
#define SB_PROVIDE_CBLAS(spelling)                                                                 \
	void spelling(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,      \
		      int64_t k, float alpha, const void *a, int64_t lda, const void *b,           \
		      int64_t ldb, float beta, void *c, int64_t ldc);                              \
	void spelling(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,      \
		      int64_t k, float alpha, const void *a, int64_t lda, const void *b,           \
		      int64_t ldb, float beta, void *c, int64_t ldc)                               \
	{                                                                                          \
		static _Atomic(entry_function *) known;                                            \
                                                                                                   \
		((__typeof__(&spelling))(void *)entry(&known, #spelling))(                         \
			layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);   \
	}
#define SB_PROVIDE_F77(spelling)                                                                   \
	void spelling(const char *trans_a, const char *trans_b, const void *m, const void *n,      \
		      const void *k, const void *alpha, const void *a, const void *lda,            \
		      const void *b, const void *ldb, const void *beta, void *c, const void *ldc); \
	void spelling(const char *trans_a, const char *trans_b, const void *m, const void *n,      \
		      const void *k, const void *alpha, const void *a, const void *lda,            \
		      const void *b, const void *ldb, const void *beta, void *c, const void *ldc)  \
	{                                                                                          \
		static _Atomic(entry_function *) known;                                            \
                                                                                                   \
		((__typeof__(&spelling))(void *)entry(&known, #spelling))(                         \
			trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);           \
	}
#include "names.def"
