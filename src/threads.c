/* SPDX-License-Identifier: BSD-3-Clause */
#include "threads.h"

#include <sched.h>

/* The kernel refuses a mask smaller than its own; none that there is has more than these. */
enum { MOST = 1 << 13 };

int sb_threads_backend(void)
{
	cpu_set_t mask[MOST / CPU_SETSIZE];
	int count;

	if (sched_getaffinity(0, sizeof mask, mask) != 0)
		return 1;
	count = CPU_COUNT_S(sizeof mask, mask);
	return count > 0 ? count : 1;
}
