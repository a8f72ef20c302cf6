/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

#include "arena.h"
#include "carry.h"
#include "launch.h"
#include "plan_split.h"
#include "registry.h"
#include "settings.h"
#include "staged.h"
#include "trace.h"
#include "transfer.h"

struct work {
	const struct sb_call *call;
	struct sb_team *team;
	double patience;
	enum sb_place places[3];
	sb_finish *finish;
	void *context;
	const struct sb_kernel *kernel; /* that was tried last */
	int first;			/* the device that is entered, by its index */
	int devices;			/* from there on that may take part */
	struct sb_split_wish wish;
	struct sb_split split;
	int count; /* that do take part; 0: there is no plan */
	struct sb_carry carries[SB_DEVICES];
	struct sb_call calls[SB_DEVICES]; /* each one's block */
};

static struct sb_device *device_of(const struct work *w, int share)
{
	return &w->team->devices[w->first + share];
}

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

static void look_from(struct work *w, struct sb_device *device)
{
	const struct sb_call *call = w->call;
	bool a = call->trans_a, b = call->trans_b;

	w->places[0] = sb_device_place(
		device, call->a, span(a ? call->k : call->m, a ? call->m : call->k, call->lda));
	w->places[1] = sb_device_place(
		device, call->b, span(b ? call->n : call->k, b ? call->k : call->n, call->ldb));
	w->places[2] = sb_device_place(device, call->c, span(call->m, call->n, call->ldc));
}

/* What lies on one device of the team is that device's alone. */
static void look_at_operands(struct work *w)
{
	w->devices = w->team->count;
	look_from(w, device_of(w, 0));
	if (!lies(w, SB_PLACE_ELSEWHERE))
		return;
	for (w->first = 1; w->first < w->team->count; w->first++) {
		look_from(w, device_of(w, 0));
		if (!lies(w, SB_PLACE_ELSEWHERE)) {
			w->devices = 1;
			return;
		}
	}
	w->first = 0;
	look_from(w, device_of(w, 0));
}

/* Does something with the device of a share while its context is current. */
static enum sb_status with_each(struct work *w, int count,
				enum sb_status (*act)(struct work *w, int share))
{
	enum sb_status status = SB_OK;

	for (int i = 0; i < count && status == SB_OK; i++) {
		enum sb_status back = SB_OK;

		if (i > 0)
			status = sb_device_step_over(device_of(w, i));
		if (status != SB_OK)
			return status;
		status = act(w, i);
		if (i > 0)
			back = sb_device_step_back(device_of(w, i));
		if (back != SB_OK)
			status = back;
	}
	return status;
}

static void make_wish(struct work *w)
{
	w->wish = (struct sb_split_wish){
		.call = {.m = w->call->m,
			 .n = w->call->n,
			 .k = w->call->k,
			 .trans_a = w->call->trans_a,
			 .trans_b = w->call->trans_b,
			 .place_a = w->places[0],
			 .place_b = w->places[1],
			 .place_c = w->places[2],
			 .kernel = w->kernel,
			 .panels = (int)sb_settings()->panels},
		.devices = w->devices,
		.linked = w->team->linked,
	};
	for (int i = 0; i < w->devices; i++) {
		const struct sb_device *device = device_of(w, i);

		w->wish.device_bytes[i] = device->memory;
		w->wish.weights[i] = device->multiprocessors > 0 ? device->multiprocessors : 1;
	}
}

static size_t needed(const struct work *w, int share)
{
	return w->split.shares[share].plan.device_bytes;
}

/* What we hold already needs no look at what is free. */
static enum sb_status look_at_free(struct work *w, int share)
{
	struct sb_device *device = device_of(w, share);
	size_t bound;

	if (needed(w, share) <= sb_arena_held(device))
		return SB_OK;
	bound = sb_arena_bound(device);
	if (needed(w, share) <= bound)
		return SB_OK;
	w->wish.device_bytes[share] = bound;
	return SB_NO_MEMORY;
}

/* A failed allocation asks for half as much. */
static enum sb_status take(struct work *w, int share)
{
	enum sb_status status = SB_OK;

