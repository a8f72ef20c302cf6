/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_up.h"

#include "gemm.h"
#include "start.h"

struct sb_name made_up_sgemm = {"sgemm_", SB_F77, 32, 1, "sgemm_", NULL, 0};

void __wrap_sb_start_buy(void);
void __wrap_sb_start_buy(void)
{
}

enum sb_health __wrap_sb_start_wait(double seconds);
enum sb_health __wrap_sb_start_wait(double seconds)
{
	(void)seconds;
	return SB_HEALTH_READY;
}

const void *made_up_caller(void)
{
	return (const void *)made_up_caller;
}

void made_up_call(const struct sb_call *call)
{
	const char *ta = call->trans_a ? "T" : "N", *tb = call->trans_b ? "T" : "N";
	int m = (int)call->m, n = (int)call->n, k = (int)call->k;
	int lda = (int)call->lda, ldb = (int)call->ldb, ldc = (int)call->ldc;
	const float *alpha = &call->alpha, *beta = &call->beta;
	const struct sb_f77_arguments x = {ta,	 tb,	  &m,	&n,   &k,      alpha, call->a,
					   &lda, call->b, &ldb, beta, call->c, &ldc};
	const struct sb_forward forward = {&made_up_sgemm, made_up_caller(), call, {.f77 = &x}};

	sb_gemm(&forward);
}
