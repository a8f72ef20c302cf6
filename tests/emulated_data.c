/* SPDX-License-Identifier: BSD-3-Clause */
#include "emulated_case.h"
#include "args.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct sb_emulated_row sb_emulated_rows[] = {
#define SB_TENSOR(method, BM, BN, BK, threads, cluster, stages, dynamic, form, arch, text)         \
	{"sgemm_" #method "_" #BM "x" #BN "x" #BK, #method, BM, BN, BK, threads, cluster, dynamic},
#define SB_SPLIT(method, BI, BK, threads, text)                                                    \
	{"split_" #method "_" #BI "x" #BK, "split_" #method, BI, 0, BK, threads, 1, 0},
#define SB_KERNEL(method, BM, BN, BK, threads, blocks, TM, TN, stages, dynamic, form, arch, text)  \
	{"sgemm_" #method "_" #BM "x" #BN "x" #BK,                                                 \
	 #method "_" #BM "x" #BN "x" #BK,                                                          \
	 BM,                                                                                       \
	 BN,                                                                                       \
	 BK,                                                                                       \
	 threads,                                                                                  \
	 1,                                                                                        \
	 dynamic},
#include "kernels.def"
};

const size_t sb_emulated_row_count = sizeof sb_emulated_rows / sizeof *sb_emulated_rows;

struct sb_emulated_row sb_emulated_row(const char *method)
{
	for (size_t r = 0; r < sb_emulated_row_count; r++)
		if (strcmp(sb_emulated_rows[r].method, method) == 0)
			return sb_emulated_rows[r];
	return (struct sb_emulated_row){0};
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

float sb_emulated_value(uint32_t *state, enum sb_emulated_values kind, int mn, int k)
{
	float mantissa = (float)next(state) / 16777216.0f - 0.5f;
	int some = (int)(next(state) % 31) - 15, slab = k / SB_SPLIT_SLAB;

	switch (kind) {
	case SB_EMULATED_PLAIN:
		return ldexpf(mantissa, some % 3);
	case SB_EMULATED_POSITIVE:
		return fabsf(mantissa);
	case SB_EMULATED_WIDE:
		return ldexpf(mantissa, some);
	case SB_EMULATED_ROWS:
		return ldexpf(mantissa, mn * 7 % 61 - 30);
	case SB_EMULATED_OUTLIER:
		return k % 97 == 5 ? ldexpf(1.0f, 20) : mantissa;
	case SB_EMULATED_SLABS:
		return ldexpf(fabsf(mantissa), slab % 8 == 7 ? -19 : 23);
	case SB_EMULATED_FAR_SLABS:
		return ldexpf(mantissa, slab % 2 ? -40 : 55);
	case SB_EMULATED_TINY:
		return ldexpf(mantissa, -127);
	case SB_EMULATED_LARGE:
		return mantissa * 0x1.fp127f * 2.0f;
	}
	return 0;
}
