/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

#include "arena.h"
#include "carry.h"
#include "launch.h"
#include "plan.h"
#include "registry.h"
#include "settings.h"
#include "staged.h"
#include "transfer.h"

struct work {
	const struct sb_call *call;
	struct sb_carry carry;
	struct sb_plan plan;
	enum sb_place places[3];
	sb_finish *finish;
	void *context;
};

static bool on_device(const struct work *w)
{
	return w->places[0] == SB_PLACE_DEVICE || w->places[1] == SB_PLACE_DEVICE ||
	       w->places[2] == SB_PLACE_DEVICE;
}

static enum sb_status look_at_operands(struct work *w, struct sb_device *device)
{
	const struct sb_call *call = w->call;

	w->places[0] = sb_device_place(device, call->a, sb_call_bytes_a(call));
	w->places[1] = sb_device_place(device, call->b, sb_call_bytes_b(call));
	w->places[2] = sb_device_place(device, call->c, sb_call_bytes_c(call));
	for (int i = 0; i < 3; i++)
		if (w->places[i] == SB_PLACE_ELSEWHERE)
			return SB_DECLINE;
	return SB_OK;
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

	if (status == SB_OK)
		status = plan_and_take(w, device, kernel);
	if (status != SB_OK)
		return status;
	w->carry.kernel = kernel;
	w->carry.direct = w->places[2] == SB_PLACE_PINNED && w->call->beta == 0 &&
			  (size_t)w->call->ldc * sizeof(float) < SB_TRANSFER_PITCH;
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

static enum sb_status work_on_device(struct work *w, struct sb_device *device)
{
	const struct sb_call *call = w->call;
	bool maps = device->cu->tensor_map != NULL;
	const struct sb_kernel *kernel =
		sb_registry_choose(call->m, call->n, call->k, device->arch, maps);
	enum sb_status status = look_at_operands(w, device);

	if (status == SB_OK)
		status = sb_ring_prepare(device);
	if (status != SB_OK)
		return status;
	w->carry.places[0] = w->places[0];
	w->carry.places[1] = w->places[1];
	status = try_kernel(w, device, kernel);
	/* The plain kernel has the smallest tile and the fewest demands. */
	if ((status == SB_NO_MEMORY || status == SB_DECLINE) && kernel != sb_registry_plain() &&
	    !sb_carry_begun(&w->carry)) {
		sb_plan_free(&w->plan);
		status = try_kernel(w, device, sb_registry_plain());
	}
	if (status != SB_OK && status != SB_LOST && on_device(w)) {
		struct stage stage = {.work = w, .status = SB_OK};

		/* Only here can the CPU be given what lies on the device. */
		if (sb_carry_begun(&w->carry))
			sb_carry_rest(&w->carry, stage_block, &stage);
		else
			stage_call(&stage, call);
		status = stage.status;
	}
	return status;
}

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	struct sb_device *device = sb_device();
	struct work w = {.call = call, .finish = finish, .context = context};
	struct sb_visit visit;
	enum sb_status status;
	enum sb_reason why;

	if (!device)
		return sb_device_health(&why) == SB_HEALTH_LOST ? SB_LOST : SB_NO_DEVICE;
	w.carry = (struct sb_carry){
		.device = device,
		.call = call,
		.plan = &w.plan,
		.patience = sb_device_patience(decision->gpu_seconds),
	};
	if (!sb_device_take(device, w.carry.patience))
		return SB_DECLINE;
	/* Whoever had it may have lost it. */
	if (!sb_device())
		status = SB_LOST;
	else
		status = sb_device_enter(device, &visit);
	if (status == SB_OK) {
		status = work_on_device(&w, device);
		sb_device_leave(device, &visit);
	}
	sb_device_give(device);
	if (w.carry.kernel)
		decision->kernel = w.carry.kernel->name;
	/* What the GPU has left of C is the CPU's, and nothing is held meanwhile. */
	if (status != SB_OK && !on_device(&w) && sb_carry_begun(&w.carry)) {
		sb_carry_rest(&w.carry, finish_block, &w);
		status = SB_OK;
	}
	sb_plan_free(&w.plan);
	return status;
}
