/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything a kernel does that is not plain C++: which thread it is, barriers, loads and stores,
 * the three rounded operations, asynchronous and bulk copies. Each is a small inline function that compiles to the
 * bare instruction for a device; compiled by a host compiler the same names come from
 * exact_device.h, where they check, count and switch fibers.
 *
 * A block's shared memory is one struct; its arrays are accessed by (array, row, column) so that
 * the extents travel with the access.
 */
#ifndef SB_DEVICE_CUH
#define SB_DEVICE_CUH

#include "args.h"

struct alignas(16) sb_float4 {
	float x[4];
};

#ifndef __CUDACC__
#include "exact_device.h"
#else

#define SB_DEVICE __device__ __forceinline__
#define SB_UNROLL _Pragma("unroll")
#define SB_ROLLED _Pragma("unroll 1")
#define SB_UNROLL_BY(count) _Pragma(SB_TEXT(unroll count))
#define SB_TEXT(...) #__VA_ARGS__
/* Threads that a multiprocessor holds at once, and the most bytes of shared memory of a block. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ / 10 == 100 ||                \
        __CUDA_ARCH__ / 10 == 103
#define SB_RESIDENT    2048
#define SB_SHARED_MOST 232448
#elif __CUDA_ARCH__ == 800
#define SB_RESIDENT    2048
#define SB_SHARED_MOST 166912
#elif __CUDA_ARCH__ == 750
#define SB_RESIDENT    1024
#define SB_SHARED_MOST 65536
#else
#define SB_RESIDENT    1536
#define SB_SHARED_MOST 101376
#endif
/*
 * Of the totals of a thread with 16x8 or 8x16 elements, how many fours its registers hold beside
 * the chains without the compiler spilling any; the others live in shared memory.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define SB_TOTALS_KEPT 12
#else
#define SB_TOTALS_KEPT 8
#endif
/* How many copies of an operand that is gathered are unrolled, again without a spill. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define SB_GATHER_UNROLL 2
#else
#define SB_GATHER_UNROLL 4
#endif
/* And how many steps of k where such an operand's tile is as large as any. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
#define SB_GATHER_STEPS 4
#else
#define SB_GATHER_STEPS 8
#endif
#define SB_BLOCKS(threads, blocks)                                                                 \
	((blocks) * (threads) <= SB_RESIDENT ? (blocks) : SB_RESIDENT / (threads))
#define SB_GLOBAL(threads, blocks, name, args_type)                                                \
	extern "C" __global__ void __launch_bounds__(threads, SB_BLOCKS(threads, blocks))               \
	        name(const __grid_constant__ args_type args)

/*
 * First of all: lets the launch behind this one be brought to the multiprocessors as soon as all
 * blocks of this one are there.
 */
SB_DEVICE void sb_lead()
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Then, in what may have been brought there so: waits until the launch before has ended and what
 * it wrote is seen. */
SB_DEVICE void sb_follow()
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

SB_DEVICE int sb_thread()
{
	return (int)threadIdx.x;
}

SB_DEVICE unsigned sb_block()
{
	return blockIdx.x;
}

/* How many blocks there are. */
SB_DEVICE unsigned sb_blocks()
{
	return gridDim.x;
}

SB_DEVICE void sb_barrier()
{
	__syncthreads();
}

SB_DEVICE void sb_warp_barrier()
{
	__syncwarp();
}

/* The block's shared memory as a T: static, or the launch's dynamic memory if dynamic > 0. */
template <typename T, int dynamic> SB_DEVICE T &sb_shared()
{
	if constexpr (dynamic > 0) {
		extern __shared__ __align__(1024) unsigned char sb_dynamic[];
		static_assert(sizeof(T) <= dynamic, "the table's dynamic bytes are too few");
		return *reinterpret_cast<T *>(sb_dynamic);
	} else {
		__shared__ T place;
		return place;
	}
}

SB_DEVICE float sb_fma(float a, float b, float c)
{
	return __fmaf_rn(a, b, c);
}

