/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

#include "bound.h"
#include "element.h"
#include "launch.h"
#include "model.h"
#include "profile.h"
#include "registry.h"
#include "settings.h"
#include "shares.h"
#include "staged.h"
#include "timeline.h"
#include "trace.h"

struct work {
	struct sb_shares shares;
	sb_finish *finish;
	void *context;
};

static bool lies(const struct work *w, enum sb_place place)
{
	return w->shares.places[0] == place || w->shares.places[1] == place ||
	       w->shares.places[2] == place;
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
	const struct sb_call *call = w->shares.call;
	bool a = call->trans_a, b = call->trans_b;

	w->shares.places[0] = sb_device_place(
		device, call->a, span(a ? call->k : call->m, a ? call->m : call->k, call->lda));
	w->shares.places[1] = sb_device_place(
		device, call->b, span(b ? call->n : call->k, b ? call->k : call->n, call->ldb));
	w->shares.places[2] = sb_device_place(device, call->c, span(call->m, call->n, call->ldc));
}

/* What lies on one device of the team is that device's alone. */
static void look_at_operands(struct work *w)
{
	w->shares.devices = w->shares.team->count;
	look_from(w, sb_shares_device(&w->shares, 0));
	if (!lies(w, SB_PLACE_ELSEWHERE))
		return;
	for (w->shares.first = 1; w->shares.first < w->shares.team->count; w->shares.first++) {
		look_from(w, sb_shares_device(&w->shares, 0));
		if (!lies(w, SB_PLACE_ELSEWHERE)) {
			w->shares.devices = 1;
			return;
		}
	}
	w->shares.first = 0;
	look_from(w, sb_shares_device(&w->shares, 0));
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
		stage->status =
			sb_staged_run(sb_shares_device(&w->shares, 0), block, w->shares.places,
				      w->finish, w->context, w->shares.patience);
}

/* The CPU answers, with copies of what lies on a device; for want of the ring it cannot. */
static enum sb_status stage(struct work *w)
{
	struct stage stage = {.work = w, .status = SB_OK};

	if (sb_shares_begun(&w->shares))
		sb_shares_rest(&w->shares, stage_call, &stage);
	else
		stage_call(&stage, w->shares.call);
	return stage.status;
}

/* Most tiles of C give it its name; without a look, the first tier does. */
static void note_tiles(const struct work *w, struct sb_manner *manner)
{
	const struct sb_tiers *tiers = &w->shares.tiers;

	manner->arithmetic = sb_registry_first(tiers)->arithmetic;
	for (int i = SB_FP16X3; i < SB_ARITHMETICS; i++) {
		manner->tiles[i] = w->shares.tiles[i];
		if (manner->tiles[i] > manner->tiles[manner->arithmetic])
			manner->arithmetic = (enum sb_arithmetic)i;
	}
	for (int i = (int)sb_registry_first(tiers)->arithmetic + 1; i < SB_ARITHMETICS; i++)
		if (manner->tiles[i])
			manner->fallback = SB_FALLBACK_GUARD;
}

/* Emulated, where it can be; on failure the manner says why not, and C is untouched. */
static enum sb_status emulate(struct work *w, struct sb_manner *manner)
{
	const struct sb_call *call = w->shares.call;
	const struct sb_target target = sb_launch_target(sb_shares_device(&w->shares, 0));
	bool look = sb_settings_timed() || sb_timeline_here;
	struct sb_tiers tiers;
	enum sb_status status;

	if (!sb_registry_choose_tiers(call->m, call->n, call->k, &target, &tiers,
				      &manner->fallback))
		return SB_DECLINE;
	manner->arithmetic = sb_registry_first(&tiers)->arithmetic;
	status = sb_shares_try_emulated(&w->shares, &tiers, look);
	if (status == SB_OK) {
		note_tiles(w, manner);
	} else if (!sb_shares_begun(&w->shares)) {
		manner->arithmetic = SB_STRICT;
		manner->fallback = SB_FALLBACK_NO_KERNEL;
	}
	return status;
}

/* What one device has too little memory for, another may have room for. */
static enum sb_status emulate_anywhere(struct work *w, struct sb_manner *manner)
{
	enum sb_status status = emulate(w, manner);

	if (status != SB_NO_MEMORY || w->shares.devices == 1 || sb_shares_begun(&w->shares))
		return status;
	sb_shares_drop(&w->shares);
	w->shares.devices = 1;
	return emulate(w, manner);
}

static enum sb_status work_on_devices(struct work *w, struct sb_decision *decision)
{
	const struct sb_call *call = w->shares.call;
	struct sb_target target = sb_launch_target(sb_shares_device(&w->shares, 0));
	const struct sb_kernel *kernel;
	enum sb_status status = SB_DECLINE;

