/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 0: what is known of an element type: one table row a type, so that the floors above speak
 * of elements and not of floats.
 */
#ifndef SB_ELEMENT_H
#define SB_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"

struct sb_element {
	const char *operation; /* the BLAS name of the GEMM on this type */
	size_t bytes;	       /* of one element, and its alignment */
	/*
	 * Commits finished values to the caller's C: c(i,j) = t(i,j) + beta * c(i,j), or t(i,j) and
	 * no read of c where beta is zero, each operation rounded once. t and c are m x n,
	 * column-major, leading dimensions in elements. The only function that writes a caller's C
	 * from host memory.
	 */
	void (*commit)(void *c, int64_t ldc, const void *t, int64_t ldt, int64_t m, int64_t n,
		       double beta);
};

/* The row of a type; never NULL. */
const struct sb_element *sb_element(enum sb_type type);

#endif
