/* SPDX-License-Identifier: BSD-3-Clause */
#include "threads.h"

#include <sched.h>

int sb_threads_backend(void)
{
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof mask, &mask) != 0)
		return 1;
	return CPU_COUNT(&mask) > 0 ? CPU_COUNT(&mask) : 1;
}