	if (needed(w, share))
		status = sb_arena_take(device_of(w, share), needed(w, share),
				       &w->carries[share].base);
	if (status == SB_NO_MEMORY)
		w->wish.device_bytes[share] = needed(w, share) / 2;
	return status;
}

static enum sb_status give(struct work *w, int share)
{
	sb_arena_give(device_of(w, share));
	return SB_OK;
}

/* Makes plans that fit and takes their regions. */
static enum sb_status plan_and_take(struct work *w)
{
	enum sb_status status = sb_split_make(&w->split, &w->wish);
	bool looked = false;

	while (status == SB_OK) {
		status = with_each(w, w->split.count, looked ? take : look_at_free);
		if (status == SB_OK && looked)
			return SB_OK;
		looked = looked || status == SB_OK;
		if (status == SB_NO_MEMORY) {
			sb_split_free(&w->split);
			status = sb_split_make(&w->split, &w->wish);
		}
	}
	return status;
}

/* The block of C that begins at row i0 and column j0, as a call of its own. */
static struct sb_call block_of(const struct sb_call *call, int64_t i0, int64_t j0, int64_t m,
			       int64_t n)
{
	struct sb_call block = *call;
	const float *a = block.a, *b = block.b;

	block.m = m;
	block.n = n;
	block.a = a + (block.trans_a ? i0 * block.lda : i0);
	block.b = b + (block.trans_b ? j0 : j0 * block.ldb);
	block.c = (float *)block.c + i0 + j0 * block.ldc;
	return block;
}
static enum sb_status prepare_ring(struct work *w, int share)
{
	return sb_ring_prepare(device_of(w, share));
}

static enum sb_status prepare_kernel(struct work *w, int share)
{
	return sb_launch_prepare(device_of(w, share), w->kernel);
}

static enum sb_status prepare_narrow(struct work *w, int share)
{
	return sb_launch_prepare(device_of(w, share), sb_registry_narrow(w->kernel));
}

static void make_carries(struct work *w, const struct sb_kernel *narrow)
{
	for (w->count = 0; w->count < w->split.count; w->count++) {
		const struct sb_share *share = &w->split.shares[w->count];
		struct sb_carry *carry = &w->carries[w->count];

		w->calls[w->count] = block_of(w->call, share->i0, share->j0, share->m, share->n);
		*carry = (struct sb_carry){
			.device = device_of(w, w->count),
			.call = &w->calls[w->count],
			.kernel = w->kernel,
			.narrow = narrow,
			.plan = &share->plan,
			.base = carry->base,
			.places = {w->places[0], w->places[1]},
			/*
			 * Never by DMA into the caller's C, pinned or not: a device that is given
			 * up with such a copy on its way may wake and make it after the CPU has
			 * answered and the program has gone on, over whatever lies there then.
			 * Nothing can call a copy back.
			 */
			.direct = false,
			.patience = w->patience,
		};
	}
	if (w->places[2] == SB_PLACE_PAGEABLE && w->call->beta == 0)
		w->carries[0].fresh = w->call;
}

static enum sb_status try_kernel(struct work *w, const struct sb_kernel *kernel)
{
	const struct sb_kernel *narrow = sb_registry_narrow(kernel);
	enum sb_status status;
	int devices;

	w->kernel = kernel;
	make_wish(w);
	devices = sb_split_devices(&w->wish);
	status = with_each(w, devices, prepare_ring);
	if (status != SB_OK)
		return status;
	status = with_each(w, devices, prepare_kernel);
	if (status == SB_DECLINE)
		return SB_NO_IMAGE;
	if (status == SB_OK)
		status = plan_and_take(w);
	if (status == SB_OK) {
		if (narrow && with_each(w, devices, prepare_narrow) != SB_OK)
			narrow = NULL;
		make_carries(w, narrow);
		status = sb_carry_out(w->carries, w->count);
	}
	if (status != SB_LOST && with_each(w, devices, give) == SB_LOST)
		status = SB_LOST;
	return status;
}

static bool begun(const struct work *w)
{
	for (int i = 0; i < w->count; i++)
		if (sb_carry_begun(&w->carries[i]))
			return true;
	return false;
}

