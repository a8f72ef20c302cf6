/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 1: this process: what happens once in it, fork, depth, and what a call must leave as found.
 */
#ifndef SB_PROCESS_H
#define SB_PROCESS_H

#include <stdbool.h>

/* Done at the first call of the process, and not before: reads the settings, watches fork. */
void sb_process_start(void);

/*
 * From the moment a start of CUDA begins the process is marked live; a child forked afterwards has
 * a CUDA that is dead and may not be touched, which sb_process_forked_live() tells it.
 */
void sb_process_mark_live(void);
bool sb_process_forked_live(void);
/* Was this process forked since the first call of its parent? */
bool sb_process_child(void);

/*
 * Enters a judged call: one that the GPU may answer. False if this thread is in one already (a
 * backend that calls another BLAS name of ours, a program's callback); then nothing was entered.
 *
 * Between enter and leave the thread has the default floating-point environment and cannot be
 * cancelled; leave puts back both, with errno, as they were.
 */
struct sb_as_found {
	int error, cancel_state;
	unsigned long floating_point;
};
bool sb_process_enter(struct sb_as_found *found);
void sb_process_leave(const struct sb_as_found *found);
bool sb_process_nested(void);

/*
 * Callers who have the backend at work on a judged call. Enter is false for one who is in already;
 * he who entered leaves. A thread that ends inside has left, and a child of fork has none.
 */
bool sb_process_join_callers(void);
void sb_process_part_from_callers(void);
/* How many of them are others than this thread. */
int sb_process_callers(void);

/* For threads of our own: the creator's floating-point environment may be the program's. */
void sb_process_default_floating_point(void);

/* A moment of a wait that keeps the processor. */
static inline void sb_process_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Can the CPU read where this points? Nothing is touched; errno stays. */
bool sb_process_reads(const void *address);

#endif
