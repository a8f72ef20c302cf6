/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 1: how many processors this process may use. */
#ifndef SB_THREADS_H
#define SB_THREADS_H

#include <sched.h>
#include <stdbool.h>

/* The kernel refuses a mask smaller than its own; none that there is has more than these. */
#define SB_PROCESSORS_MOST (1 << 13)
struct sb_processors {
	cpu_set_t mask[SB_PROCESSORS_MOST / CPU_SETSIZE];
};

/*
 * Threads a CPU GEMM will have that does not say so itself: the processors in the calling thread's
 * mask, or OMP_NUM_THREADS if that is fewer; at least 1.
 */
int sb_threads_backend(void);

/*
 * The processors on which any thread of the process may run: one that has bound itself to a core
 * says nothing about the others. False if the system does not tell.
 */
bool sb_threads_process_mask(struct sb_processors *all);

/*
 * Processors that the process has to itself: those of its mask, within the quota of its control
 * group and of each group above it, rounded up; at least 1.
 */
int sb_threads_process(void);

/*
 * The least quota, in processors, of a control group and those above it, 0 if there is none:
 * cpu.max of version 2, or cpu.cfs_quota_us and cpu.cfs_period_us of version 1.
 */
double sb_threads_quota(const char *root, const char *group);

/*
 * The group that the text of /proc/PID/cgroup names for a controller of version 1, or for version 2
 * ("" as the controller); NULL if it names none. The text is cut at the end of the group.
 */
const char *sb_threads_group(char *text, const char *controller);

#endif
