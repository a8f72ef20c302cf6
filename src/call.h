/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 0: one GEMM call, C = alpha op(A) op(B) + beta C.
 *
 * Whatever spelling a program used, a call is held in one form: column-major, 64-bit sizes. A
 * row-major call is the column-major call with A and B (and m and n) exchanged. op(A) is m x k,
 * op(B) is k x n, C is m x n. Leading dimensions are in elements. Nothing here owns memory.
 */
#ifndef SB_CALL_H
#define SB_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sb_operation { SB_GEMM };
enum sb_type { SB_FLOAT32 };

struct sb_call {
	enum sb_operation operation;
	enum sb_type type;
	bool unknown;	       /* an argument that names no layout or transpose: illegal */
	bool trans_a, trans_b; /* op(X) = X transposed */
	int64_t m, n, k;
	int64_t lda, ldb, ldc;
	float alpha, beta;
	const void *a; /* m x k with leading dimension lda >= m, or k x m and >= k if trans_a */
	const void *b; /* k x n with leading dimension ldb >= k, or n x k and >= n if trans_b */
	void *c;       /* m x n with leading dimension ldc >= m */
};

/*
 * What the arguments allow. SB_CALL_WORK: legal, and there is a product to compute. SB_CALL_QUICK:
 * legal, but a quick return of the BLAS (m, n or k = 0, alpha = 0) for the backend.
 * SB_CALL_ILLEGAL: an unknown word, a negative size, a short leading dimension, or an extent whose
 * byte count overflows 64 bits.
 */
enum sb_call_kind { SB_CALL_WORK, SB_CALL_QUICK, SB_CALL_ILLEGAL };
enum sb_call_kind sb_call_kind(const struct sb_call *call);

/* Bytes from the first to one past the last element of each operand; valid for SB_CALL_WORK. */
size_t sb_call_bytes_a(const struct sb_call *call);
size_t sb_call_bytes_b(const struct sb_call *call);
size_t sb_call_bytes_c(const struct sb_call *call);

/* Of a size: how often 1 is to be doubled to be no less. */
static inline unsigned sb_call_doublings(int64_t size)
{
	return size > 1 ? 64 - (unsigned)__builtin_clzll((unsigned long long)size - 1) : 0;
}

/* Floating-point operations, 2mnk, as a double since it may pass 2^63. */
double sb_call_flops(const struct sb_call *call);

#endif
