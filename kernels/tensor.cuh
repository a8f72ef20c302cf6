/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels on the tensor cores do beyond device.cuh: clusters of two blocks, copies of whole
 * pieces of memory, products of a warpgroup or a warp, 16-bit floats, registers handed from one
 * warpgroup to another. Each is a small inline function that compiles to the bare instruction;
 * compiled by a host compiler the same names come from exact_tensor.h.
 *
 * Warpgroup products (sm_90a alone) read 16-bit operands from pieces in shared memory: rows of k,
 * each of 64 neighbours along i or j (128 bytes), whose eight 16-byte chunks lie at chunk ^ (k %
 * 8); a piece begins on 1024 bytes. They are asynchronous: between the fence and the wait the
 * accumulators are the tensor core's, and what they read must not change.
 */
#ifndef SB_TENSOR_CUH
#define SB_TENSOR_CUH

#include "device.cuh"

struct alignas(8) sb_words2 {
	uint32_t x[2];
};

struct alignas(16) sb_words4 {
	uint32_t x[4];
};

#ifndef __CUDACC__
#include "exact_tensor.h"
#else

/* A kernel of clusters of two blocks, side by side in the grid. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define SB_GLOBAL_PAIRS(threads, name, args_type)                                                  \
	extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(threads, 1)         \
		name(const __grid_constant__ args_type args)
#else
#define SB_GLOBAL_PAIRS(threads, name, args_type) SB_GLOBAL(threads, 1, name, args_type)
#endif

SB_DEVICE unsigned sb_shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

/* The warp's number, in a form that the compiler knows to be the same for all of the warp: by all
 * of its lanes. */
SB_DEVICE int sb_warp()
{
	return __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
}

/* sb_thread(), which the compiler then does not keep in a register from one use to the next. */
SB_DEVICE int sb_thread_anew()
{
	int thread;

	asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
	return thread;
}

/* Bits and values. */

SB_DEVICE uint32_t sb_float_bits(float value)
{
	return __float_as_uint(value);
}

SB_DEVICE float sb_bits_float(uint32_t bits)
{
	return __uint_as_float(bits);
}

/* Those of a difference: 0x7fffffff where it is NaN. */
SB_DEVICE uint32_t sb_result_bits(float value)
{
	return __float_as_uint(value);
}

/* The upper halves of two words; that of `low` comes first in memory. */
SB_DEVICE uint32_t sb_upper_halves(uint32_t low, uint32_t high)
{
	return __byte_perm(low, high, 0x7632);
}

/* What a part of a value leaves of it; where that is no number, the one NaN 0x7fffffff. */
SB_DEVICE float sb_rest(float value, float part)
{
	return __fadd_rn(value, -part);
}

/* To the nearest fp16 or bf16, and back. */
SB_DEVICE uint16_t sb_half_bits(float value)
{
	uint16_t bits;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
	return bits;
}

SB_DEVICE float sb_half_value(uint16_t bits)
{
	float value;

	asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
	return value;
}

SB_DEVICE uint16_t sb_bf16_bits(float value)
{
	uint16_t bits;

	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
	return bits;
}

SB_DEVICE float sb_bf16_value(uint16_t bits)
{
	return __uint_as_float((uint32_t)bits << 16);
}

/* Two at once; `low` comes first in memory. */
SB_DEVICE uint32_t sb_half_pair(float low, float high)
{
	uint32_t pair;

	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
	return pair;
}

SB_DEVICE uint32_t sb_bf16_pair(float low, float high)
{
	uint32_t pair;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
	return pair;
}

/* Memory by the word. */

SB_DEVICE int32_t sb_load_int(const int32_t *p)
{
	return *p;
}

SB_DEVICE void sb_store_int(int32_t *p, int32_t value)
{
	*p = value;
}

SB_DEVICE uint32_t sb_load_flags(const uint32_t *p)
{
	return *p;
}

/* Raises bits that other blocks may be raising too. */
SB_DEVICE void sb_raise_flags(uint32_t *p, uint32_t bits)
{
	atomicOr(p, bits);
}

SB_DEVICE void sb_store_half(uint16_t *p, uint16_t value)
{
	*p = value;
}

/* Four 16-bit elements; p is aligned to 8 bytes. */
SB_DEVICE void sb_store_words2(uint16_t *p, const sb_words2 &value)
{
	*reinterpret_cast<uint2 *>(p) = make_uint2(value.x[0], value.x[1]);
}

