/* SPDX-License-Identifier: BSD-3-Clause */
#include "route.h"

#include <float.h>
#include <stdatomic.h>
#include <stdint.h>

#include "element.h"
#include "process.h"
#include "settings.h"

/*
 * mnk below which no GPU has ever been worth its launches: 128^3 takes OpenBLAS on one core some
 * 40 us, a launch and two copies 30.
 */
static const double small_work = 128.0 * 128.0 * 128.0;

_Atomic double sb_route_quick = -DBL_MAX;
static atomic_int mode_in_force = -1;
static _Atomic double small_bound = -DBL_MAX;

/* In a forced mode every product there is counts as large, or none does. */
static void set_bound(int mode)
{
	const double bounds[] = {
		[SB_MODE_AUTO] = small_work,
		[SB_MODE_CPU] = small_work,
		[SB_MODE_GPU] = 1,
		[SB_MODE_CHECK] = 1,
	};

	atomic_store(&mode_in_force, mode);
	atomic_store(&small_bound, bounds[mode]);
	atomic_store(&sb_route_quick, sb_settings_timed() ? -DBL_MAX : bounds[mode]);
}

int sb_route_mode(void)
{
	int mode = atomic_load_explicit(&mode_in_force, memory_order_relaxed);

	if (mode < 0) {
		sb_process_start();
		set_bound(mode = sb_settings()->mode);
	}
	return mode;
}

void sb_route_set_mode(int mode)
{
	sb_process_start();
	set_bound(mode);
}

struct sb_decision sb_route_to_cpu(struct sb_decision decision, enum sb_reason reason)
{
	decision.side = SB_CPU;
	decision.reason = reason;
	decision.kernel = NULL;
	return decision;
}

struct sb_decision sb_route_after(struct sb_decision decision, enum sb_status status)
{
	static const enum sb_reason reasons[] = {
		[SB_OK] = SB_REASON_FASTER,	   [SB_DECLINE] = SB_REASON_BUSY,
		[SB_NO_DEVICE] = SB_REASON_NO_GPU, [SB_NO_MEMORY] = SB_REASON_MEMORY,
		[SB_LOST] = SB_REASON_LOST,
	};

	return sb_route_to_cpu(decision, reasons[status]);
}

static bool aligned(const struct sb_call *call)
{
	uintptr_t bits = (uintptr_t)call->a | (uintptr_t)call->b | (uintptr_t)call->c;

	return bits % sb_element(call->type)->bytes == 0;
}

static __attribute__((noinline)) struct sb_decision judge(const struct sb_call *call)
{
	struct sb_decision decision = {.side = SB_CPU, .reason = SB_REASON_SMALL};
	int mode = sb_route_mode();

	/* Asked again: at the first call the bound was not known. */
	if ((double)call->m * (double)call->n * (double)call->k < atomic_load(&small_bound))
		return decision;
	if (sb_call_kind(call) != SB_CALL_WORK)
		return sb_route_to_cpu(decision, SB_REASON_INVALID);
	if (mode == SB_MODE_CPU)
		return sb_route_to_cpu(decision, SB_REASON_FORCED);
	if (!aligned(call))
		return sb_route_to_cpu(decision, SB_REASON_MISALIGNED);
	if (sb_process_nested())
		return sb_route_to_cpu(decision, SB_REASON_NESTED);
	if (sb_process_forked_live())
		return sb_route_to_cpu(decision, SB_REASON_FORKED);
	decision.side = SB_GPU;
	decision.reason = mode == SB_MODE_AUTO ? SB_REASON_FASTER : SB_REASON_FORCED;
	decision.compare = mode == SB_MODE_CHECK;
	return decision;
}

struct sb_decision sb_route(const struct sb_call *call)
{
	const double bound = atomic_load_explicit(&small_bound, memory_order_relaxed);

	if ((double)call->m * (double)call->n * (double)call->k < bound)
		return (struct sb_decision){.side = SB_CPU, .reason = SB_REASON_SMALL};
	return judge(call);
}
