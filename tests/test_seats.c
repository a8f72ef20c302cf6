/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A processor for each copy thread, step by step, on machines that are made up.
 */
#include "child.h"

#include <pthread.h>
#include <sched.h>

#include "seats.h"
#include "threads.h"

/* A thread on a machine that is made up: what it may run on, and where it runs. */
struct runner {
	struct sb_seat seat;
	struct sb_processors mask;
	int at;
};

static _Thread_local struct runner *self;
static int asked, bound; /* calls of the system */
static bool refuse;

int __real_sched_getcpu(void);
int __real_sched_getaffinity(pid_t, size_t, cpu_set_t *);
int __real_sched_setaffinity(pid_t, size_t, const cpu_set_t *);
int __wrap_sched_getcpu(void);
int __wrap_sched_getaffinity(pid_t, size_t, cpu_set_t *);
int __wrap_sched_setaffinity(pid_t, size_t, const cpu_set_t *);

int __wrap_sched_getcpu(void)
{
	return self ? self->at : __real_sched_getcpu();
}

int __wrap_sched_getaffinity(pid_t thread, size_t size, cpu_set_t *mask)
{
	if (!self)
		return __real_sched_getaffinity(thread, size, mask);
	asked++;
	memcpy(mask, self->mask.mask, size);
	return 0;
}

static bool has(const struct sb_processors *set, int processor)
{
	return CPU_ISSET_S((size_t)processor, sizeof set->mask, set->mask);
}

static int size_of(const struct sb_processors *set)
{
	return CPU_COUNT_S(sizeof set->mask, set->mask);
}

int __wrap_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *mask)
{
	if (!self)
		return __real_sched_setaffinity(thread, size, mask);
	bound++;
	if (refuse)
		return -1;
	memcpy(self->mask.mask, mask, size);
	for (int i = 0; !has(&self->mask, self->at); i++)
		if (has(&self->mask, i))
			self->at = i;
	return 0;
}

/* It may run on `count` processors from `first` on, and runs on `at`. */
static struct runner runner(int first, int count, int at)
{
	struct runner made = {.seat = SB_SEAT_NONE, .at = at};

	for (int i = first; i < first + count; i++)
		CPU_SET_S((size_t)i, sizeof made.mask.mask, made.mask.mask);
	return made;
}

static void as(struct runner *who, void (*what)(void))
{
	self = who;
	what();
	self = NULL;
}

/* The processor it is bound to now, or -1. */
static int take(struct runner *who)
{
	self = who;
	sb_seats_take(&who->seat);
	self = NULL;
	CHECK(who->seat.claimed < 0 || (size_of(&who->mask) == 1 && who->at == who->seat.claimed));
	return who->seat.claimed;
}

static void give(struct runner *who)
{
	self = who;
	sb_seats_give(&who->seat);
	self = NULL;
}

static void four(const void *unused)
{
	struct runner caller = runner(0, 4, 1), threads[4];

	(void)unused;
	for (int i = 0; i < 4; i++)
		threads[i] = runner(0, 4, i < 2 ? 2 : 1);
	as(&caller, sb_seats_arrive);
	CHECK(take(&threads[0]) == 2 && take(&threads[1]) == 3 && take(&threads[2]) == 0);
	CHECK(take(&threads[3]) == -1 && size_of(&threads[3].mask) == 4);
	asked = bound = 0;
	for (int i = 0; i < 4; i++)
		take(&threads[i]);
	CHECK(asked == 0 && bound == 0);
	as(&caller, sb_seats_depart);
	CHECK(take(&threads[3]) == 1);
	for (int i = 0; i < 4; i++) {
		give(&threads[i]);
		CHECK(size_of(&threads[i].mask) == 4 && threads[i].seat.claimed == -1);
	}
	CHECK(take(&threads[0]) == threads[0].at);
}

static void each_has_one_of_its_own(void)
{
	CU_ASSERT_EQUAL(in_child("", four, NULL), 0);
}

static void moving(const void *unused)
{
	struct runner caller = runner(0, 3, 0), one = runner(0, 3, 1), other = runner(0, 3, 2);

	(void)unused;
	as(&caller, sb_seats_arrive);
	CHECK(take(&one) == 1 && take(&other) == 2);
	caller.at = 1;
	as(&caller, sb_seats_move);
	CHECK(take(&one) == 0 && take(&other) == 2);
	/* Alone with the caller on two, there is nothing left for it. */
	give(&one);
	one = runner(1, 2, 1);
	CHECK(take(&one) == -1 && size_of(&one.mask) == 2);
	caller.at = 2;
	as(&caller, sb_seats_move);
	CHECK(take(&one) == 1 && take(&other) == 0);
	give(&other);
	other = runner(1, 2, 2);
	CHECK(take(&other) == -1);
	caller.at = 1;
	as(&caller, sb_seats_move);
	CHECK(take(&one) == 2 && take(&other) == -1);
	/* What was noted is what is taken back, wherever he has gone since. */
	caller.at = 0;
	as(&caller, sb_seats_depart);
	CHECK(take(&other) == 1);
}

