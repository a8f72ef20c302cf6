/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVBLAS, to be measured beside us. It works by being preloaded and reads a configuration file when
 * it is, so a child of its own is started with both, which measures the sgemm_ it finds (`bench
 * --scope`) over the same list of products.
 */
#ifndef SB_PEER_NVBLAS_H
#define SB_PEER_NVBLAS_H

#include "bench.h"

/* As it is shipped, and with the one setting that most improves it, NVBLAS_AUTOPIN_MEM_ENABLED. */
enum sb_peer_kind { SB_PEER_AS_SHIPPED, SB_PEER_PINNING, SB_PEER_KINDS };

/*
 * Measures. `beside` is the path of a library in whose folder NVBLAS is looked for, or NULL; `cpu`
 * is the BLAS that it is told to use for what it leaves alone. The library's path, or a sentence
 * that says why it was not measured.
 */
const char *sb_peer_nvblas_open(struct sb_bench *bench, const char *beside, const char *cpu);

/* The seconds it took for a row of the bench's shapes; negative where it was not measured. */
double sb_peer_nvblas(enum sb_peer_kind kind, enum sb_bench_memory memory, int row);

#endif
