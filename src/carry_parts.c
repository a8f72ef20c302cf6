/* SPDX-License-Identifier: BSD-3-Clause */
#include "carry_parts.h"

#include "launch.h"
#include "plan_shape.h"
#include "whole.h"

static uint32_t *flags_at(const struct sb_carry *c, int operand, int64_t start)
{
	return (uint32_t *)(uintptr_t)(c->base + c->plan->operands[operand].flags_base) +
	       start / SB_PLAN_FLAGGED;
}

/* The flags that begin with the step, as `value`. */
static enum sb_status set_flags(struct sb_carry *c, const struct sb_step *step, unsigned value)
{
	int64_t count = sb_ceil_div(step->flagged, SB_PLAN_FLAGGED);

	if (!count)
		return SB_OK;
	return sb_device_check(
		c->device,
		c->device->cu->set_words(
			(sb_cu_deviceptr)(uintptr_t)flags_at(c, step->operand, step->start), value,
			(size_t)count, c->device->streams[step->stream]),
		"setting flags");
}

/* Planes are as deep as the product that reads them: the last run is shorter. */
static int64_t padded_depth(const struct sb_carry *c, const struct sb_step *step)
{
	return sb_round_up(step->depth, c->plan->tile_k);
}

/* Where a row's planes and exponents are, in a slot that begins at `base`. */
static uint16_t *planes_at(const struct sb_carry *c, const struct sb_step *step, size_t base,
			   int64_t row)
{
	return (uint16_t *)(uintptr_t)(c->base + base) + 2 * row * padded_depth(c, step);
}

static int32_t *exponents_at(const struct sb_carry *c, int operand, size_t base, int64_t row)
{
	return (int32_t *)(uintptr_t)(c->base + base + c->plan->operands[operand].planes_bytes) +
	       row;
}

enum sb_status sb_carry_split_to(struct sb_carry *c, const struct sb_step *step, size_t parts,
				 struct sb_split_args *args)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	enum sb_status status = set_flags(c, step, 0);

	args->planes = planes_at(c, step, parts, step->into);
	args->exponents = exponents_at(c, step->operand, parts, step->into);
	args->flags = flags_at(c, step->operand, step->start);
	args->ld = o->stride_k;
	args->exponents_ld = o->padded;
	args->extent = (int32_t)step->count;
	args->depth = (int32_t)step->depth;
	args->padded_extent = (int32_t)step->padded;
	args->padded_depth = (int32_t)padded_depth(c, step);
	args->middle = (int32_t)(step->start % SB_PLAN_FLAGGED);
	return status == SB_OK ? sb_launch_split(c->device, args, step->stream) : status;
}

enum sb_status sb_carry_split(struct sb_carry *c, const struct sb_step *step)
{
	struct sb_split_args args = {
		.from = (const float *)(uintptr_t)(c->base + step->from),
		.from_i = 1,
		.from_k = c->plan->operands[step->operand].stride_k,
	};

	return sb_carry_split_to(c, step, step->to, &args);
}

/* Where K is cut, what of a panel is not held is found before anything is multiplied. */
enum sb_status sb_carry_flag(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	struct sb_split_args args = {
		.from = (const float *)(uintptr_t)(c->base + step->from),
		.flags = flags_at(c, step->operand, step->start),
		.from_i = 1,
		.from_k = o->stride_k,
		.ld = o->stride_k,
		.exponents_ld = o->padded,
		.extent = (int32_t)step->count,
		.depth = (int32_t)step->depth,
		.padded_extent = (int32_t)step->padded,
		.padded_depth = (int32_t)sb_round_up(step->depth, SB_PLAN_PIECE),
	};
	enum sb_status status = set_flags(c, step, SB_NOT_FP16);

	return status == SB_OK && step->run ? sb_launch_split(c->device, &args, step->stream)
					    : status;
}

void sb_carry_add_parts(const struct sb_carry *c, const struct sb_step *step,
			struct sb_gemm_args *args)
{
	const struct sb_plan_operand *a = &c->plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *b = &c->plan->operands[SB_OPERAND_B];
	size_t at_a = a->split_base + (size_t)step->slots[SB_OPERAND_A] * a->split_bytes;
	size_t at_b = b->split_base + (size_t)step->slots[SB_OPERAND_B] * b->split_bytes;
	int64_t row = c->plan->whole ? step->i0 : 0, column = c->plan->whole ? step->j0 : 0;

	args->flags_a = flags_at(c, SB_OPERAND_A, step->i0);
	args->flags_b = flags_at(c, SB_OPERAND_B, step->j0);
	if (!c->plan->split)
		return;
	args->planes_a = planes_at(c, step, at_a, row);
	args->planes_b = planes_at(c, step, at_b, column);
	args->exponents_a = exponents_at(c, SB_OPERAND_A, at_a, row);
	args->exponents_b = exponents_at(c, SB_OPERAND_B, at_b, column);
	args->exponents_a_ld = a->padded;
	args->exponents_b_ld = b->padded;
}
