/* SPDX-License-Identifier: BSD-3-Clause */
#include "carry_steps.h"

#include "carry_parts.h"
#include "element.h"
#include "launch.h"
#include "plan_shape.h"
#include "timeline.h"
#include "transfer.h"
#include "whole.h"

/* One of A and B as the caller holds it: op(X)(i, k) = base[i * mn + k * k]. */
struct source {
	const float *base;
	int64_t mn, k, ld;
};

static struct source source_of(const struct sb_call *call, int operand)
{
	bool is_a = operand == SB_OPERAND_A;
	int64_t ld = is_a ? call->lda : call->ldb;
	bool k_slow = is_a ? !call->trans_a : call->trans_b;

	return (struct source){
		.base = is_a ? call->a : call->b,
		.mn = k_slow ? 1 : ld,
		.k = k_slow ? ld : 1,
		.ld = ld,
	};
}

static enum sb_status clear(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];

	return sb_device_check(c->device,
			       c->device->cu->set_words(c->base + step->to, 0,
							o->slot_bytes / sizeof(float),
							c->device->streams[step->stream]),
			       "clearing a panel");
}

/* Done by degrees: the last chunk to be queued marks the step as queued. */
static enum sb_status up(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	struct source s = source_of(c->call, step->operand);
	size_t k = (size_t)step->depth, count = (size_t)step->count;
	int64_t pitch = o->way == SB_WAY_RAW ? c->plan->raw_pitch[step->operand]
			: o->k_slow	     ? o->stride_k
					     : o->stride_mn;
	struct sb_lines lines = {
		.host = (void *)(s.base + step->start * s.mn + step->k0 * s.k),
		.host_pitch = (size_t)s.ld * sizeof(float),
		.device = c->base + step->to,
		.device_pitch = (size_t)pitch * sizeof(float),
		.width = (o->k_slow ? count : k) * sizeof(float),
		.height = o->k_slow ? k : count,
	};

	if (c->places[step->operand] == SB_PLACE_PINNED && sb_transfer_direct(&lines))
		return sb_ring_copy(c->device, &lines, true, NULL);
	c->state->upload = (struct sb_upload){
		.lines = lines,
		.after = step->event >= 0 ? c->device->events[step->event] : NULL,
		.queued = &c->state->queued[step - c->plan->steps],
		.step = sb_timeline_current(),
	};
	c->state->feeding = true;
	return SB_OK;
}

static enum sb_status pack(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	struct source s = source_of(c->call, step->operand);
	bool raw = o->way == SB_WAY_RAW;
	struct sb_pack_args args = {
		.from = raw ? (const float *)(uintptr_t)(c->base + step->from)
			    : s.base + step->start * s.mn + step->k0 * s.k,
		.to = (float *)(uintptr_t)(c->base + step->to) + step->into,
		.from_i = raw ? c->plan->raw_pitch[step->operand] : s.mn,
		.from_k = raw ? 1 : s.k,
		.ld = o->stride_k,
		.extent = (int32_t)step->count,
		.depth = (int32_t)step->depth,
		.padded_extent = (int32_t)step->padded,
		.padded_depth = (int32_t)sb_round_up(step->depth, c->plan->tile_k),
	};
	struct sb_split_args parts = {
		.from = args.from,
		.panel = args.to,
		.from_i = args.from_i,
		.from_k = args.from_k,
	};

	return c->plan->split ? sb_carry_split_to(c, step, step->parts, &parts)
			      : sb_launch_pack(c->device, &args, step->stream);
}

/* From the same place of another device, in the form in which the kernel reads it. */
static enum sb_status peer(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	bool k_slow = o->stride_mn == 1;
	int64_t depth = o->way == SB_WAY_LANDED ? c->call->k : o->padded_k;
	size_t pitch = (size_t)(k_slow ? o->stride_k : o->stride_mn) * sizeof(float);
	size_t height = (size_t)(k_slow ? depth : step->count);
	struct sb_cu_memcpy2d copy = {
		.src_type = SB_CU_MEMORY_DEVICE,
		.src_device = c->all[step->peer].base + step->from,
		.src_pitch = pitch,
		.dst_type = SB_CU_MEMORY_DEVICE,
		.dst_device = c->base + step->to,
		.dst_pitch = pitch,
		.width_bytes = (size_t)(k_slow ? step->padded : depth) * sizeof(float),
		/* A pitch beyond the engine's limit is no matter between the lines of one. */
		.height = pitch < SB_TRANSFER_PITCH ? height : 1,
	};
	enum sb_status status = SB_OK;

	if (copy.height == 1)
		copy.src_pitch = copy.dst_pitch = copy.width_bytes;
	for (size_t i = 0; status == SB_OK && i < height; i += copy.height) {
		status = sb_device_check(
			c->device, c->device->cu->copy_2d(&copy, c->device->streams[step->stream]),
			"a copy between devices");
		copy.src_device += copy.height * pitch;
		copy.dst_device += copy.height * pitch;
	}
	return status;
}

