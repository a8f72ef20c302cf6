/* SPDX-License-Identifier: BSD-3-Clause */
/* Each copy thread has a processor of its own while it works: on the machine there is. */
#include "child.h"

#include <sched.h>
#include <time.h>

#include "copy_threads.h"
#include "threads.h"

/* What a piece of work found about its thread. */
enum { PIECES = 60, THREADS = 16 };
static struct seen {
	pid_t thread;
	int processor;
	struct sb_processors mask;
} seen[PIECES];
static struct sb_processors whole;

static bool has(const struct sb_processors *set, int processor)
{
	return CPU_ISSET_S((size_t)processor, sizeof set->mask, set->mask);
}

static int size_of(const struct sb_processors *set)
{
	return CPU_COUNT_S(sizeof set->mask, set->mask);
}

static void look(void *context, size_t piece)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	(void)context;
	seen[piece].thread = gettid();
	seen[piece].processor = sched_getcpu();
	(void)sched_getaffinity(0, sizeof whole.mask, seen[piece].mask.mask);
	nanosleep(&moment, NULL);
}

/* All of it is done by the copy threads; the caller says where he is, and looks on. */
static void burst(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct sb_copy_job job = {look, NULL, PIECES, 0};

	CHECK(sb_copy_threads_submit(&job, SB_COPY_UP));
	while (!sb_copy_threads_done(&job))
		nanosleep(&moment, NULL);
}

static struct sb_processors only(int processor)
{
	struct sb_processors one;

	CPU_ZERO_S(sizeof one.mask, one.mask);
	CPU_SET_S((size_t)processor, sizeof one.mask, one.mask);
	return one;
}

/* The caller goes there; another of the whole if negative. */
static int go(int processor)
{
	struct sb_processors there;
	int now = sched_getcpu();

	for (int i = 0; processor < 0; i++)
		if (i != now && has(&whole, i))
			processor = i;
	there = only(processor);
	CHECK(sched_setaffinity(0, sizeof there.mask, there.mask) == 0);
	return processor;
}

/* Was a thread seen before, in this burst? */
static bool again(int piece)
{
	for (int i = 0; i < piece; i++)
		if (seen[i].thread == seen[piece].thread)
			return true;
	return false;
}

/* Pieces are taken in order, so that of one thread the first in the list is its first. */
static void check_seats(int caller)
{
	for (int i = 0; i < PIECES; i++) {
		if (!again(i))
			continue;
		CHECK(size_of(&seen[i].mask) == 1 && has(&seen[i].mask, seen[i].processor));
		CHECK(seen[i].processor != caller);
		for (int j = 0; j < i; j++)
			CHECK(seen[j].processor != seen[i].processor || !again(j) ||
			      seen[j].thread == seen[i].thread);
	}
}

/* All that were seen are, or become, bound to this alone. */
static void await_mask(const struct sb_processors *mask)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct sb_processors now;

	for (int i = 0; i < PIECES; i++)
		for (;; nanosleep(&moment, NULL)) {
			CHECK(sched_getaffinity(seen[i].thread, sizeof now.mask, now.mask) == 0);
			if (CPU_EQUAL_S(sizeof now.mask, now.mask, mask->mask))
				break;
		}
}

static void with_threads(const void *unused)
{
	int caller;
	pid_t child;

	(void)unused;
	sb_process_start();
	/* Its threads may run where those of the process may. */
	sb_copy_threads_open();
	caller = go(-1);
	(void)sb_copy_threads_help();
	burst();
	check_seats(caller);
	for (int i = 0; i < 4; i++) {
		caller = go(seen[PIECES - 1].processor);
		(void)sb_copy_threads_help();
		burst();
		check_seats(caller);
	}
	child = fork();
	if (child == 0) {
		CHECK(sched_setaffinity(0, sizeof whole.mask, whole.mask) == 0);
		sb_copy_threads_open();
		go(caller);
		(void)sb_copy_threads_help();
		burst();
		check_seats(caller);
		sb_copy_threads_close();
		exit(child_failures != 0);
	}
	CHECK(child_ended_well(child));
	await_mask(&whole);
	burst();
	check_seats(caller);
	sb_copy_threads_close();
	await_mask(&whole);
}

static void confined(const void *unused)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	struct sb_processors there;

	(void)unused;
	sb_process_start();
	sb_copy_threads_open();
	there = only(go(-1));
	(void)sb_copy_threads_help();
	burst();
	for (int i = 0; i < PIECES; i++)
		CHECK(sched_setaffinity(seen[i].thread, sizeof there.mask, there.mask) == 0);
	burst();
	for (int i = 0; i < PIECES; i++)
		CHECK(!again(i) || CPU_EQUAL_S(sizeof there.mask, seen[i].mask.mask, there.mask));
	sb_copy_threads_close();
	while (sb_copy_threads_awake() > 0)
		nanosleep(&pause, NULL);
	nanosleep(&pause, NULL);
	await_mask(&there);
}

static void run_here(void (*body)(const void *))
{
	char text[60];
	int count;

	if (!sb_threads_process_mask(&whole) || (count = size_of(&whole)) < 2) {
		(void)suite_skip("there is one processor");
		return;
	}
	snprintf(text, sizeof text, "SHIMBLAS_THREADS=%d", count < THREADS ? count : THREADS);
	CU_ASSERT_EQUAL(in_child(text, body, NULL), 0);
}

static void the_copy_threads_have_seats_while_they_work(void)
{
	run_here(with_threads);
}

static void the_copy_threads_stay_where_they_are_sent(void)
{
	run_here(confined);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"the copy threads have seats while they work",
		 the_copy_threads_have_seats_while_they_work},
		{"the copy threads stay where they are sent",
		 the_copy_threads_stay_where_they_are_sent},
	};

	return SUITE("copy seats", tests);
}
