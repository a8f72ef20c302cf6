/* SPDX-License-Identifier: BSD-3-Clause */
/* What exact_tensor.h asks of the engine, by the running fiber. */
#ifndef SB_EXACT_CALLS_H
#define SB_EXACT_CALLS_H

#include "exact_device.h"

#include <cstdint>

/* exact.cc */
void sb_exact_cluster_barrier(void);
void sb_exact_group_barrier(int id, int threads, sb_exact_line line);
void sb_exact_registers(unsigned count, bool more, sb_exact_line line);

/* exact_copy.cc: to each block of the cluster whose bit of the mask is set. */
void sb_exact_copy_arrive_at(uint64_t *barrier, int rank, sb_exact_line line);
void sb_exact_copy_piece(void *to, const void *from, unsigned bytes, uint64_t *barrier,
			 unsigned mask, sb_exact_line line);

/* exact_product.cc */
void sb_exact_tensor_fence(void);
void sb_exact_product_fence(void);
void sb_exact_product_ask(int bf16, float *d, int columns, const uint16_t *a, const uint16_t *b,
			  unsigned panel_bytes, bool add, sb_exact_line line);
/* The rows' operand is in the threads' registers: four words of each. */
void sb_exact_product_ask_rows(int bf16, float *d, int columns, const uint32_t *a,
			       const uint16_t *b, unsigned panel_bytes, bool add,
			       sb_exact_line line);
void sb_exact_product_commit(void);
void sb_exact_product_wait(unsigned left, sb_exact_line line);
void sb_exact_product_hold(float *d, unsigned count, sb_exact_line line);

/* exact_warp.cc: all lanes must call the same. */
uint32_t sb_exact_shuffle_xor(uint32_t value, int mask, sb_exact_line line);
bool sb_exact_warp_any(bool said);
void sb_exact_load_matrix4(uint32_t *to, const uint16_t *row, bool across, sb_exact_line line);
void sb_exact_mma_sync(int bf16, float *d, const uint32_t *a, const uint32_t *b);

#endif