static const float *operand_at(struct sb_carry *c, int operand, size_t slot, int64_t start,
			       int64_t k0, int64_t *stride_mn, int64_t *stride_k)
{
	const struct sb_plan_operand *o = &c->plan->operands[operand];
	struct source s = source_of(c->call, operand);

	if (o->way == SB_WAY_IN_PLACE) {
		*stride_mn = s.mn;
		*stride_k = s.k;
		return s.base + start * s.mn + k0 * s.k;
	}
	*stride_mn = o->stride_mn;
	*stride_k = o->stride_k;
	return (const float *)(uintptr_t)(c->base + slot);
}

/* A block has fewer tiles than the whole: smaller ones may keep more multiprocessors busy. */
static const struct sb_kernel *kernel_for(const struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_target target = sb_launch_target(c->device);
	const struct sb_kernel *alike;

	if (c->tiers)
		return sb_registry_tiers_launch(c->tiers, step->m, step->n, step->depth,
						target.multiprocessors)
			.kernels[0];
	alike = sb_registry_alike(c->kernel, step->m, step->n, step->depth, &target);
	return sb_launch_prepare(c->device, alike) == SB_OK ? alike : c->kernel;
}

static enum sb_status gemm(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_call *call = c->call;
	bool in_place = c->plan->buffers == 0;
	bool last = step->k0 + step->depth == call->k;
	struct sb_gemm_args args = {
		.c = in_place ? (float *)call->c + step->i0 + step->j0 * call->ldc
			      : (float *)(uintptr_t)(c->base + step->to),
		.ldc = in_place		  ? call->ldc
		       : c->plan->settles ? step->m
					  : c->plan->buffer_ld,
		.m = (int32_t)step->m,
		.n = (int32_t)step->n,
		.k = (int32_t)step->depth,
		.alpha = last && !c->plan->settles ? call->alpha : 1,
		/* Else beta is applied on the way out, so that C need not come up. */
		.beta = in_place ? call->beta : 0,
		.resume = step->k0 > 0,
	};

	if (c->plan->work_bytes)
		args.work =
			(float *)(uintptr_t)(c->base + c->plan->work_base[step->stream ==
									  SB_STREAM_COMPUTE_TOO]);
	if (c->tiers)
		sb_carry_add_parts(c, step, &args);
	args.a = operand_at(c, SB_OPERAND_A, step->a, step->i0, step->k0, &args.a_m, &args.a_k);
	args.b = operand_at(c, SB_OPERAND_B, step->b, step->j0, step->k0, &args.b_n, &args.b_k);
	return c->tiers ? sb_launch_tiers(c->device, c->tiers, &args, step->stream)
			: sb_launch_gemm(c->device, kernel_for(c, step), &args, step->stream);
}

static void commit(void *context, const struct sb_chunk *piece, const void *from, size_t pitch)
{
	const struct sb_carry_home *home = context;
	const struct sb_call *call = home->carry->call;
	const struct sb_step *step = &home->carry->plan->steps[home->step];
	float *to = (float *)call->c + step->i0 + (int64_t)(piece->start / sizeof(float)) +
		    (step->j0 + (int64_t)piece->line) * call->ldc;

	sb_element(call->type)
		->commit(to, call->ldc, from, (int64_t)(pitch / sizeof(float)),
			 (int64_t)(piece->width / sizeof(float)), (int64_t)piece->height,
			 (double)call->beta);
}

/* A finished block is added to C on the device, where no gaps are between its columns. */
static enum sb_status settle(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_call *call = c->call;
	struct sb_gemm_args args = {
		.c = (float *)call->c + step->i0 + step->j0 * call->ldc,
		.ldc = call->ldc,
		.m = (int32_t)step->m,
		.n = (int32_t)step->n,
		.k = 1,
		.alpha = call->alpha,
		.beta = call->beta,
		.work = (float *)(uintptr_t)(c->base + step->from),
		.work_i = 1,
		.work_j = step->m,
	};

	return sb_launch_sum(c->device, &args, step->stream);
}

