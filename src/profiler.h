/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: ranges for a profiler that understands NVTX (NVIDIA Tools Extension, domain "ShimBLAS").
 * The profiler's library is loaded by NVTX at the first range, and only where the environment of
 * the process named one when the settings were read; a set-user-ID program has none. Without, or
 * built without NVTX's header, nothing happens here.
 */
#ifndef SB_PROFILER_H
#define SB_PROFILER_H

#include <stdbool.h>

/* Is there one? The others are to be called only then. */
bool sb_profiler_listens(void);

/* A range of this thread, inside those that it has not ended yet. The name is copied. */
void sb_profiler_begin(const char *name);
void sb_profiler_end(void);

#endif