static void a_caller_who_moves_is_left_alone(void)
{
	CU_ASSERT_EQUAL(in_child("", moving, NULL), 0);
}

static void *come_and_stay(void *at)
{
	as(at, sb_seats_arrive);
	return NULL;
}

static void several(const void *unused)
{
	struct runner caller = runner(0, 2, 0), other = caller, thread = runner(0, 2, 0);
	pthread_t comer;

	(void)unused;
	as(&caller, sb_seats_arrive);
	as(&caller, sb_seats_arrive);
	as(&caller, sb_seats_depart);
	CHECK(take(&thread) == 1);
	give(&thread);
	thread.at = 0;
	CHECK(pthread_create(&comer, NULL, come_and_stay, &other) == 0);
	pthread_join(comer, NULL);
	as(&caller, sb_seats_depart);
	as(&caller, sb_seats_depart);
	CHECK(take(&thread) == 1);
}

static void callers_are_counted(void)
{
	CU_ASSERT_EQUAL(in_child("", several, NULL), 0);
}

static void set_from_outside(const void *unused)
{
	struct runner thread = runner(0, 8, 3);

	(void)unused;
	CHECK(take(&thread) == 3);
	thread.mask = runner(5, 2, 5).mask;
	thread.at = 5;
	CHECK(take(&thread) == 5);
	give(&thread);
	CHECK(size_of(&thread.mask) == 2 && has(&thread.mask, 5) && has(&thread.mask, 6));
	CHECK(take(&thread) == 5);
	thread.mask = runner(7, 1, 7).mask;
	thread.at = 7;
	CHECK(take(&thread) == -1);
	CHECK(size_of(&thread.mask) == 1 && has(&thread.mask, 7));
	/* Set while it sleeps. */
	thread = runner(0, 8, 3);
	CHECK(take(&thread) == 3);
	thread.mask = runner(2, 5, 0).mask;
	give(&thread);
	CHECK(size_of(&thread.mask) == 5);
}

static void an_affinity_set_from_outside_holds(void)
{
	CU_ASSERT_EQUAL(in_child("", set_from_outside, NULL), 0);
}

static void refused(const void *unused)
{
	struct runner one = runner(0, 2, 0), other = runner(0, 2, 0);

	(void)unused;
	refuse = true;
	CHECK(take(&one) == -1 && size_of(&one.mask) == 2);
	bound = 0;
	CHECK(take(&one) == -1 && bound == 0);
	refuse = false;
	CHECK(take(&other) == 0);
}

static void what_cannot_be_bound_is_free_for_others(void)
{
	CU_ASSERT_EQUAL(in_child("", refused, NULL), 0);
}

static void sizes(const void *unused)
{
	struct runner caller = runner(1000, 500, 1499), thread = caller, single = runner(0, 1, 0);
	struct runner beyond = runner(0, 8, SB_PROCESSORS_MOST + 5);

	(void)unused;
	bound = 0;
	CHECK(take(&single) == -1 && bound == 0);
	as(&caller, sb_seats_arrive);
	CHECK(take(&thread) == 1000);
	give(&thread);
	thread = runner(0, SB_PROCESSORS_MOST, SB_PROCESSORS_MOST - 1);
	CHECK(take(&thread) == SB_PROCESSORS_MOST - 1);
	bound = 0;
	CHECK(take(&beyond) == -1 && bound == 0);
	as(&caller, sb_seats_depart);
	as(&beyond, sb_seats_arrive);
	as(&beyond, sb_seats_depart);
}

static void however_many_processors_there_are(void)
{
	CU_ASSERT_EQUAL(in_child("", sizes, NULL), 0);
}

static void forked(const void *unused)
{
	struct runner caller = runner(0, 2, 0), thread = runner(0, 2, 1), other = thread;

	(void)unused;
	as(&caller, sb_seats_arrive);
	CHECK(take(&thread) == 1);
	sb_seats_enter_child();
	as(&caller, sb_seats_depart);
	thread = runner(0, 2, 0);
	CHECK(take(&other) == 1 && take(&thread) == 0);
}

static void a_child_of_fork_begins_with_none(void)
{
	CU_ASSERT_EQUAL(in_child("", forked, NULL), 0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"each has one of its own", each_has_one_of_its_own},
		{"a caller who moves is left alone", a_caller_who_moves_is_left_alone},
		{"callers are counted", callers_are_counted},
		{"an affinity set from outside holds", an_affinity_set_from_outside_holds},
		{"what cannot be bound is free for others",
		 what_cannot_be_bound_is_free_for_others},
		{"however many processors there are", however_many_processors_there_are},
		{"a child of fork begins with none", a_child_of_fork_begins_with_none},
	};

	return SUITE("seats", tests);
}
