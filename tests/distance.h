/* SPDX-License-Identifier: BSD-3-Clause */
/* What a product ought to be: in double precision, and by OpenBLAS. */
#ifndef DISTANCE_H
#define DISTANCE_H

#include <stdbool.h>

#include "call.h"

enum { ROW = 101, COLUMN = 102, NOTRANS = 111, TRANS = 112, CONJTRANS = 113 };

/*
 * By OpenBLAS, opened apart, since the linker would take the library's own entry for cblas_sgemm: C
 * is given apart too, with the call's leading dimension.
 */
void distance_openblas(const struct sb_call *call, float *c);
typedef void distance_cblas(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
			    const void *a, int lda, const void *b, int ldb, float beta, void *c,
			    int ldc);
distance_cblas *distance_openblas_itself(void);

/*
 * The largest distance of C from the product, element by element, in units of k * eps * (|alpha|
 * |A||B| + |beta C|): at most 1 for any order of summation. `before` is C as it was, of the same
 * leading dimension. Infinity where a NaN or Inf stands in the wrong place, or where padding
 * changed.
 */
double distance_of(const struct sb_call *call, const float *before);

/* Random operands of a legal call: fills in a, b and c with memory to be given back. */
void distance_open(struct sb_call *call);
void distance_close(struct sb_call *call);
/* A copy of C, padding included, to be freed. */
float *distance_copy(const struct sb_call *call);
/* A random legal call of at most `most` rows, columns and depth, operands included. */
struct sb_call distance_random(int64_t most);

/* Does the environment ask for emulated products? They are truncated, and slow where a tensor core
 * is modelled. */
bool distance_emulated(void);

#endif
