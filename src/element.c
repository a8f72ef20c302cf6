/* SPDX-License-Identifier: BSD-3-Clause */
#include "element.h"

#include <string.h>

/* Built with -ffp-contract=off: the product and the sum are rounded apart, as in the kernels. */
static void commit_float32(void *c, int64_t ldc, const void *t, int64_t ldt, int64_t m, int64_t n,
			   double beta)
{
	const float factor = (float)beta;

	for (int64_t j = 0; j < n; j++) {
		float *to = (float *)c + j * ldc;
		const float *from = (const float *)t + j * ldt;

		if (factor == 0.0f) {
			memcpy(to, from, (size_t)m * sizeof *to);
			continue;
		}
		for (int64_t i = 0; i < m; i++)
			to[i] = from[i] + factor * to[i];
	}
}

static const struct sb_element elements[] = {
	[SB_FLOAT32] = {"sgemm", sizeof(float), commit_float32},
};

const struct sb_element *sb_element(enum sb_type type)
{
	return &elements[type];
}
