/* SPDX-License-Identifier: BSD-3-Clause */
#include "tiles.h"

#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "plan_shape.h"
#include "transfer.h"
#include "whole.h"

static void commit(void *context, const struct sb_chunk *piece, const void *from, size_t pitch)
{
	(void)pitch; /* one line */
	memcpy((char *)context + piece->start, from, piece->width);
}

static enum sb_status fetch(const struct sb_carry *c, int operand, uint32_t *words, int64_t count)
{
	struct sb_lines lines = {
		.host = words,
		.device = c->base + c->plan->operands[operand].flags_base,
		.host_pitch = (size_t)count * sizeof *words,
		.device_pitch = (size_t)count * sizeof *words,
		.width = (size_t)count * sizeof *words,
		.height = 1,
	};

	return sb_transfer_down(c->device, &lines, commit, words, c->patience);
}

static enum sb_arithmetic arithmetic_of(uint32_t flags)
{
	if (!(flags & SB_NOT_FP16))
		return SB_FP16X3;
	return flags & SB_NOT_BF16 ? SB_STRICT : SB_BF16X6;
}

enum sb_status sb_tiles_count(const struct sb_carry *c, int64_t tiles[SB_ARITHMETICS])
{
	int64_t rows = sb_ceil_div(c->call->m, SB_PLAN_FLAGGED),
		columns = sb_ceil_div(c->call->n, SB_PLAN_FLAGGED);
	uint32_t *flags = calloc((size_t)(rows + columns), sizeof *flags);
	enum sb_status status;

	if (!flags)
		return SB_NO_MEMORY;
	status = fetch(c, SB_OPERAND_A, flags, rows);
	if (status == SB_OK)
		status = fetch(c, SB_OPERAND_B, flags + rows, columns);
	for (int64_t i = 0; i < rows && status == SB_OK; i++)
		for (int64_t j = 0; j < columns; j++)
			tiles[arithmetic_of(flags[i] | flags[rows + j])]++;
	free(flags);
	return status;
}
