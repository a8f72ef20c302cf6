/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: threads that copy, beside the thread that made the call.
 *
 * A job is a number of pieces, each done once, by any thread and in any order. Jobs wait in one
 * queue a rank, and a thread that looks for work takes the oldest piece of the first rank that has
 * any; every fourth thread looks for pages before all else. The caller is one of them, through
 * sb_copy_threads_help(); with no other thread at all he does everything.
 *
 * The threads are made when copying is opened for the first time in a process, with the processors
 * of the process (not of the caller, who may be bound to one), the default floating-point
 * environment and all signals blocked. While copying is open a thread without work looks out for it
 * a few microseconds and then sleeps; while it is closed all sleep. They make no call of CUDA. A
 * child of fork has none of them, and makes its own.
 *
 * While there is work each keeps to a processor that no other of them and no caller has, where
 * there are so many (seats.h); who has slept for half a second is bound to none.
 */
#ifndef SB_COPY_THREADS_H
#define SB_COPY_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum sb_copy_rank {
	SB_COPY_UP,    /* for the wire to the device, which waits for it */
	SB_COPY_DOWN,  /* from the wire */
	SB_COPY_PAGES, /* first for a few, last for the others */
	SB_COPY_RANKS
};

struct sb_copy_job {
	void (*work)(void *context, size_t piece);
	void *context;
	size_t pieces;	    /* a thousand at most */
	atomic_size_t left; /* pieces that are not finished */
};

/*
 * Threads there are or, before the first opening, would be: SHIMBLAS_THREADS, else what has been
 * wished for within the processors of the process and the quota of its control group; less the
 * caller.
 */
int sb_copy_threads_count(void);
/* The profile's wish, the caller being one; before the first opening, else it comes too late. */
void sb_copy_threads_wish(int threads);
/*
 * What to wish for where one device wants `threads`: several want as many each, but no more than
 * three in four of the processors, which is what their wires and the host's memory can use.
 */
int sb_copy_threads_for(int threads, int devices, int processors);

/*
 * Between open and close, by the same thread, the threads look out for work. Callers that overlap
 * are counted.
 */
void sb_copy_threads_open(void);
void sb_copy_threads_close(void);

/*
 * Queues a job, whose first three members are set. It belongs to the queue until it is done. False:
 * the queue of that rank is full, and nothing was taken.
 */
bool sb_copy_threads_submit(struct sb_copy_job *job, enum sb_copy_rank rank);
bool sb_copy_threads_done(struct sb_copy_job *job);

/* The calling thread does one piece, not of rank PAGES; false if none is waiting. */
bool sb_copy_threads_help(void);

/* Threads that were made in this process so far. */
int sb_copy_threads_made(void);

/* Does pieces of whatever is waiting until the job is done. */
void sb_copy_threads_finish(struct sb_copy_job *job);

/* Threads that are looking out for work or doing it, not asleep. */
int sb_copy_threads_awake(void);

#endif
