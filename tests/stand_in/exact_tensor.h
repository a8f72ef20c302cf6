/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host version of kernels/tensor.cuh and warpgroup.cuh: the same names. A product's operands
 * are pointers here, and accesses know their source line through default arguments.
 */
#ifndef SB_EXACT_TENSOR_H
#define SB_EXACT_TENSOR_H

#include <cstring>
#include "tensor_core.h"
#include "exact_calls.h"

/* The engine asks whether there is this constant: then it runs the kernel's blocks by twos. */
#define SB_GLOBAL_PAIRS(threads, name, args_type)                                                  \
	extern "C" const unsigned name##_pairs = 2;                                                \
	extern "C" void name(const args_type args)

/* By all lanes, which must meet here. */
static inline int sb_warp()
{
	(void)sb_exact_warp_any(false);
	return sb_exact_now.thread / 32;
}

static inline int sb_thread_anew()
{
	return sb_thread();
}

static inline uint32_t sb_float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline float sb_bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline uint32_t sb_result_bits(float value)
{
	return value == value ? sb_float_bits(value) : 0x7fffffffu;
}

static inline uint32_t sb_upper_halves(uint32_t low, uint32_t high)
{
	return low >> 16 | (high & 0xffff0000u);
}

static inline float sb_rest(float value, float part)
{
	float rest = value - part;

	return rest == rest ? rest : sb_bits_float(0x7fffffff);
}

static inline uint16_t sb_half_bits(float value)
{
	return sb_core_round(SB_CORE_FP16, value);
}

static inline float sb_half_value(uint16_t bits)
{
	return sb_core_value(SB_CORE_FP16, bits);
}

static inline uint16_t sb_bf16_bits(float value)
{
	return sb_core_round(SB_CORE_BF16, value);
}

static inline float sb_bf16_value(uint16_t bits)
{
	return sb_bits_float((uint32_t)bits << 16);
}

static inline uint32_t sb_half_pair(float low, float high)
{
	return sb_half_bits(low) | (uint32_t)sb_half_bits(high) << 16;
}

static inline uint32_t sb_bf16_pair(float low, float high)
{
	return sb_bf16_bits(low) | (uint32_t)sb_bf16_bits(high) << 16;
}

static inline int32_t sb_load_int(const int32_t *p, SB_HERE)
{
	sb_exact_global(p, 4, false, line);
	return *p;
}

static inline void sb_store_int(int32_t *p, int32_t value, SB_HERE)
{
	sb_exact_global(p, 4, true, line);
	*p = value;
}

static inline uint32_t sb_load_flags(const uint32_t *p, SB_HERE)
{
	sb_exact_global(p, 4, false, line);
	return *p;
}

static inline void sb_raise_flags(uint32_t *p, uint32_t bits, SB_HERE)
{
	sb_exact_global(p, 4, true, line);
	*p |= bits;
}

static inline void sb_store_half(uint16_t *p, uint16_t value, SB_HERE)
{
	sb_exact_global(p, 2, true, line);
	*p = value;
}

static inline void sb_store_words2(uint16_t *p, const sb_words2 &value, SB_HERE)
{
	sb_exact_global(p, 8, true, line);
	memcpy(p, value.x, sizeof value.x);
}

template <int rows, int columns>
static inline int32_t sb_get_int(const int32_t (&array)[rows][columns], int row, int column,
				 SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 1, line);
	sb_exact_shared(&array[row][column], 4, false, line);
	return array[row][column];
}

template <int rows, int columns>
static inline void sb_put_int(int32_t (&array)[rows][columns], int row, int column, int32_t value,
			      SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 1, line);
	sb_exact_shared(&array[row][column], 4, true, line);
	array[row][column] = value;
}

template <int rows, int columns>
static inline sb_words2 sb_get_words2(const int32_t (&array)[rows][columns], int row, int column,
				      SB_HERE)
{
	sb_words2 value;

	sb_exact_extent(row, rows, column, columns, 2, line);
	sb_exact_shared(&array[row][column], 8, false, line);
	memcpy(value.x, &array[row][column], sizeof value.x);
	return value;
}

template <int rows, int columns>
static inline void sb_put_words2(uint16_t (&array)[rows][columns], int row, int column,
				 const sb_words2 &value, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 4, line);
	sb_exact_shared(&array[row][column], 8, true, line);
	memcpy(&array[row][column], value.x, sizeof value.x);
}

