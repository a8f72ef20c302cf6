/* SPDX-License-Identifier: BSD-3-Clause */
/* What an emulated product makes of C, by its oracle. */
#ifndef SB_PRODUCT_EMULATED_H
#define SB_PRODUCT_EMULATED_H

#include "oracle_emulated.h"
#include "product.h"

/* Of a C that is as the call's is, and has its leading dimension. */
static inline void product_emulate(const struct sb_call *call, float *c)
{
	sb_oracle_emulated(call->m, call->n, call->k, call->alpha, call->a,
			   call->trans_a ? call->lda : 1, call->trans_a ? 1 : call->lda, call->b,
			   call->trans_b ? 1 : call->ldb, call->trans_b ? call->ldb : 1, call->beta,
			   c, call->ldc);
}

/* C and what lies around it then, to be freed. */
static inline float *product_emulated(const struct product_data *d)
{
	float *all = malloc(d->c_count * sizeof *all);

	memcpy(all, d->c, d->c_count * sizeof *all);
	product_emulate(&d->call, all + ((float *)d->call.c - d->c));
	return all;
}

#endif