/*
 * Whether the architecture does two of those in one instruction, each rounded as it is alone. The
 * others above sm_100 take the pair too, but as two instructions.
 */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ / 10 == 100 || __CUDA_ARCH__ / 10 == 103)
#define SB_FMA_PAIRED 1
#else
#define SB_FMA_PAIRED 0
#endif

/* sums[e] = fma(a[e], b, sums[e]) for both. */
SB_DEVICE void sb_fma2(float (&sums)[2], const float (&a)[2], float b)
{
#if SB_FMA_PAIRED
	asm("{\n\t"
	    ".reg .b64 pair, twice, both;\n\t"
	    "mov.b64 pair, {%2, %3};\n\t"
	    "mov.b64 twice, {%4, %4};\n\t"
	    "mov.b64 both, {%0, %1};\n\t"
	    "fma.rn.f32x2 both, pair, twice, both;\n\t"
	    "mov.b64 {%0, %1}, both;\n\t"
	    "}"
	    : "+f"(sums[0]), "+f"(sums[1])
	    : "f"(a[0]), "f"(a[1]), "f"(b));
#else
	sums[0] = __fmaf_rn(a[0], b, sums[0]);
	sums[1] = __fmaf_rn(a[1], b, sums[1]);
#endif
}

SB_DEVICE float sb_mul(float a, float b)
{
	return __fmul_rn(a, b);
}

SB_DEVICE float sb_add(float a, float b)
{
	return __fadd_rn(a, b);
}

SB_DEVICE float sb_load(const float *p)
{
	return *p;
}

SB_DEVICE void sb_store(float *p, float value)
{
	*p = value;
}

/* Four floats; p is aligned to 16 bytes. */
SB_DEVICE sb_float4 sb_load4(const float *p)
{
	float4 v = *reinterpret_cast<const float4 *>(p);

	return {{v.x, v.y, v.z, v.w}};
}

SB_DEVICE void sb_store4(float *p, const sb_float4 &value)
{
	*reinterpret_cast<float4 *>(p) =
	        make_float4(value.x[0], value.x[1], value.x[2], value.x[3]);
}

template <int rows, int columns>
SB_DEVICE float sb_get(const float (&array)[rows][columns], int row, int column)
{
	return array[row][column];
}

template <int rows, int columns>
SB_DEVICE void sb_put(float (&array)[rows][columns], int row, int column, float value)
{
	array[row][column] = value;
}

/* Four floats from a column that is a multiple of 4. */
template <int rows, int columns>
SB_DEVICE sb_float4 sb_get4(const float (&array)[rows][columns], int row, int column)
{
	float4 v = *reinterpret_cast<const float4 *>(&array[row][column]);

	return {{v.x, v.y, v.z, v.w}};
}

template <int rows, int columns>
SB_DEVICE void sb_put4(float (&array)[rows][columns], int row, int column, const sb_float4 &value)
{
	*reinterpret_cast<float4 *>(&array[row][column]) =
	        make_float4(value.x[0], value.x[1], value.x[2], value.x[3]);
}

/* Rows [part * count, ...) of an array, as an array of `count` rows. */
template <int count, int rows, int columns>
SB_DEVICE float (&sb_rows(float (&array)[rows][columns], int part))[count][columns]
{
	return *reinterpret_cast<float(*)[count][columns]>(&array[part * count]);
}

/* By a warp: whoever sees the flag raised sees what the warp has stored before. */
SB_DEVICE void sb_flag_raise(unsigned *flag)
{
	__threadfence();
	__syncwarp();
	if (threadIdx.x % 32 == 0)
		asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

/* By a warp: waits until another block's warp has raised it. */
SB_DEVICE void sb_flag_await(const unsigned *flag)
{
	unsigned raised = 0;

	while (!raised)
		asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(raised) : "l"(flag) : "memory");
	__syncwarp();
}

/* Asynchronous copies, in groups: sm_80 and later. */

