/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

#include "arena.h"
#include "carry.h"
#include "launch.h"
#include "plan.h"
#include "registry.h"
#include "settings.h"
#include "staged.h"
#include "trace.h"
#include "transfer.h"

struct work {
	const struct sb_call *call;
	struct sb_carry carry;
	struct sb_plan plan;
	enum sb_place places[3];
	sb_finish *finish;
	void *context;
};

static bool lies(const struct work *w, enum sb_place place)
{
	return w->places[0] == place || w->places[1] == place || w->places[2] == place;
}

static bool on_device(const struct work *w)
{
	return lies(w, SB_PLACE_DEVICE) || lies(w, SB_PLACE_ELSEWHERE);
}

/* Of a matrix of lines that begin `ld` apart; a quick return may have an empty one. */
static size_t span(int64_t width, int64_t lines, int64_t ld)
{
	return width && lines ? (size_t)((lines - 1) * ld + width) * sizeof(float) : 1;
}

static void look_at_operands(struct work *w, struct sb_device *device)
{
	const struct sb_call *call = w->call;
	bool a = call->trans_a, b = call->trans_b;

	w->places[0] = sb_device_place(
		device, call->a, span(a ? call->k : call->m, a ? call->m : call->k, call->lda));
	w->places[1] = sb_device_place(
		device, call->b, span(b ? call->n : call->k, b ? call->k : call->n, call->ldb));
	w->places[2] = sb_device_place(device, call->c, span(call->m, call->n, call->ldc));
}

/* Makes a plan that fits and takes its region; a failed allocation asks for half as much. */
static enum sb_status plan_and_take(struct work *w, struct sb_device *device,
				    const struct sb_kernel *kernel)
{
	struct sb_plan_wish wish = {
		.m = w->call->m,
		.n = w->call->n,
		.k = w->call->k,
		.trans_a = w->call->trans_a,
		.trans_b = w->call->trans_b,
		.place_a = w->places[0],
		.place_b = w->places[1],
		.place_c = w->places[2],
		.kernel = kernel,
		.device_bytes = device->memory,
		.panels = (int)sb_settings()->panels,
	};
	enum sb_status status = sb_plan_make(&w->plan, &wish);

	/* What we hold already needs no look at what is free. */
	if (status == SB_OK && w->plan.device_bytes > sb_arena_held(device)) {
		size_t bound = sb_arena_bound(device);

		if (w->plan.device_bytes > bound) {
			sb_plan_free(&w->plan);
			wish.device_bytes = bound;
			status = sb_plan_make(&w->plan, &wish);
		}
	}
	while (status == SB_OK) {
		status = w->plan.device_bytes
				 ? sb_arena_take(device, w->plan.device_bytes, &w->carry.base)
				 : SB_OK;
		if (status == SB_OK)
			return SB_OK;
		wish.device_bytes = w->plan.device_bytes / 2;
		sb_plan_free(&w->plan);
		if (status == SB_NO_MEMORY)
			status = sb_plan_make(&w->plan, &wish);
	}
	return status;
}

static enum sb_status try_kernel(struct work *w, struct sb_device *device,
				 const struct sb_kernel *kernel)
{
	enum sb_status status = sb_launch_prepare(device, kernel);

	if (status == SB_DECLINE)
		return SB_NO_IMAGE;
	if (status == SB_OK)
		status = plan_and_take(w, device, kernel);
	if (status != SB_OK)
		return status;
	w->carry.kernel = kernel;
	/*
	 * Never by DMA into the caller's C, pinned or not: a device that is given up with such a
	 * copy on its way may wake and make it after the CPU has answered and the program has
	 * gone on, over whatever lies there then. Nothing can call a copy back.
	 */
	w->carry.direct = false;
	w->carry.fresh = w->places[2] == SB_PLACE_PAGEABLE && w->call->beta == 0;
	status = sb_carry_out(&w->carry);
	if (status != SB_LOST)
		sb_arena_give(device);
	return status;
}

/* The pieces of C that were not written, as calls of their own. */
static void finish_block(void *context, int64_t i0, int64_t j0, int64_t m, int64_t n)
{
	const struct work *w = context;
	struct sb_call block = *w->call;
	const float *a = block.a, *b = block.b;

	block.m = m;
	block.n = n;
	block.a = a + (block.trans_a ? i0 * block.lda : i0);
	block.b = b + (block.trans_b ? j0 : j0 * block.ldb);
	block.c = (float *)block.c + i0 + j0 * block.ldc;
	w->finish(w->context, &block);
}