template <int rows, int columns>
static inline void sb_put_words4(uint16_t (&array)[rows][columns], int row, int column,
				 const sb_words4 &value, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 8, line);
	sb_exact_shared(&array[row][column], 16, true, line);
	memcpy(&array[row][column], value.x, sizeof value.x);
}

static inline float sb_shuffle_xor(float value, int mask, SB_HERE)
{
	return sb_bits_float(sb_exact_shuffle_xor(sb_float_bits(value), mask, line));
}

static inline int32_t sb_shuffle_xor(int32_t value, int mask, SB_HERE)
{
	return (int32_t)sb_exact_shuffle_xor((uint32_t)value, mask, line);
}

static inline bool sb_warp_any(bool said)
{
	return sb_exact_warp_any(said);
}

static inline int sb_cluster_rank()
{
	return sb_exact_now.rank;
}

static inline void sb_cluster_barrier()
{
	sb_exact_cluster_barrier();
}

static inline void sb_copy_barrier_arrive_at(uint64_t &barrier, int rank, SB_HERE)
{
	sb_exact_copy_arrive_at(&barrier, rank, line);
}

static inline void sb_copy_piece(void *to, const void *from, unsigned bytes, uint64_t &barrier,
				 SB_HERE)
{
	sb_exact_copy_piece(to, from, bytes, &barrier, 1u << sb_exact_now.rank, line);
}

static inline void sb_copy_piece_to_all(void *to, const void *from, unsigned bytes,
					uint64_t &barrier, unsigned mask, SB_HERE)
{
	sb_exact_copy_piece(to, from, bytes, &barrier, mask, line);
}

static inline void sb_group_barrier(int id, int threads, SB_HERE)
{
	sb_exact_group_barrier(id, threads, line);
}

static inline void sb_tensor_fence()
{
	sb_exact_tensor_fence();
}

static inline void sb_mma_sync_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
	sb_exact_mma_sync(true, d, a, b);
}

static inline void sb_load_matrix4(uint32_t (&to)[4], const uint16_t *row, SB_HERE)
{
	sb_exact_load_matrix4(to, row, false, line);
}

static inline void sb_load_matrix4_across(uint32_t (&to)[4], const uint16_t *row, SB_HERE)
{
	sb_exact_load_matrix4(to, row, true, line);
}

template <int count> static inline void sb_registers_more(SB_HERE)
{
	sb_exact_registers(count, true, line);
}

template <int count> static inline void sb_registers_less(SB_HERE)
{
	sb_exact_registers(count, false, line);
}

struct sb_mma_tile {
	const uint16_t *piece;
	unsigned panel_bytes;
};

static inline sb_mma_tile sb_mma_at(const uint16_t *piece, unsigned panel_bytes)
{
	return {piece, panel_bytes};
}

static inline sb_mma_tile sb_mma_further(sb_mma_tile tile, int rows)
{
	return {tile.piece + rows * 64, tile.panel_bytes};
}

static inline void sb_mma_fence()
{
	sb_exact_product_fence();
}

static inline void sb_mma_commit()
{
	sb_exact_product_commit();
}

template <int left> static inline void sb_mma_wait(SB_HERE)
{
	sb_exact_product_wait(left, line);
}

template <int count> static inline void sb_mma_hold(float (&d)[count], SB_HERE)
{
	sb_exact_product_hold(d, count, line);
}

template <int N>
static inline void sb_mma_fp16(float (&d)[N / 2], sb_mma_tile a, sb_mma_tile b, bool add, SB_HERE)
{
	static_assert(N % 8 == 0 && N <= 256, "");
	sb_exact_product_ask(false, d, N, a.piece, b.piece, b.panel_bytes, add, line);
}

template <int N>
static inline void sb_mma_bf16(float (&d)[N / 2], sb_mma_tile a, sb_mma_tile b, bool add, SB_HERE)
{
	static_assert(N % 8 == 0 && N <= 256, "");
	sb_exact_product_ask(true, d, N, a.piece, b.piece, b.panel_bytes, add, line);
}

template <int N>
static inline void sb_mma_bf16(float (&d)[N / 2], const sb_words4 &a, sb_mma_tile b, bool add,
			       SB_HERE)
{
	static_assert(N % 8 == 0 && N <= 256, "");
	sb_exact_product_ask_rows(true, d, N, a.x, b.piece, b.panel_bytes, add, line);
}

#endif