/* Done by degrees, as an upload is. */
static enum sb_status down(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_call *call = c->call;
	struct sb_carry_state *state = c->state;
	struct sb_carry_home *home = &state->homes[state->last % SB_CARRY_HOMES];
	struct sb_lines lines = {
		.host = (float *)call->c + step->i0 + step->j0 * call->ldc,
		.host_pitch = (size_t)call->ldc * sizeof(float),
		.device = c->base + step->from,
		.device_pitch = (size_t)c->plan->buffer_ld * sizeof(float),
		.width = (size_t)step->m * sizeof(float),
		.height = (size_t)step->n,
	};

	if (c->plan->settles)
		return settle(c, step);
	if (c->direct)
		return sb_ring_copy(c->device, &lines, false, NULL);
	*home = (struct sb_carry_home){
		.download = {.lines = lines,
			     .after = step->event >= 0 ? c->device->events[step->event] : NULL,
			     .queued = &state->queued[step - c->plan->steps],
			     .commit = commit,
			     .context = home,
			     .step = sb_timeline_current()},
		.carry = c,
		.step = (int)(step - c->plan->steps),
	};
	state->last++;
	state->fetching = true;
	return SB_OK;
}

static enum sb_status (*const verbs[])(struct sb_carry *, const struct sb_step *) = {
	[SB_STEP_CLEAR] = clear,
	[SB_STEP_UP] = up,
	[SB_STEP_PACK] = pack,
	[SB_STEP_PEER] = peer,
	[SB_STEP_SPLIT] = sb_carry_split,
	[SB_STEP_FLAG] = sb_carry_flag,
	[SB_STEP_GEMM] = gemm,
	[SB_STEP_DOWN] = down,
};

/* The one that has the panel which the step fetches. */
static const struct sb_carry *owner(const struct sb_carry *c, const struct sb_step *step)
{
	return &c->all[step->peer];
}

bool sb_carry_needs_queued(const struct sb_carry *c, const struct sb_step *step)
{
	for (int i = 0; i < SB_STEP_NEEDS && step->needs[i] >= 0; i++)
		if (!c->state->queued[step->needs[i]])
			return false;
	return step->kind != SB_STEP_PEER || owner(c, step)->state->queued[step->there];
}

/* Makes the step's stream wait for an earlier step of this or of another device. */
static enum sb_status await_step(struct sb_carry *c, const struct sb_step *step,
				 const struct sb_carry *other, int earlier)
{
	struct sb_device *device = c->device;
	sb_cu_event event = other->device->events[other->plan->steps[earlier].event];

	return sb_device_check(
		device, device->cu->stream_wait_event(device->streams[step->stream], event, 0),
		"making a stream wait");
}

static enum sb_status await_needs(struct sb_carry *c, const struct sb_step *step)
{
	enum sb_status status = SB_OK;

	for (int i = 0; status == SB_OK && i < SB_STEP_NEEDS && step->needs[i] >= 0; i++)
		if (c->plan->steps[step->needs[i]].stream != step->stream)
			status = await_step(c, step, c, step->needs[i]);
	if (status == SB_OK && step->kind == SB_STEP_PEER)
		status = await_step(c, step, owner(c, step), step->there);
	return status;
}

/* Tells the call's timeline what is about to be queued. */
static void tell(const struct sb_carry *c, const struct sb_step *step)
{
	bool gemm = step->kind == SB_STEP_GEMM;
	/* A block that is settled on the device is not copied. */
	bool copies = step->kind == SB_STEP_UP || (step->kind == SB_STEP_DOWN && !c->plan->settles);
	char name[64];

	sb_plan_line(step, name, sizeof name);
	sb_timeline_step(c->device, step->stream, name, gemm ? kernel_for(c, step)->name : NULL,
			 gemm ? 2.0 * (double)step->m * (double)step->n * (double)step->depth : 0,
			 copies);
}

enum sb_status sb_carry_begin(struct sb_carry *c, int index)
{
	struct sb_device *device = c->device;
	const struct sb_step *step = &c->plan->steps[index];
	bool *queued = &c->state->queued[index];
	enum sb_status status = await_needs(c, step);

	if (sb_timeline_here)
		tell(c, step);
	if (status == SB_OK)
		status = verbs[step->kind](c, step);
	if (sb_timeline_here)
		sb_timeline_step_queued(c->device);
	/* On the device C is written from here on, whether its end can be announced or not. */
	if (sb_carry_on_device(c->plan) && sb_carry_writes(c, step) && status == SB_OK)
		c->step = index + 1;
	if (status != SB_OK || (step->stream == SB_STREAM_UP && c->state->feeding) ||
	    (step->stream == SB_STREAM_DOWN && c->state->fetching))
		return status;
	if (step->event >= 0)
		status = sb_device_check(device,
					 device->cu->event_record(device->events[step->event],
								  device->streams[step->stream]),
					 "recording an event");
	*queued = status == SB_OK;
	return status;
}