/* A block with operands on the device: the CPU gets copies of them. */
struct stage {
	struct work *work;
	enum sb_status status;
};

static void stage_call(struct stage *stage, const struct sb_call *block)
{
	struct work *w = stage->work;

	if (stage->status == SB_OK)
		stage->status = sb_staged_run(w->carry.device, block, w->places, w->finish,
					      w->context, w->carry.patience);
}

static void stage_finish(void *context, const struct sb_call *block)
{
	stage_call(context, block);
}

static void stage_block(void *context, int64_t i0, int64_t j0, int64_t m, int64_t n)
{
	struct stage *stage = context;
	struct work cut = *stage->work;

	cut.finish = stage_finish;
	cut.context = stage;
	finish_block(&cut, i0, j0, m, n);
}

/* The CPU answers, with copies of what lies on a device; for want of the ring it cannot. */
static enum sb_status stage(struct work *w)
{
	struct stage stage = {.work = w, .status = SB_OK};

	if (sb_carry_begun(&w->carry))
		sb_carry_rest(&w->carry, stage_block, &stage);
	else
		stage_call(&stage, w->call);
	return stage.status;
}

static enum sb_status work_on_device(struct work *w, struct sb_device *device)
{
	const struct sb_call *call = w->call;
	const struct sb_target target = sb_launch_target(device);
	const struct sb_kernel *kernel = sb_registry_choose(call->m, call->n, call->k, &target);
	enum sb_status status = sb_ring_prepare(device);

	if (status != SB_OK)
		return status;
	w->carry.places[0] = w->places[0];
	w->carry.places[1] = w->places[1];
	status = try_kernel(w, device, kernel);
	/* The plain kernel has the smallest tile and the fewest demands. */
	if (status != SB_OK && status != SB_LOST && kernel != sb_registry_plain() &&
	    !sb_carry_begun(&w->carry)) {
		sb_plan_free(&w->plan);
		status = try_kernel(w, device, sb_registry_plain());
	}
	return status;
}

static enum sb_status visit_device(struct work *w, struct sb_device *device)
{
	struct sb_visit visit;
	enum sb_status status;

	if (!sb_device_take(device, w->carry.patience))
		return SB_BUSY;
	/* Whoever had it may have lost it. */
	status = sb_device() ? sb_device_enter(device, &visit) : SB_LOST;
	if (status == SB_OK) {
		status = work_on_device(w, device);
		sb_device_leave(device, &visit);
	}
	sb_device_give(device);
	return status;
}

/* Answers the call by whoever can; nothing is held while the CPU works. */
static enum sb_status answer(struct work *w, struct sb_device *device, struct sb_decision *decision)
{
	bool for_cpu = decision->on_device && decision->side == SB_CPU;
	enum sb_status status = SB_DECLINE;

	look_at_operands(w, device);
	/* A device lost already does not say what lies on it; who asked may have seen. */
	if (!sb_device())
		return SB_LOST;
	decision->on_device = on_device(w);
	if (!for_cpu && !lies(w, SB_PLACE_ELSEWHERE))
		status = visit_device(w, device);
	if (w->carry.kernel)
		decision->kernel = w->carry.kernel->name;
	if (status != SB_OK && status != SB_LOST && decision->on_device) {
		if (!for_cpu)
			*decision = sb_route_after(*decision, status);
		return stage(w);
	}
	if (status != SB_OK && !decision->on_device && sb_carry_begun(&w->carry)) {
		sb_carry_rest(&w->carry, finish_block, w);
		return SB_OK;
	}
	return status;
}

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct sb_device *device = sb_device();
	struct work w = {.call = call, .finish = finish, .context = context};
	enum sb_status status;
	enum sb_reason why;

	if (device) {
		w.carry = (struct sb_carry){
			.device = device,
			.call = call,
			.plan = &w.plan,
			.patience = sb_device_patience(decision->gpu_seconds),
		};
		status = answer(&w, device, decision);
		sb_plan_free(&w.plan);
	} else {
		status = sb_device_health(&why) == SB_HEALTH_LOST ? SB_LOST : SB_NO_DEVICE;
	}
	if (status != SB_OK && decision->on_device)
		sb_trace_once(&said,
			      "operands lie on a device that is out of reach (%s); "
			      "such products are left undone",
			      sb_status_word(status));
	return status;
}
