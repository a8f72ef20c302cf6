/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy_threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "process.h"
#include "seats.h"
#include "settings.h"
#include "threads.h"

#define MOST	     128
#define QUEUE	     1024
#define STACK	     ((size_t)256 << 10)
#define WAKE_AT_ONCE 2 /* each of them wakes as many */
#define LOOK_OUT     60e-6
#define BURST	     500000000 /* ns without work, after which it is over */

/* A piece in a queue: valid while its number is at least `next`. */
struct place {
	_Atomic(struct sb_copy_job *) job;
	atomic_size_t piece;
};

/* Numbers of pieces only grow. Those from next to published are waiting. */
struct queue {
	_Alignas(64) atomic_size_t next;
	_Alignas(64) atomic_size_t published;
	struct place places[QUEUE];
};

static struct queue queues[SB_COPY_RANKS];
static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wish = 16; /* threads fill a fast wire, the caller being one */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static atomic_int made = -1; /* threads; -1: not tried in this process */
static atomic_int openings;
static atomic_uint bell; /* what sleepers sleep on */
static atomic_int sleepers, alive;
static atomic_int to_wake; /* by the threads that an opening woke */

static bool waiting(void)
{
	for (int rank = 0; rank < SB_COPY_RANKS; rank++)
		if (atomic_load(&queues[rank].next) < atomic_load(&queues[rank].published))
			return true;
	return false;
}

/* Takes the oldest piece of a queue: read first and then claimed, so that what was read held. */
static bool take(struct queue *queue, struct sb_copy_job **job, size_t *piece)
{
	size_t number = atomic_load_explicit(&queue->next, memory_order_acquire);

	while (number < atomic_load_explicit(&queue->published, memory_order_acquire)) {
		struct place *place = &queue->places[number % QUEUE];

		*job = atomic_load_explicit(&place->job, memory_order_relaxed);
		*piece = atomic_load_explicit(&place->piece, memory_order_relaxed);
		if (atomic_compare_exchange_weak(&queue->next, &number, number + 1))
			return true;
	}
	return false;
}

/* Does a piece of a rank. */
static bool do_of(int rank)
{
	struct sb_copy_job *job;
	size_t piece;

	if (!take(&queues[rank], &job, &piece))
		return false;
	job->work(job->context, piece);
	atomic_fetch_sub_explicit(&job->left, 1, memory_order_release);
	return true;
}

/* Does a piece of one of the first `ranks` ranks. */
static bool do_one(int ranks)
{
	for (int rank = 0; rank < ranks; rank++)
		if (do_of(rank))
			return true;
	return false;
}

bool sb_copy_threads_help(void)
{
	sb_seats_move();
	return do_one(SB_COPY_PAGES);
}

bool sb_copy_threads_done(struct sb_copy_job *job)
{
	return atomic_load_explicit(&job->left, memory_order_acquire) == 0;
}

void sb_copy_threads_finish(struct sb_copy_job *job)
{
	while (!sb_copy_threads_done(job)) {
		sb_seats_move();
		if (!do_one(SB_COPY_RANKS))
			sched_yield();
	}
}

static void ring(int most)
{
	if (atomic_load(&sleepers) == 0)
		return;
	atomic_fetch_add(&bell, 1);
	syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

bool sb_copy_threads_submit(struct sb_copy_job *job, enum sb_copy_rank rank)
{
	struct queue *queue = &queues[rank];
	size_t first;
	bool room;

	atomic_store_explicit(&job->left, job->pieces, memory_order_relaxed);
	pthread_mutex_lock(&submitting);
	first = atomic_load_explicit(&queue->published, memory_order_relaxed);
	room = first + job->pieces - atomic_load(&queue->next) <= QUEUE;
	for (size_t i = 0; room && i < job->pieces; i++) {
		struct place *place = &queue->places[(first + i) % QUEUE];

		atomic_store_explicit(&place->job, job, memory_order_relaxed);
		atomic_store_explicit(&place->piece, i, memory_order_relaxed);
	}
	if (room)
		atomic_store(&queue->published, first + job->pieces);
	pthread_mutex_unlock(&submitting);
	if (room)
		ring(WAKE_AT_ONCE);
	return room;
}

/* Until there is work, or there has been none for a while. */
static void look_out(void)
{
	double end = 0;

	while (atomic_load(&openings) > 0 && !waiting()) {
		for (int i = 0; i < 16; i++)
			sb_process_relax();
		if (end == 0)
			end = sb_clock_now() + LOOK_OUT;
		else if (sb_clock_now() > end)
			return;
	}
}

static bool wait_for_bell(unsigned before, const struct timespec *longest)
{
	return syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, before, longest, NULL, 0) == 0 ||
	       errno != ETIMEDOUT;
}

