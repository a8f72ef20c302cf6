/* SPDX-License-Identifier: BSD-3-Clause */
#include "route.h"

#include <float.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "device.h"
#include "driver.h"
#include "element.h"
#include "experience.h"
#include "model.h"
#include "process.h"
#include "sample.h"
#include "settings.h"
#include "stats.h"
#include "situation.h"
#include "start.h"
#include "threads.h"

struct sb_decision sb_route_to_cpu(struct sb_decision decision, enum sb_reason reason)
{
	decision.side = SB_CPU;
	decision.reason = reason;
	decision.kernel = NULL;
	decision.manner = (struct sb_manner){.arithmetic = SB_NO_ARITHMETIC};
	return decision;
}

struct sb_decision sb_route_to_gpu(struct sb_decision decision, enum sb_reason reason)
{
	decision.side = SB_GPU;
	decision.reason = reason;
	return decision;
}

struct sb_decision sb_route_after(struct sb_decision decision, enum sb_status status)
{
	static const enum sb_reason reasons[] = {
		[SB_OK] = SB_REASON_FASTER,	   [SB_DECLINE] = SB_REASON_DECLINED,
		[SB_NO_DEVICE] = SB_REASON_NO_GPU, [SB_NO_IMAGE] = SB_REASON_NO_IMAGE,
		[SB_NO_MEMORY] = SB_REASON_MEMORY, [SB_BUSY] = SB_REASON_BUSY,
		[SB_LOST] = SB_REASON_LOST,
	};

	return sb_route_to_cpu(decision, reasons[status]);
}

static bool aligned(const struct sb_call *call)
{
	uintptr_t bits = (uintptr_t)call->a | (uintptr_t)call->b | (uintptr_t)call->c;

	return bits % sb_element(call->type)->bytes == 0;
}

/* NULL where nobody calls. */
static const struct sb_backend *backend_of(const struct sb_forward *forward)
{
	return forward ? sb_backend_find(forward->name, forward->caller) : NULL;
}

/* What the backend says of its threads, else what it will find when it is first called. */
static int threads_of(const struct sb_backend *backend)
{
	int threads = backend ? sb_backend_threads_get(&backend->threads) : 0;

	return threads ? threads : sb_threads_backend();
}

static const struct sb_profile *profile_for(const struct sb_backend *backend)
{
	return sb_profile(backend ? backend->path : NULL);
}

/* All that can be known without asking CUDA about the operands. */
static struct sb_situation situation_here(const struct sb_backend *backend,
					  const struct sb_call *call, bool emulate)
{
	struct sb_situation situation = {.processors = sb_profile_processors(), .emulate = emulate};
	const struct sb_team *team = sb_device_team();

	situation.devices = team ? team->count : 0;
	situation.linked = team && team->linked;
	situation.health = sb_device_health(&situation.unusable);
	if (sb_settings()->reproducible) {
		/* Neither who else calls nor what this thread may use is the shape's. */
		situation.threads = situation.processors;
		return situation;
	}
	situation.threads = threads_of(backend);
	situation.callers = sb_process_callers();
	situation.experience = sb_experience_of(call, emulate);
	return situation;
}

static void look_at_device(struct sb_situation *situation, const struct sb_call *call)
{
	struct sb_device *device = sb_device();

	if (!device)
		return;
	situation->places[0] = sb_device_place(device, call->a, sb_call_bytes_a(call));
	situation->places[1] = sb_device_place(device, call->b, sb_call_bytes_b(call));
	situation->places[2] = sb_device_place(device, call->c, sb_call_bytes_c(call));
	if (!sb_settings()->reproducible)
		situation->queue = sb_device_queue(device);
}

static bool gpu_gains(struct sb_decision decision)
{
	return decision.gpu_seconds < decision.cpu_seconds;
}

struct sb_decision sb_route_judge(const struct sb_call *call, struct sb_situation situation,
				  struct sb_decision decision)
{
	const struct sb_profile *profile = sb_profile(NULL);
	const double cpu = sb_model_cpu(profile, &situation, call).seconds;
	double gpu = sb_model_gpu_copies(profile, &situation, call);

	decision = sb_experience_correct(decision, &situation.experience, cpu, gpu);
	/* Picking a kernel takes longer than all else, and mostly changes nothing. */
	if (gpu < cpu || gpu_gains(decision) || situation.queue) {
		gpu = sb_model_gpu(profile, &situation, call).seconds;
		decision = sb_experience_correct(decision, &situation.experience, cpu, gpu);
	}
	if (situation.health == SB_HEALTH_UNUSABLE || situation.health == SB_HEALTH_LOST)
		return sb_route_to_cpu(decision, situation.unusable);
	for (int i = 0; i < 3; i++)
		if (situation.places[i] == SB_PLACE_DEVICE ||
		    situation.places[i] == SB_PLACE_ELSEWHERE)
			return sb_route_to_gpu(decision, SB_REASON_FORCED);
	decision.overruled = (gpu < cpu) != gpu_gains(decision);
	if (decision.overruled && situation.experience.try_again &&
	    situation.health == SB_HEALTH_READY)
		return gpu < cpu ? sb_route_to_gpu(decision, SB_REASON_TRIED)
				 : sb_route_to_cpu(decision, SB_REASON_TRIED);
	if (gpu_gains(decision))
		return situation.health == SB_HEALTH_READY
			       ? sb_route_to_gpu(decision, SB_REASON_FASTER)
			       : sb_route_to_cpu(decision, SB_REASON_STARTING);
	if (!situation.queue)
		return sb_route_to_cpu(decision, SB_REASON_FASTER);
	situation.queue = 0;
	gpu = sb_model_gpu(profile, &situation, call).seconds;
	return sb_route_to_cpu(decision, gpu_gains(sb_experience_correct(
						 decision, &situation.experience, cpu, gpu))
						 ? SB_REASON_BUSY
						 : SB_REASON_FASTER);
}