template <int rows, int columns>
SB_DEVICE int32_t sb_get_int(const int32_t (&array)[rows][columns], int row, int column)
{
	return array[row][column];
}

template <int rows, int columns>
SB_DEVICE void sb_put_int(int32_t (&array)[rows][columns], int row, int column, int32_t value)
{
	array[row][column] = value;
}

/* Two from a column that is a multiple of 2. */
template <int rows, int columns>
SB_DEVICE sb_words2 sb_get_words2(const int32_t (&array)[rows][columns], int row, int column)
{
	uint2 v = *reinterpret_cast<const uint2 *>(&array[row][column]);

	return {{v.x, v.y}};
}

/* Four 16-bit elements at a column that is a multiple of 4, eight at one that is a multiple of 8.
 */
template <int rows, int columns>
SB_DEVICE void sb_put_words2(uint16_t (&array)[rows][columns], int row, int column,
			     const sb_words2 &value)
{
	*reinterpret_cast<uint2 *>(&array[row][column]) = make_uint2(value.x[0], value.x[1]);
}

template <int rows, int columns>
SB_DEVICE void sb_put_words4(uint16_t (&array)[rows][columns], int row, int column,
			     const sb_words4 &value)
{
	*reinterpret_cast<uint4 *>(&array[row][column]) =
		make_uint4(value.x[0], value.x[1], value.x[2], value.x[3]);
}

/* By a whole warp: the value of the lane whose number differs in these bits. */
SB_DEVICE float sb_shuffle_xor(float value, int mask)
{
	return __shfl_xor_sync(0xffffffffu, value, mask);
}

SB_DEVICE int32_t sb_shuffle_xor(int32_t value, int mask)
{
	return __shfl_xor_sync(0xffffffffu, value, mask);
}

/* Whether any thread of the warp says so. */
SB_DEVICE bool sb_warp_any(bool said)
{
	return __any_sync(0xffffffffu, said);
}

/* Clusters: sm_90 and later. */

SB_DEVICE int sb_cluster_rank()
{
	unsigned rank;

	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return (int)rank;
}

/* By all threads of the cluster. */
SB_DEVICE void sb_cluster_barrier()
{
	asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
		     "barrier.cluster.wait.acquire.aligned;" ::
			     : "memory");
}

/* An arrival at the same barrier of the cluster's block number `rank`. */
SB_DEVICE void sb_copy_barrier_arrive_at(uint64_t &barrier, int rank)
{
	asm volatile("{\n\t"
		     ".reg .b32 there;\n\t"
		     "mapa.shared::cluster.u32 there, %0, %1;\n\t"
		     "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t"
		     "}" ::"r"(sb_shared_address(&barrier)),
		     "r"(rank)
		     : "memory");
}

/* Starts copying `bytes` from global to shared memory, both aligned to 16 and so are the bytes. */
SB_DEVICE void sb_copy_piece(void *to, const void *from, unsigned bytes, uint64_t &barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		     "[%0], [%1], %2, [%3];" ::"r"(sb_shared_address(to)),
		     "l"(from), "r"(bytes), "r"(sb_shared_address(&barrier))
		     : "memory");
}

/* The same into each block of the cluster whose bit is set, at the same place, with its own
 * barrier. */
SB_DEVICE void sb_copy_piece_to_all(void *to, const void *from, unsigned bytes, uint64_t &barrier,
				    unsigned mask)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
		     ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(sb_shared_address(to)),
		     "l"(from), "r"(bytes), "r"(sb_shared_address(&barrier)), "h"((uint16_t)mask)
		     : "memory");
}

/* Barriers of a part of the block, numbered from 1 to 15; `threads` of them meet. */
SB_DEVICE void sb_group_barrier(int id, int threads)
{
	asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* By each thread that has stored to shared memory, before the barrier with those whose products
 * read it. */
SB_DEVICE void sb_tensor_fence()
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Products of a warp: sm_80 and later. */

/* d += a * b, 16 x 8 x 16, the fragments as the instruction wants them. */
SB_DEVICE void sb_mma_sync_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
		     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Four 8 x 8 matrices of 16-bit elements; lane l names row l % 8 of matrix l / 8. */
SB_DEVICE void sb_load_matrix4(uint32_t (&to)[4], const uint16_t *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(sb_shared_address(row))
		     : "memory");
}

/* Each matrix transposed. */
SB_DEVICE void sb_load_matrix4_across(uint32_t (&to)[4], const uint16_t *row)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
		     : "r"(sb_shared_address(row))
		     : "memory");
}

#include "warpgroup.cuh"
#endif
#endif