	decision->manner = (struct sb_manner){.arithmetic = SB_STRICT};
	if (decision->emulate)
		status = emulate_anywhere(w, &decision->manner);
	/* Want of memory is no reason for other bits than a larger device would have given. */
	if (status == SB_OK || status == SB_LOST || sb_shares_begun(&w->shares) ||
	    (decision->emulate && status == SB_NO_MEMORY))
		return status;
	sb_shares_drop(&w->shares);
	if (w->shares.places[0] == SB_PLACE_DEVICE)
		target.a = sb_launch_lie(call->a, call->lda, !call->trans_a);
	if (w->shares.places[1] == SB_PLACE_DEVICE)
		target.b = sb_launch_lie(call->b, call->ldb, call->trans_b);
	kernel = sb_registry_choose(call->m, call->n, call->k, &target);
	status = sb_shares_try(&w->shares, kernel);
	/* The plain kernel has the smallest tile and the fewest demands. */
	if (status != SB_OK && status != SB_LOST && kernel != sb_registry_plain() &&
	    !sb_shares_begun(&w->shares)) {
		sb_shares_drop(&w->shares);
		status = sb_shares_try(&w->shares, sb_registry_plain());
	}
	/* One device may do what another one cannot. */
	if (status != SB_OK && status != SB_LOST && w->shares.devices > 1 &&
	    !sb_shares_begun(&w->shares)) {
		sb_shares_drop(&w->shares);
		w->shares.devices = 1;
		status = sb_shares_try(&w->shares, sb_registry_plain());
	}
	return status;
}

static enum sb_status visit_devices(struct work *w, struct sb_decision *decision)
{
	struct sb_device *device = sb_shares_device(&w->shares, 0);
	struct sb_visit visit;
	double begin = sb_timeline_begin(sb_timeline_here, SB_TIMELINE_TAKE);
	bool taken = sb_device_take(device, w->shares.patience);
	enum sb_status status;

	sb_timeline_end(sb_timeline_here, SB_TIMELINE_TAKE, 0, begin, 0);
	if (!taken)
		return SB_BUSY;
	/* Whoever had them may have lost them. */
	status = sb_device_team() ? sb_device_enter(device, &visit) : SB_LOST;
	if (status == SB_OK) {
		status = work_on_devices(w, decision);
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
		status = visit_devices(w, decision);
	if (w->shares.count > 0) {
		decision->kernel = w->shares.kernel->name;
		decision->devices = ((1u << w->shares.count) - 1) << w->shares.first;
	}
	if (status != SB_OK && status != SB_LOST && decision->on_device) {
		if (!for_cpu)
			*decision = sb_route_after(*decision, status);
		return stage(w);
	}
	if (status != SB_OK && !decision->on_device && sb_shares_begun(&w->shares)) {
		sb_shares_rest(&w->shares, w->finish, w->context);
		return SB_OK;
	}
	return status;
}

/* The least it could have taken, by the profile: what one wire and one kernel were measured to do
 * once. 0 for a team. */
static double bound_of(const struct work *w)
{
	const struct sb_shares *shares = &w->shares;
	const struct sb_call *call = shares->call;
	const struct sb_profile *profile;
	struct sb_target target;
	struct sb_wire wire;
	double arithmetic;

	if (shares->count != 1)
		return 0;
	profile = sb_profile(NULL);
	wire.up = sb_model_rate(profile, SB_PINNED_UP);
	wire.down = sb_model_rate(profile, SB_PINNED_DOWN);
	wire.both = wire.up;
	target = sb_launch_target(sb_shares_device(shares, 0));
	arithmetic = profile->kernel *
		     sb_registry_seconds(shares->kernel, call->m, call->n, call->k, &target);
	if (shares->emulated)
		arithmetic *= profile->emulated / profile->kernel;
	return __builtin_isinf(arithmetic)
		       ? 0
		       : sb_bound(shares->carries[0].plan, &wire, arithmetic).seconds;
}

static void close_timeline(const struct work *w, struct sb_decision *decision)
{
	if (!sb_timeline_here && !*sb_settings()->report)
		return;
	if (sb_timeline_here)
		sb_timeline_close();
	decision->bound = bound_of(w);
	if (sb_timeline_here)
		sb_timeline_here->bound = decision->bound;
}

enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct work w = {.shares = {.call = call}, .finish = finish, .context = context};
	enum sb_status status;
	enum sb_reason why;

	w.shares.team = sb_device_team();
	if (w.shares.team) {
		w.shares.patience = sb_device_patience(decision->gpu_seconds);
		sb_timeline_open(call, true);
		status = answer(&w, decision);
		close_timeline(&w, decision);
		sb_shares_drop(&w.shares);
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
