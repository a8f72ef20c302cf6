/* SPDX-License-Identifier: BSD-3-Clause */
#include "distance.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

distance_cblas *distance_openblas_itself(void)
{
	static distance_cblas *gemm;
	void *library;

	if (!gemm) {
		library = dlopen(SB_FALLBACK_BACKEND, RTLD_NOW | RTLD_LOCAL);
		if (!library || !(*(void **)&gemm = dlsym(library, "cblas_sgemm")))
			abort();
	}
	return gemm;
}

void distance_openblas(const struct sb_call *call, float *c)
{
	distance_openblas_itself()(COLUMN, call->trans_a ? TRANS : NOTRANS,
				   call->trans_b ? TRANS : NOTRANS, (int)call->m, (int)call->n,
				   (int)call->k, call->alpha, call->a, (int)call->lda, call->b,
				   (int)call->ldb, call->beta, c, (int)call->ldc);
}

static double at_a(const struct sb_call *call, int64_t i, int64_t k)
{
	return (double)((const float *)
				call->a)[call->trans_a ? k + i * call->lda : i + k * call->lda];
}

static double at_b(const struct sb_call *call, int64_t k, int64_t j)
{
	return (double)((const float *)
				call->b)[call->trans_b ? j + k * call->ldb : k + j * call->ldb];
}

static double distance_at(const struct sb_call *call, float before, float after, int64_t i,
			  int64_t j)
{
	double sum = 0, magnitude = 0, wanted, unit, apart;
	double old = call->beta == 0.0f ? 0 : (double)call->beta * (double)before;

	if (call->alpha != 0.0f)
		for (int64_t k = 0; k < call->k; k++) {
			double product = at_a(call, i, k) * at_b(call, k, j);

			sum += product;
			magnitude += fabs(product);
		}
	wanted = (call->alpha == 0.0f ? 0 : (double)call->alpha * sum) + old;
	if (isnan(wanted) || isnan(after))
		return isnan(wanted) && isnan(after) ? 0 : INFINITY;
	if ((double)after == wanted)
		return 0;
	unit = fabs((double)call->alpha) * magnitude + fabs(old);
	apart = fabs((double)after - wanted);
	return apart / ((double)(call->k + 1) * (double)FLT_EPSILON * unit + (double)FLT_TRUE_MIN);
}

double distance_of(const struct sb_call *call, const float *before)
{
	const float *c = call->c;
	double worst = 0;

	for (int64_t j = 0; j < call->n; j++) {
		for (int64_t i = 0; i < call->m; i++) {
			int64_t at = i + j * call->ldc;

			worst = fmax(worst, distance_at(call, before[at], c[at], i, j));
		}
		if (j + 1 < call->n &&
		    memcmp(c + j * call->ldc + call->m, before + j * call->ldc + call->m,
			   (size_t)(call->ldc - call->m) * sizeof *c) != 0)
			return INFINITY;
	}
	return worst;
}

static void *operand(size_t bytes)
{
	float *values = malloc(bytes ? bytes : 1);

	if (!values)
		abort();
	suite_fill(values, bytes / sizeof *values);
	return values;
}

void distance_open(struct sb_call *call)
{
	call->a = operand(sb_call_bytes_a(call));
	call->b = operand(sb_call_bytes_b(call));
	call->c = operand(sb_call_bytes_c(call));
}

void distance_close(struct sb_call *call)
{
	free((void *)call->a);
	free((void *)call->b);
	free(call->c);
}

float *distance_copy(const struct sb_call *call)
{
	size_t bytes = sb_call_bytes_c(call);
	float *copy = malloc(bytes ? bytes : 1);

	if (!copy)
		abort();
	memcpy(copy, call->c, bytes);
	return copy;
}

struct sb_call distance_random(int64_t most)
{
	static const float factors[] = {0, 1, -1, 0.5f, 2.25f};
	struct sb_call call = {
		.trans_a = suite_between(0, 1),
		.trans_b = suite_between(0, 1),
		.m = suite_between(1, most),
		.n = suite_between(1, most),
		.k = suite_between(1, most),
		.alpha = factors[suite_between(1, 4)],
		.beta = factors[suite_between(0, 4)],
	};

	call.lda = (call.trans_a ? call.k : call.m) + suite_between(0, 5);
	call.ldb = (call.trans_b ? call.n : call.k) + suite_between(0, 5);
	call.ldc = call.m + suite_between(0, 5);
	distance_open(&call);
	return call;
}

bool distance_emulated(void)
{
	const char *math = getenv("SHIMBLAS_MATH");

	return math && strcmp(math, "emulated") == 0;
}