/*
 * On the helper thread, before the device is ready: the profile gets to know it. What is measured
 * for that changes from run to run, and only the judge has any use for it.
 */
static void meet_device(struct sb_device *device)
{
	struct sb_profile_sample sample;
	bool measured = !sb_settings()->reproducible && sb_profile_unknown(device) &&
			sb_route_mode() == SB_MODE_AUTO && sb_sample_take(device, &sample);

	if (!sb_settings()->reproducible)
		sb_profile_meet(device, measured ? &sample : NULL);
}

static void buy_start(const struct sb_forward *forward)
{
	enum sb_reason why;

	/* Which backend's profile it is matters once, and looking for a backend may be dear. */
	if (sb_device_health(&why) == SB_HEALTH_UNBORN)
		(void)profile_for(backend_of(forward));
	sb_start_meet(meet_device);
	sb_start_buy();
}

static struct sb_decision force_gpu(const struct sb_forward *forward, struct sb_decision decision)
{
	enum sb_health health;
	enum sb_reason why;

	buy_start(forward);
	health = sb_start_wait(SB_START_PATIENCE);
	if (health == SB_HEALTH_READY)
		return sb_route_to_gpu(decision, decision.reason);
	(void)sb_device_health(&why);
	decision.compare = false; /* with nothing there is nothing to compare */
	return sb_route_to_cpu(decision, why);
}

/*
 * A start that the GPU would have made up for is bought; a call that gains more than what is left
 * of it waits for it, though never longer than the CPU would take.
 */
static void consider_start(const struct sb_decision *decision, enum sb_health health)
{
	double saving = decision->cpu_seconds - decision->gpu_seconds;
	enum sb_reason why;

	sb_start_set_price(sb_profile(NULL)->start);
	if (health == SB_HEALTH_UNBORN) {
		sb_start_meet(meet_device);
		/* Where the program has started CUDA itself its price is next to nothing. */
		if (sb_settings()->reproducible || sb_driver_current_device() >= 0)
			sb_start_buy();
		else
			sb_start_missed(saving);
	}
	if (sb_settings()->reproducible)
		sb_start_wait(SB_START_PATIENCE);
	else if (sb_device_health(&why) == SB_HEALTH_STARTING && saving >= sb_start_left())
		sb_start_wait(saving);
}

/* What no GPU can gain by needs no look at the operands, which costs a microsecond. */
static bool beyond_gain(const struct sb_profile *profile, const struct sb_situation *situation,
			const struct sb_call *call, struct sb_decision *judged)
{
	const double cpu = sb_model_cpu(profile, situation, call).seconds;
	double gpu = sb_model_gpu_least(profile, situation, call);

	*judged = sb_experience_correct(*judged, &situation->experience, cpu, gpu);
	if ((gpu < cpu || gpu_gains(*judged)) && situation->devices <= 1) {
		gpu = sb_model_gpu_unseen(profile, situation, call);
		*judged = sb_experience_correct(*judged, &situation->experience, cpu, gpu);
	}
	return cpu <= gpu && !gpu_gains(*judged);
}

static struct sb_decision compare_sides(const struct sb_call *call,
					const struct sb_forward *forward,
					struct sb_decision decision)
{
	const struct sb_backend *backend;
	const struct sb_profile *profile;
	struct sb_situation situation;
	struct sb_decision judged = decision;
	enum sb_health before;
	enum sb_reason why;

	before = sb_device_health(&why);
	if (before == SB_HEALTH_UNUSABLE || before == SB_HEALTH_LOST)
		return sb_route_to_cpu(decision, why);
	backend = backend_of(forward);
	profile = profile_for(backend);
	situation = situation_here(backend, call, decision.emulate);
	if (beyond_gain(profile, &situation, call, &judged))
		return sb_route_to_cpu(judged, SB_REASON_FASTER);
	look_at_device(&situation, call);
	judged = sb_route_judge(call, situation, decision);
	if (judged.reason != SB_REASON_STARTING)
		return judged;
	before = situation.health;
	consider_start(&judged, before);
	situation.health = sb_device_health(&situation.unusable);
	if (situation.health == before)
		return judged;
	look_at_device(&situation, call);
	return sb_route_judge(call, situation, decision);
}