/* A share's pieces of C that were not written, as calls of their own. */
struct rest {
	const struct sb_call *call; /* of the share */
	sb_finish *finish;
	void *context;
};

static void finish_block(void *context, int64_t i0, int64_t j0, int64_t m, int64_t n)
{
	const struct rest *rest = context;
	struct sb_call block = block_of(rest->call, i0, j0, m, n);

	rest->finish(rest->context, &block);
}

static void finish_rest(struct work *w, sb_finish *finish, void *context)
{
	for (int i = 0; i < w->count; i++) {
		struct rest rest = {&w->calls[i], finish, context};

		sb_carry_rest(&w->carries[i], finish_block, &rest);
	}
}

/* A block with operands on the device: the CPU gets copies of them. */
struct stage {
	struct work *work;
	enum sb_status status;
};

static void stage_call(void *context, const struct sb_call *block)
{
	struct stage *stage = context;
	struct work *w = stage->work;

	if (stage->status == SB_OK)
		stage->status = sb_staged_run(device_of(w, 0), block, w->places, w->finish,
					      w->context, w->patience);
}

/* The CPU answers, with copies of what lies on a device; for want of the ring it cannot. */
static enum sb_status stage(struct work *w)
{
	struct stage stage = {.work = w, .status = SB_OK};

	if (begun(w))
		finish_rest(w, stage_call, &stage);
	else
		stage_call(&stage, w->call);
	return stage.status;
}

static enum sb_status work_on_devices(struct work *w)
{
	const struct sb_call *call = w->call;
	const struct sb_target target = sb_launch_target(device_of(w, 0));
	const struct sb_kernel *kernel = sb_registry_choose(call->m, call->n, call->k, &target);
	enum sb_status status = try_kernel(w, kernel);

	/* The plain kernel has the smallest tile and the fewest demands. */
	if (status != SB_OK && status != SB_LOST && kernel != sb_registry_plain() && !begun(w)) {
		w->count = 0;
		sb_split_free(&w->split);
		status = try_kernel(w, sb_registry_plain());
	}
	/* One device may do what another one cannot. */
	if (status != SB_OK && status != SB_LOST && w->devices > 1 && !begun(w)) {
		w->count = 0;
		sb_split_free(&w->split);
		w->devices = 1;
		status = try_kernel(w, sb_registry_plain());
	}
	return status;
}

static enum sb_status visit_devices(struct work *w)
{
	struct sb_device *device = device_of(w, 0);
	struct sb_visit visit;
	enum sb_status status;

	if (!sb_device_take(device, w->patience))
		return SB_BUSY;
	/* Whoever had them may have lost them. */
	status = sb_device_team() ? sb_device_enter(device, &visit) : SB_LOST;
	if (status == SB_OK) {
		status = work_on_devices(w);
		sb_device_leave(device, &visit);
	}
	sb_device_give(device);
	return status;
}

/* Answers the call by whoever can; nothing is held while the CPU works. */
static enum sb_status answer(struct work *w, struct sb_decision *decision)
{
	bool for_cpu = decision->on_device && decision->side == SB_CPU;
	enum sb_status status = SB_DECLINE;

	look_at_operands(w);
	/* A device lost already does not say what lies on it; who asked may have seen. */
	if (!sb_device_team())
		return SB_LOST;
	decision->on_device = on_device(w);
	if (!for_cpu && !lies(w, SB_PLACE_ELSEWHERE))
		status = visit_devices(w);
	if (w->count > 0) {
		decision->kernel = w->kernel->name;
		decision->devices = ((1u << w->count) - 1) << w->first;
	}
	if (status != SB_OK && status != SB_LOST && decision->on_device) {
		if (!for_cpu)
			*decision = sb_route_after(*decision, status);
		return stage(w);
	}
	if (status != SB_OK && !decision->on_device && begun(w)) {
		finish_rest(w, w->finish, w->context);
		return SB_OK;
	}
	return status;
}

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct work w = {.call = call, .finish = finish, .context = context};
	enum sb_status status;
	enum sb_reason why;

	w.team = sb_device_team();
	if (w.team) {
		w.patience = sb_device_patience(decision->gpu_seconds);
		status = answer(&w, decision);
		sb_split_free(&w.split);
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
