/* SPDX-License-Identifier: BSD-3-Clause */
#include "seats.h"

#include <stdatomic.h>

static struct {
	atomic_ushort callers;
	atomic_bool claimed;
} processors[SB_PROCESSORS_MOST];

/* Seats that became free, so far: who found none need not look again before there is another. */
static atomic_uint changes = 1;

static _Thread_local struct {
	short depth, at; /* at: negative where it is not known; short: every thread has it */
} caller __attribute__((tls_model("initial-exec")));

static int here(void)
{
	int processor = sched_getcpu();

	return processor < SB_PROCESSORS_MOST ? processor : -1;
}

static void enter(int processor)
{
	caller.at = (short)processor;
	if (processor >= 0)
		atomic_fetch_add(&processors[processor].callers, 1);
}

static void leave(void)
{
	if (caller.at < 0)
		return;
	atomic_fetch_sub(&processors[caller.at].callers, 1);
	atomic_fetch_add(&changes, 1);
}

void sb_seats_arrive(void)
{
	if (caller.depth++ == 0)
		enter(here());
	else
		sb_seats_move();
}

void sb_seats_move(void)
{
	int processor;

	if (caller.depth == 0)
		return;
	processor = here();
	if (processor == caller.at)
		return;
	leave();
	enter(processor);
}

void sb_seats_depart(void)
{
	if (caller.depth > 0 && --caller.depth == 0)
		leave();
}

static bool of_a_caller(int processor)
{
	return atomic_load_explicit(&processors[processor].callers, memory_order_relaxed) > 0;
}

static bool claim(int processor)
{
	bool none = false;

	return !of_a_caller(processor) &&
	       atomic_compare_exchange_strong(&processors[processor].claimed, &none, true);
}

static void unclaim(int processor)
{
	atomic_store(&processors[processor].claimed, false);
	atomic_fetch_add(&changes, 1);
}

/* Of those in a mask the first that is free, from `first` on and then from the beginning; or -1. */
static int claim_among(const struct sb_processors *allowed, int first)
{
	int left = CPU_COUNT_S(sizeof allowed->mask, allowed->mask), end = 0;

	if (left < 2)
		return -1;
	while (left > 0)
		left -= CPU_ISSET_S((size_t)end++, sizeof allowed->mask, allowed->mask) != 0;
	for (int i = 0; i < end; i++) {
		int processor = (first + i) % end;

		if (CPU_ISSET_S((size_t)processor, sizeof allowed->mask, allowed->mask) &&
		    claim(processor))
			return processor;
	}
	return -1;
}

static bool bind_to(int processor)
{
	struct sb_processors one;

	CPU_ZERO_S(sizeof one.mask, one.mask);
	CPU_SET_S((size_t)processor, sizeof one.mask, one.mask);
	return sched_setaffinity(0, sizeof one.mask, one.mask) == 0;
}

/* The processors this thread may run on, were it not bound; false if the system does not tell. */
static bool find_allowed(struct sb_seat *seat)
{
	struct sb_processors now;

	if (sched_getaffinity(0, sizeof now.mask, now.mask) != 0)
		return seat->claimed >= 0;
	if (seat->claimed < 0 || CPU_COUNT_S(sizeof now.mask, now.mask) != 1 ||
	    !CPU_ISSET_S((size_t)seat->claimed, sizeof now.mask, now.mask))
		seat->allowed = now;
	return true;
}

static void unbind(struct sb_seat *seat)
{
	(void)sched_setaffinity(0, sizeof seat->allowed.mask, seat->allowed.mask);
	unclaim(seat->claimed);
	seat->claimed = -1;
}

void sb_seats_take(struct sb_seat *seat)
{
	unsigned before = atomic_load(&changes);
	int processor = here(), next;

	if (seat->claimed >= 0 ? seat->claimed == processor && !of_a_caller(processor)
			       : seat->seen == before)
		return;
	if (processor < 0 || !find_allowed(seat))
		return;
	next = claim_among(&seat->allowed, processor);
	if (next >= 0 && bind_to(next)) {
		if (seat->claimed >= 0)
			unclaim(seat->claimed);
		seat->claimed = next;
		return;
	}
	if (next >= 0)
		unclaim(next);
	if (seat->claimed >= 0)
		unbind(seat);
	/* What was given back here is no news to it. */
	seat->seen = next >= 0 ? atomic_load(&changes) : before;
}

void sb_seats_give(struct sb_seat *seat)
{
	if (seat->claimed >= 0 && find_allowed(seat))
		unbind(seat);
	seat->seen = 0;
}

void sb_seats_enter_child(void)
{
	caller.depth = 0;
	for (int i = 0; i < SB_PROCESSORS_MOST; i++)
		if (of_a_caller(i) || atomic_load(&processors[i].claimed)) {
			atomic_store(&processors[i].callers, 0);
			atomic_store(&processors[i].claimed, false);
		}
}
