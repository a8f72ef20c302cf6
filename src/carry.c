/* SPDX-License-Identifier: BSD-3-Clause */
#include "carry.h"

#include "element.h"
#include "launch.h"
#include "trace.h"
#include "transfer.h"

/* The executor's own events come after those that plans name. */
#define DRAIN_EVENT(stream) (SB_DEVICE_EVENTS - 1 - (stream))

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

static enum sb_status up(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	struct source s = source_of(c->call, step->operand);
	size_t k = (size_t)c->call->k, count = (size_t)step->count;
	int64_t pitch = o->way == SB_WAY_RAW ? c->plan->raw_pitch[step->operand]
			: o->k_slow	     ? o->stride_k
					     : o->stride_mn;
	struct sb_lines lines = {
		.host = (void *)(s.base + step->start * s.mn),
		.host_pitch = (size_t)s.ld * sizeof(float),
		.device = c->base + step->to,
		.device_pitch = (size_t)pitch * sizeof(float),
		.width = (o->k_slow ? count : k) * sizeof(float),
		.height = o->k_slow ? k : count,
	};

	return sb_transfer_up(c->device, &lines, c->places[step->operand] == SB_PLACE_PINNED,
			      c->patience);
}

static enum sb_status pack(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_plan_operand *o = &c->plan->operands[step->operand];
	struct source s = source_of(c->call, step->operand);
	bool raw = o->way == SB_WAY_RAW;
	struct sb_pack_args args = {
		.from = raw ? (const float *)(uintptr_t)(c->base + step->from)
			    : s.base + step->start * s.mn,
		.to = (float *)(uintptr_t)(c->base + step->to) + step->into,
		.from_i = raw ? c->plan->raw_pitch[step->operand] : s.mn,
		.from_k = raw ? 1 : s.k,
		.ld = o->stride_k,
		.extent = (int32_t)step->count,
		.depth = (int32_t)c->call->k,
		.padded_extent = (int32_t)step->padded,
		.padded_depth = (int32_t)o->padded_k,
	};

	return sb_launch_pack(c->device, &args, step->stream);
}

static const float *operand_at(struct sb_carry *c, int operand, size_t slot, int64_t start,
			       int64_t *stride_mn, int64_t *stride_k)
{
	const struct sb_plan_operand *o = &c->plan->operands[operand];
	struct source s = source_of(c->call, operand);

	if (o->way == SB_WAY_IN_PLACE) {
		*stride_mn = s.mn;
		*stride_k = s.k;
		return s.base + start * s.mn;
	}
	*stride_mn = o->stride_mn;
	*stride_k = o->stride_k;
	return (const float *)(uintptr_t)(c->base + slot);
}

static enum sb_status gemm(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_call *call = c->call;
	bool in_place = c->plan->buffers == 0;
	struct sb_gemm_args args = {
		.c = in_place ? (float *)call->c + step->i0 + step->j0 * call->ldc
			      : (float *)(uintptr_t)(c->base + step->to),
		.ldc = in_place ? call->ldc : c->plan->buffer_ld,
		.m = (int32_t)step->m,
		.n = (int32_t)step->n,
		.k = (int32_t)call->k,
		.alpha = call->alpha,
		/* Else beta is applied on the way out, so that C need not come up. */
		.beta = in_place ? call->beta : 0,
	};

	args.a = operand_at(c, SB_OPERAND_A, step->a, step->i0, &args.a_m, &args.a_k);
	args.b = operand_at(c, SB_OPERAND_B, step->b, step->j0, &args.b_n, &args.b_k);
	return sb_launch_gemm(c->device, c->kernel, &args, step->stream);
}

/* What a commit needs to know. */
struct landing {
	struct sb_carry *carry;
	const struct sb_step *step;
};

static void commit(void *context, const struct sb_chunk *chunk, const void *from, size_t pitch)
{
	const struct landing *landing = context;
	struct sb_carry *c = landing->carry;
	const struct sb_call *call = c->call;
	int64_t row = (int64_t)(chunk->start / sizeof(float));
	int64_t rows = (int64_t)(chunk->width / sizeof(float));
	float *to = (float *)call->c + landing->step->i0 + row +
		    (landing->step->j0 + (int64_t)chunk->line) * call->ldc;

	sb_element(call->type)
		->commit(to, call->ldc, from, (int64_t)(pitch / sizeof(float)), rows,
			 (int64_t)chunk->height, (double)call->beta);
	c->rows = row + rows;
	c->columns = (int64_t)chunk->line;
	if (c->rows == landing->step->m) {
		c->columns += (int64_t)chunk->height;
		c->rows = 0;
	}
}

static enum sb_status down(struct sb_carry *c, const struct sb_step *step)
{
	const struct sb_call *call = c->call;
	struct landing landing = {.carry = c, .step = step};
	struct sb_lines lines = {
		.host = (float *)call->c + step->i0 + step->j0 * call->ldc,
		.host_pitch = (size_t)call->ldc * sizeof(float),
		.device = c->base + step->from,
		.device_pitch = (size_t)c->plan->buffer_ld * sizeof(float),
		.width = (size_t)step->m * sizeof(float),
		.height = (size_t)step->n,
	};

