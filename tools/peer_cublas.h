/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuBLAS and cublasXt, to be measured beside our kernels: opened if they are there, never linked.
 * They are set up for plain single precision, as they come.
 */
#ifndef SB_PEER_CUBLAS_H
#define SB_PEER_CUBLAS_H

#include "bench_time.h"
#include "cuda_types.h"

/* Opens the library once. Its path, or a sentence that says why there is none. */
const char *sb_peer_cublas_open(void);
/* The path, or NULL where there is none. */
const char *sb_peer_cublas_path(void);

/*
 * Queues a product of operands on the device, in the current context, on a stream: C = op(A) op(B).
 * False if cuBLAS cannot.
 */
bool sb_peer_cublas(const struct sb_bench_product *product, sb_cu_deviceptr a, sb_cu_deviceptr b,
		    sb_cu_deviceptr c, sb_cu_stream stream);

/*
 * The median of cublasXt's seconds, operands in host memory, on the first device, with the block
 * size that serves it best. Negative if it cannot.
 */
double sb_peer_cublasxt(struct sb_bench_pace pace, const struct sb_bench_product *product);

#endif