/*
 * Starts copying four floats to a column that is a multiple of 4, if they are `asked` for; from is
 * aligned to 16 bytes. Asked here and not by the caller, the compiler computes a place once for all
 * the copies near it.
 */
template <int rows, int columns>
SB_DEVICE void sb_async_copy4(float (&to)[rows][columns], int row, int column, const float *from,
                              bool asked)
{
	asm volatile("{\n\t"
	             ".reg .pred asked;\n\t"
	             "setp.ne.u32 asked, %2, 0;\n\t"
	             "@asked cp.async.cg.shared.global [%0], [%1], 16;\n\t"
	             "}" ::"r"((unsigned)__cvta_generic_to_shared(&to[row][column])),
	             "l"(from), "r"((unsigned)asked)
	             : "memory");
}

/*
 * Starts copying the first `count` (0 to 4) of four floats to a column that is a multiple of 4, zeros
 * behind them; from is aligned to 16 bytes, and nothing is read if count is 0.
 */
template <int rows, int columns>
SB_DEVICE void sb_async_fill4(float (&to)[rows][columns], int row, int column, const float *from,
                              int count)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
	                     (unsigned)__cvta_generic_to_shared(&to[row][column])),
	             "l"(from), "r"(count * 4)
	             : "memory");
}

/* The same of one float, or of a zero where it is not `inside`. */
template <int rows, int columns>
SB_DEVICE void sb_async_fill(float (&to)[rows][columns], int row, int column, const float *from,
                             bool inside)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
	                     (unsigned)__cvta_generic_to_shared(&to[row][column])),
	             "l"(from), "r"(inside ? 4 : 0)
	             : "memory");
}

/* What this thread has asked for since the last commit is a group, of nothing perhaps. */
SB_DEVICE void sb_async_commit()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/*
 * Waits until all of this thread's groups have come but the `left` youngest. Others may read what
 * they brought after a barrier.
 */
template <int left> SB_DEVICE void sb_async_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

/* Bulk copies: sm_90 and later. */

/* By one thread. A phase of the barrier ends with `arrivals` and the bytes they expect. */
SB_DEVICE void sb_copy_barrier_init(uint64_t &barrier, unsigned arrivals)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
	                     (unsigned)__cvta_generic_to_shared(&barrier)),
	             "r"(arrivals)
	             : "memory");
}

/* After the inits, before the barrier that publishes them: visible to the copy engine. */
SB_DEVICE void sb_copy_barrier_publish()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* An arrival; the phase ends not before `bytes` more have been copied. */
SB_DEVICE void sb_copy_barrier_expect(uint64_t &barrier, unsigned bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
	                     (unsigned)__cvta_generic_to_shared(&barrier)),
	             "r"(bytes)
	             : "memory");
}

/* An arrival: what this thread has read so far may be overwritten once the phase has ended. */
SB_DEVICE void sb_copy_barrier_arrive(uint64_t &barrier)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
	                     (unsigned)__cvta_generic_to_shared(&barrier))
	             : "memory");
}

/* Waits until the phase of this parity has ended. What it copied may then be read. */
SB_DEVICE void sb_copy_barrier_wait(uint64_t &barrier, unsigned parity)
{
	asm volatile("{\n\t"
	             ".reg .pred done;\n"
	             "again:\n\t"
	             "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
	             "@!done bra again;\n\t"
	             "}" ::"r"((unsigned)__cvta_generic_to_shared(&barrier)),
	             "r"(parity)
	             : "memory");
}

/* Starts copying the map's box at (x, y) to `to`; x runs along the contiguous dimension. */
template <int rows, int columns>
SB_DEVICE void sb_copy_box(float (&to)[rows][columns], const sb_tensor_map &map, int x, int y,
                           uint64_t &barrier)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
	             "[%0], [%1, {%3, %4}], [%2];" ::"r"((unsigned)__cvta_generic_to_shared(&to)),
	             "l"(&map), "r"((unsigned)__cvta_generic_to_shared(&barrier)), "r"(x), "r"(y)
	             : "memory");
}

#endif
#endif
