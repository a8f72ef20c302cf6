/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"

#include "element.h"

/* Bytes spanned by a column-major rows x columns array, or false if they overflow. */
static bool extent(int64_t rows, int64_t columns, int64_t ld, size_t size, size_t *bytes)
{
	size_t elements;

	return !__builtin_mul_overflow((size_t)(columns - 1), (size_t)ld, &elements) &&
	       !__builtin_add_overflow(elements, (size_t)rows, &elements) &&
	       !__builtin_mul_overflow(elements, size, bytes) && *bytes <= PTRDIFF_MAX;
}

static int64_t at_least_one(int64_t size)
{
	return size > 1 ? size : 1;
}

enum sb_call_kind sb_call_kind(const struct sb_call *call)
{
	int64_t rows_a = call->trans_a ? call->k : call->m;
	int64_t rows_b = call->trans_b ? call->n : call->k;
	size_t size = sb_element(call->type)->bytes, bytes;

	if (call->unknown || call->m < 0 || call->n < 0 || call->k < 0 ||
	    call->lda < at_least_one(rows_a) || call->ldb < at_least_one(rows_b) ||
	    call->ldc < at_least_one(call->m))
		return SB_CALL_ILLEGAL;
	if (call->m == 0 || call->n == 0 || call->k == 0 || call->alpha == 0.0f)
		return SB_CALL_QUICK;
	if (!extent(rows_a, call->trans_a ? call->m : call->k, call->lda, size, &bytes) ||
	    !extent(rows_b, call->trans_b ? call->k : call->n, call->ldb, size, &bytes) ||
	    !extent(call->m, call->n, call->ldc, size, &bytes))
		return SB_CALL_ILLEGAL;
	return SB_CALL_WORK;
}

size_t sb_call_bytes_a(const struct sb_call *call)
{
	size_t bytes = 0;

	extent(call->trans_a ? call->k : call->m, call->trans_a ? call->m : call->k, call->lda,
	       sb_element(call->type)->bytes, &bytes);
	return bytes;
}

size_t sb_call_bytes_b(const struct sb_call *call)
{
	size_t bytes = 0;

	extent(call->trans_b ? call->n : call->k, call->trans_b ? call->k : call->n, call->ldb,
	       sb_element(call->type)->bytes, &bytes);
	return bytes;
}

size_t sb_call_bytes_c(const struct sb_call *call)
{
	size_t bytes = 0;

	extent(call->m, call->n, call->ldc, sb_element(call->type)->bytes, &bytes);
	return bytes;
}

double sb_call_flops(const struct sb_call *call)
{
	return 2.0 * (double)call->m * (double)call->n * (double)call->k;
}
