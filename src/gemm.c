/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole library in one screen. */
#include "gemm.h"

#include "account.h"
#include "check.h"
#include "clock.h"
#include "offload.h"
#include "process.h"
#include "route.h"
#include "start.h"
#include "timeline.h"

/* What the GPU left undone of C, the CPU does. */
static void finish(void *context, const struct sb_call *block)
{
	sb_backend_call(context, block);
}

static struct sb_decision hand_on(struct sb_decision decision, enum sb_reason reason)
{
	decision.on_device = false;
	return sb_route_to_cpu(decision, reason);
}

/* Carries a call to the GPU; if that fails C is untouched, and the decision says so. */
static struct sb_decision leave_for_gpu(const struct sb_forward *forward,
					struct sb_decision decision)
{
	struct sb_as_found found;
	enum sb_status status;
	int64_t began;

	if (sb_backend_foreign(forward->name, forward->caller))
		return hand_on(decision, SB_REASON_INVALID);
	if (!sb_process_enter(&found))
		return hand_on(decision, SB_REASON_NESTED);
	began = sb_clock_nanoseconds();
	status = sb_offload(forward->call, &decision, finish, (void *)forward);
	decision.nanoseconds = sb_clock_nanoseconds() - began;
	sb_process_leave(&found);
	return status == SB_OK ? decision : sb_route_after(decision, status);
}

/*
 * A trace has every call that is not small, and of one that the device has failed both parts. From
 * an illegal one the program's xerbla need not return. A wrapper that is not known as one loses its
 * own part where what it calls goes to the device.
 */
static double begin_backend(const struct sb_forward *forward, const struct sb_decision *decision)
{
	struct sb_as_found found;
	double begin = 0;

	if (decision->reason == SB_REASON_SMALL || decision->reason == SB_REASON_INVALID ||
	    !sb_timeline_wanted() || !sb_process_enter(&found))
		return 0;
	if (!sb_timeline_here)
		sb_timeline_open(forward->call, false);
	else if (!sb_timeline_reopen())
		goto out;
	begin = sb_timeline_begin(sb_timeline_here, SB_TIMELINE_BACKEND);
out:
	sb_process_leave(&found);
	return begin;
}

static void end_backend(double begin)
{
	struct sb_as_found found;

	if (!(begin > 0) || !sb_process_enter(&found))
		return;
	sb_timeline_end(sb_timeline_here, SB_TIMELINE_BACKEND, 0, begin, 0);
	sb_timeline_close();
	sb_process_leave(&found);
}

/* A call that was judged is one of those that share the processors. */
static void leave_to_cpu(const struct sb_forward *forward, struct sb_decision *decision)
{
	bool judged = decision->cpu_seconds > 0, joined = judged && sb_process_join_callers();
	double begin = begin_backend(forward, decision);
	int64_t began = judged ? sb_clock_nanoseconds() : 0;

	sb_backend_run(forward);
	if (judged)
		decision->nanoseconds = sb_clock_nanoseconds() - began;
	end_backend(begin);
	if (joined)
		sb_process_part_from_callers();
}

void sb_gemm(const struct sb_forward *forward)
{
	const struct sb_call *call = forward->call;
	struct sb_account account = sb_account_open();
	struct sb_decision decision = sb_route(call, forward);

	if (decision.compare) {
		sb_check(forward, &decision);
	} else {
		if (decision.side == SB_GPU || decision.on_device)
			decision = leave_for_gpu(forward, decision);
		if (decision.side == SB_CPU && !decision.on_device)
			leave_to_cpu(forward, &decision);
	}
	sb_account_close(&account, call, &decision);
	sb_start_over();
}