/*
 * Do operands lie where the CPU cannot read? Where no CUDA driver is loaded that is the program's
 * fault, and the backend's to meet. To look takes a system call each, so the operands that this
 * thread has had last are not looked at again: memory that has become a device's since, at all
 * three addresses, is not recognised. What a parent could read its child may not: a driver's memory
 * need not come along.
 */
static bool beyond_cpu(const struct sb_call *call)
{
	enum { OPERANDS = 3 };
	static _Thread_local const void *seen[OPERANDS] __attribute__((tls_model("initial-exec")));
	const void *operands[OPERANDS] = {call->a, call->b, call->c};

	if (!sb_process_child() &&
	    (!sb_driver_loaded() || memcmp(operands, seen, sizeof operands) == 0))
		return false;
	for (int i = 0; i < OPERANDS; i++)
		if (operands[i] && !sb_process_reads(operands[i]))
			return sb_driver_loaded();
	memcpy(seen, operands, sizeof operands);
	return false;
}

/* The program has started CUDA, so our own start is cheap; and nobody else could answer. */
static struct sb_decision judge_on_device(const struct sb_forward *forward,
					  struct sb_decision decision, enum sb_reason reason)
{
	struct sb_as_found found;
	enum sb_reason why;

	if (!sb_process_enter(&found))
		return sb_route_to_cpu(decision, SB_REASON_NESTED);
	buy_start(forward);
	sb_start_wait(SB_START_PATIENCE);
	decision.on_device = true;
	if (sb_device_health(&why) != SB_HEALTH_READY)
		decision = sb_route_to_cpu(decision, why);
	else if (reason == SB_REASON_FASTER)
		decision = sb_route_to_gpu(decision, SB_REASON_FORCED);
	else
		decision = sb_route_to_cpu(decision, reason);
	sb_process_leave(&found);
	return decision;
}

static struct sb_decision judge_work(const struct sb_call *call, const struct sb_forward *forward)
{
	struct sb_decision decision = {.side = SB_CPU, .reason = SB_REASON_SMALL};
	struct sb_as_found found;
	enum sb_call_kind kind;
	int mode = sb_route_mode();

	decision.emulate = sb_route_math() == SB_MATH_EMULATED;
	/* Asked again: at the first call the bound was not known. */
	if (sb_route_small(call, sb_route_bound()))
		return decision;
	kind = sb_call_kind(call);
	if (kind != SB_CALL_WORK)
		decision.reason = SB_REASON_INVALID;
	else if (mode == SB_MODE_CPU)
		decision.reason = SB_REASON_FORCED;
	else if (!aligned(call))
		decision.reason = SB_REASON_MISALIGNED;
	else
		decision.reason = SB_REASON_FASTER;
	if (kind != SB_CALL_ILLEGAL && call->m && call->n && beyond_cpu(call))
		return judge_on_device(forward, decision, decision.reason);
	if (decision.reason != SB_REASON_FASTER)
		return decision;
	if (!sb_process_enter(&found))
		return sb_route_to_cpu(decision, SB_REASON_NESTED);
	decision.compare = mode == SB_MODE_CHECK;
	decision.reason = SB_REASON_FORCED;
	decision = mode == SB_MODE_AUTO ? compare_sides(call, forward, decision)
					: force_gpu(forward, decision);
	sb_process_leave(&found);
	return decision;
}

/*
 * A report tells of both sides, whatever decided: what was not predicted, or only bounded, is, for
 * a GPU that has started and nobody else at work.
 */
static void foresee(const struct sb_call *call, const struct sb_forward *forward,
		    struct sb_decision *decision)
{
	struct sb_situation situation;
	const struct sb_backend *backend;
	const struct sb_profile *profile;
	struct sb_as_found found;
	struct sb_decision both;

	if (decision->on_device || sb_call_kind(call) != SB_CALL_WORK || !sb_process_enter(&found))
		return;
	backend = backend_of(forward);
	profile = profile_for(backend);
	situation = situation_here(backend, call, decision->emulate);
	situation.health = SB_HEALTH_READY;
	situation.callers = 0;
	look_at_device(&situation, call);
	situation.queue = 0;
	both = sb_experience_correct(*decision, &situation.experience,
				     sb_model_cpu(profile, &situation, call).seconds,
				     sb_model_gpu(profile, &situation, call).seconds);
	if (!(decision->cpu_seconds > 0))
		decision->cpu_seconds = both.cpu_seconds;
	if (both.gpu_seconds > decision->gpu_seconds)
		decision->gpu_seconds = both.gpu_seconds;
	sb_process_leave(&found);
}

static __attribute__((noinline)) struct sb_decision judge(const struct sb_call *call,
							  const struct sb_forward *forward)
{
	struct sb_decision decision = judge_work(call, forward);

	if (*sb_settings()->report && decision.reason != SB_REASON_SMALL)
		foresee(call, forward, &decision);
	return decision;
}

struct sb_decision sb_route(const struct sb_call *call, const struct sb_forward *forward)
{
	const double bound = sb_route_bound();

	if (sb_route_small(call, bound))
		return (struct sb_decision){.side = SB_CPU, .reason = SB_REASON_SMALL};
	return judge(call, forward);
}
