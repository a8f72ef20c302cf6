/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 1: how many processors this process may use. */
#ifndef SB_THREADS_H
#define SB_THREADS_H

/* Threads a CPU GEMM will have: the processors in the calling thread's mask, at least 1. */
int sb_threads_backend(void);

#endif
