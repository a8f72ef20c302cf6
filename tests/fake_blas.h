/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS that multiplies nothing: it keeps what it was given and writes its own number into C's
 * first element, so that a test knows who answered and what was asked. FAKE_NUMBER is the number,
 * FAKE_INTEGER the type of its integers.
 */
#ifndef FAKE_BLAS_H
#define FAKE_BLAS_H

#include <stddef.h>
#include <stdint.h>

struct fake_seen {
	int calls;
	/* Fortran: every pointer as it came, and the hidden lengths */
	const void *pointer[13];
	size_t length[2];
	/* CBLAS: layout, trans_a, trans_b, m, n, k, lda, ldb, ldc as wide as they travel */
	int64_t word[9];
	const void *a, *b;
	void *c;
	float alpha, beta;
};

#endif
