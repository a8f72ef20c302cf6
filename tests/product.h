/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the GPU path: products with guards around C, against the oracle. */
#ifndef SB_PRODUCT_H
#define SB_PRODUCT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "oracle.h"

struct product {
	int64_t m, n, k;
	int trans_a, trans_b;
	int64_t pad_a, pad_b, pad_c; /* leading dimensions beyond the least */
	float alpha, beta;
};

struct product_data {
	struct sb_call call;
	float *a, *b, *c, *expected;
	size_t c_count;
};

static inline float product_value(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(int32_t)(*state >> 8) / 8388608.0f - 1.0f;
}

static inline float *product_fill(size_t count, uint32_t seed)
{
	float *x = malloc(count * sizeof *x);

	for (size_t i = 0; x && i < count; i++)
		x[i] = product_value(&seed);
	return x;
}

/* Around and between the columns of C lie guards, which `expected` holds too. */
static inline struct product_data product_make(const struct product *p)
{
	struct product_data d = {0};
	struct sb_call *call = &d.call;
	int64_t columns_a = p->trans_a ? p->m : p->k, columns_b = p->trans_b ? p->k : p->n;
	const size_t guard = 64;

	*call = (struct sb_call){
		.trans_a = p->trans_a,
		.trans_b = p->trans_b,
		.m = p->m,
		.n = p->n,
		.k = p->k,
		.lda = (p->trans_a ? p->k : p->m) + p->pad_a,
		.ldb = (p->trans_b ? p->n : p->k) + p->pad_b,
		.ldc = p->m + p->pad_c,
		.alpha = p->alpha,
		.beta = p->beta,
	};
	d.c_count = (size_t)(call->ldc * p->n) + 2 * guard;
	d.a = product_fill((size_t)(call->lda * columns_a), 1);
	d.b = product_fill((size_t)(call->ldb * columns_b), 2);
	d.c = product_fill(d.c_count, 3);
	/* Where beta is zero C must not be read: NaNs would show. */
	for (int64_t j = 0; p->beta == 0 && j < p->n; j++)
		memset(d.c + guard + j * call->ldc, 0xff, (size_t)p->m * sizeof(float));
	d.expected = malloc(d.c_count * sizeof(float));
	memcpy(d.expected, d.c, d.c_count * sizeof(float));
	sb_oracle(p->m, p->n, p->k, p->alpha, d.a, p->trans_a ? call->lda : 1,
		  p->trans_a ? 1 : call->lda, d.b, p->trans_b ? 1 : call->ldb,
		  p->trans_b ? call->ldb : 1, p->beta, d.expected + guard, call->ldc);
	call->a = d.a;
	call->b = d.b;
	call->c = d.c + guard;
	return d;
}

/* C and everything around it, bit for bit. */
static inline int product_right(const struct product_data *d)
{
	for (size_t i = 0; i < d->c_count; i++)
		if (!sb_oracle_same(d->c[i], d->expected[i]))
			return 0;
	return 1;
}

static inline void product_free(struct product_data *d)
{
	free(d->a);
	free(d->b);
	free(d->c);
	free(d->expected);
}

/* The CPU's answer to a call: the oracle's, so that it does not show who computed a block. */
static inline void product_compute(void *context, const struct sb_call *call)
{
	if (context)
		++*(int *)context;
	sb_oracle(call->m, call->n, call->k, call->alpha, call->a, call->trans_a ? call->lda : 1,
		  call->trans_a ? 1 : call->lda, call->b, call->trans_b ? 1 : call->ldb,
		  call->trans_b ? call->ldb : 1, call->beta, call->c, call->ldc);
}

#endif
