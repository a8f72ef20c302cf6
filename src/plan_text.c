/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void sb_plan_line(const struct sb_step *step, char *text, size_t size)
{
	static const char *const words[] = {
		[SB_STEP_CLEAR] = "clear", [SB_STEP_UP] = "up",	      [SB_STEP_PACK] = "pack",
		[SB_STEP_PEER] = "peer",   [SB_STEP_SPLIT] = "split", [SB_STEP_FLAG] = "flag",
		[SB_STEP_GEMM] = "gemm",   [SB_STEP_DOWN] = "down",
	};
	size_t used;

	if (step->kind == SB_STEP_GEMM || step->kind == SB_STEP_DOWN)
		snprintf(text, size, "%s C[%" PRId64 "+%" PRId64 ", %" PRId64 "+%" PRId64 "]",
			 words[step->kind], step->i0, step->m, step->j0, step->n);
	else if (step->kind == SB_STEP_PEER)
		snprintf(text, size, "%s %c[%" PRId64 "+%" PRId64 "] of %d", words[step->kind],
			 step->operand == SB_OPERAND_A ? 'A' : 'B', step->start, step->count,
			 step->peer);
	else
		snprintf(text, size, "%s %c[%" PRId64 "+%" PRId64 "]", words[step->kind],
			 step->operand == SB_OPERAND_A ? 'A' : 'B', step->start, step->count);
	used = strlen(text);
	if (step->run && step->kind != SB_STEP_DOWN)
		snprintf(text + used, size - used, " k[%" PRId64 "+%" PRId64 "]", step->k0,
			 step->depth);
}