	if (c->direct)
		return sb_transfer_down_direct(c->device, &lines);
	return sb_transfer_down(c->device, &lines, commit, &landing, c->patience);
}

static enum sb_status (*const verbs[])(struct sb_carry *, const struct sb_step *) = {
	[SB_STEP_CLEAR] = clear, [SB_STEP_UP] = up,	[SB_STEP_PACK] = pack,
	[SB_STEP_GEMM] = gemm,	 [SB_STEP_DOWN] = down,
};

static enum sb_status await_needs(struct sb_carry *c, const struct sb_step *step)
{
	struct sb_device *device = c->device;
	enum sb_status status = SB_OK;

	for (int i = 0; status == SB_OK && i < SB_STEP_NEEDS && step->needs[i] >= 0; i++) {
		const struct sb_step *earlier = &c->plan->steps[step->needs[i]];

		if (earlier->stream == step->stream)
			continue;
		status = sb_device_check(
			device,
			device->cu->stream_wait_event(device->streams[step->stream],
						      device->events[earlier->event], 0),
			"making a stream wait");
	}
	return status;
}

enum sb_status sb_carry_await_program(struct sb_device *device, enum sb_stream stream)
{
	sb_cu_event event = device->events[DRAIN_EVENT(0)];
	enum sb_status status = sb_device_check(device, device->cu->event_record(event, NULL),
						"recording an event");

	if (status == SB_OK)
		status = sb_device_check(
			device, device->cu->stream_wait_event(device->streams[stream], event, 0),
			"making a stream wait");
	return status;
}

/* Is this the kind of step after which a block of C is written? */
static bool writes(const struct sb_carry *c, const struct sb_step *step)
{
	return step->kind == (c->plan->buffers ? SB_STEP_DOWN : SB_STEP_GEMM);
}

static enum sb_status walk(struct sb_carry *c)
{
	struct sb_device *device = c->device;
	enum sb_status status = SB_OK;

	for (int i = 0; i < c->plan->count; i++) {
		const struct sb_step *step = &c->plan->steps[i];

		if (sb_trace_wanted(2)) {
			char text[160];

			sb_plan_line(step, text, sizeof text);
			sb_trace_line(2, "step %d: %s", i, text);
		}
		status = await_needs(c, step);
		if (status == SB_OK)
			status = verbs[step->kind](c, step);
		if (status == SB_OK && writes(c, step)) {
			c->step = i + 1;
			c->columns = c->rows = 0;
		}
		if (status == SB_OK && step->event >= 0)
			status = sb_device_check(
				device,
				device->cu->event_record(device->events[step->event],
							 device->streams[step->stream]),
				"recording an event");
		if (status != SB_OK)
			break;
	}
	return status;
}

enum sb_status sb_carry_drain(struct sb_device *device, double patience)
{
	enum sb_status status = SB_OK;

	for (int i = 0; status == SB_OK && i < SB_STREAMS; i++)
		status = sb_device_check(device,
					 device->cu->event_record(device->events[DRAIN_EVENT(i)],
								  device->streams[i]),
					 "recording an event");
	for (int i = 0; status == SB_OK && i < SB_STREAMS; i++)
		status = sb_device_wait(device, device->events[DRAIN_EVENT(i)], patience);
	/* Work whose end cannot be waited for may never end: its memory is not to be used again. */
	if (status != SB_OK && status != SB_LOST)
		status = sb_device_lose(device, "its work cannot be waited for");
	return status;
}

enum sb_status sb_carry_out(struct sb_carry *c)
{
	enum sb_status status = SB_OK, drained;

	c->step = 0;
	c->columns = c->rows = 0;
	if (c->places[SB_OPERAND_A] == SB_PLACE_DEVICE ||
	    c->places[SB_OPERAND_B] == SB_PLACE_DEVICE || c->plan->buffers == 0)
		status = sb_carry_await_program(c->device, SB_STREAM_COMPUTE);
	if (status == SB_OK)
		status = walk(c);
	if (status != SB_LOST) {
		drained = sb_carry_drain(c->device, c->patience);
		if (drained != SB_OK)
			status = drained;
	}
	/* All that came through the ring is there, even if the device died afterwards. */
	if (c->step == c->plan->count && c->plan->buffers && !c->direct)
		return SB_OK;
	if (status != SB_OK && c->direct)
		c->step = 0;
	return status;
}

bool sb_carry_begun(const struct sb_carry *c)
{
	if (c->columns || c->rows)
		return true;
	for (int i = 0; i < c->step; i++)
		if (writes(c, &c->plan->steps[i]))
			return true;
	return false;
}

void sb_carry_rest(const struct sb_carry *c, sb_carry_block *rest, void *context)
{
	int64_t columns = c->columns, rows = c->rows;

	for (int i = c->step; i < c->plan->count; i++) {
		const struct sb_step *s = &c->plan->steps[i];

		if (!writes(c, s))
			continue;
		if (rows) {
			rest(context, s->i0 + rows, s->j0 + columns, s->m - rows, 1);
			columns++;
		}
		if (columns < s->n)
			rest(context, s->i0, s->j0 + columns, s->m, s->n - columns);
		columns = rows = 0;
	}
}