/*
 * An idle library binds nothing: after a burst the seat is given back, asleep as before. To find
 * one again takes milliseconds beside threads that spin, so between the calls of a program it is
 * kept.
 */
static void sleep_until_rung(struct sb_seat *seat)
{
	const struct timespec burst = {.tv_nsec = BURST};
	unsigned before = atomic_load(&bell);

	/* Either the submitter sees a sleeper, or the sleeper sees the work. */
	atomic_fetch_add(&sleepers, 1);
	if (!waiting() && (seat->claimed < 0 || !wait_for_bell(before, &burst))) {
		sb_seats_give(seat);
		(void)wait_for_bell(before, NULL);
	}
	atomic_fetch_sub(&sleepers, 1);
}

/*
 * Every fourth thread looks for pages first. Where nobody did before the first block of a fresh C
 * comes home, all who write it would ask for the same huge page, and each clear one.
 */
static bool do_one_as(bool pages_first)
{
	return (pages_first && do_of(SB_COPY_PAGES)) || do_one(SB_COPY_RANKS);
}

static void *copy_for_ever(void *number)
{
	const bool pages_first = (uintptr_t)number % 4 == 3;
	struct sb_seat seat = SB_SEAT_NONE;

	sb_process_default_floating_point();
	pthread_setname_np(pthread_self(), "shimblas-copy");
	for (;;) {
		do
			sb_seats_take(&seat);
		while (do_one_as(pages_first));
		look_out();
		if (waiting())
			continue;
		sleep_until_rung(&seat);
		/* One call of the submitter's wakes two, these four, and so on. */
		if (waiting() || atomic_fetch_sub(&to_wake, 1) > 0)
			ring(WAKE_AT_ONCE);
	}
	return NULL;
}

void sb_copy_threads_wish(int threads)
{
	atomic_store(&wish, threads);
}

int sb_copy_threads_for(int threads, int devices, int processors)
{
	int most = processors / 4 * 3, wanted = threads * devices;

	if (wanted > most)
		wanted = most;
	return wanted > threads ? wanted : threads;
}

int sb_copy_threads_count(void)
{
	int64_t wanted = sb_settings()->threads;
	int processors = sb_threads_process(), wished = atomic_load(&wish);

	if (wanted == 0)
		wanted = processors < wished ? processors : wished;
	return (int)(wanted > MOST ? MOST : wanted) - 1;
}

static int make(int wanted)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	struct sb_processors processors;
	int count = 0;

	if (wanted <= 0 || pthread_attr_init(&attributes) != 0)
		return 0;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_attr_setstacksize(&attributes, STACK);
	if (sb_threads_process_mask(&processors))
		(void)pthread_attr_setaffinity_np(&attributes, sizeof processors.mask,
						  processors.mask);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; count < wanted; count++) {
		pthread_t thread;

		atomic_fetch_add(&alive, 1);
		if (pthread_create(&thread, &attributes, copy_for_ever, (void *)(uintptr_t)count) !=
		    0) {
			atomic_fetch_sub(&alive, 1);
			break;
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return count;
}

/* The threads of the parent are not here, nor is what they were at. */
static void enter_child(void)
{
	pthread_mutex_init(&submitting, NULL);
	pthread_mutex_init(&making, NULL);
	for (int rank = 0; rank < SB_COPY_RANKS; rank++)
		atomic_store(&queues[rank].next, atomic_load(&queues[rank].published));
	atomic_store(&openings, 0);
	atomic_store(&sleepers, 0);
	atomic_store(&alive, 0);
	sb_seats_enter_child();
	made = -1;
}

static void watch_fork(void)
{
	pthread_atfork(NULL, NULL, enter_child);
}

void sb_copy_threads_open(void)
{
	pthread_once(&once, watch_fork);
	sb_seats_arrive();
	atomic_fetch_add(&openings, 1);
	pthread_mutex_lock(&making);
	if (made < 0)
		made = make(sb_copy_threads_count());
	atomic_store(&to_wake, made);
	pthread_mutex_unlock(&making);
	ring(WAKE_AT_ONCE);
}

void sb_copy_threads_close(void)
{
	atomic_fetch_sub(&openings, 1);
	sb_seats_depart();
}

int sb_copy_threads_made(void)
{
	return made > 0 ? made : 0;
}

int sb_copy_threads_awake(void)
{
	return atomic_load(&alive) - atomic_load(&sleepers);
}
