/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host version of kernels/device.cuh: the same names, for kernel sources that a host compiler
 * compiles into the exact engine. Accesses know their source line through default arguments.
 */
#ifndef SB_EXACT_DEVICE_H
#define SB_EXACT_DEVICE_H

#include <cmath>
#include <cstddef>

#define SB_DEVICE inline
#define SB_UNROLL
#define SB_ROLLED
#define SB_UNROLL_BY(count)
#define SB_TOTALS_KEPT				    12
#define SB_GATHER_STEPS				    8
#define SB_GLOBAL(threads, blocks, name, args_type) extern "C" void name(const args_type args)

/* Launches do not overlap here. */
static inline void sb_lead()
{
}

static inline void sb_follow()
{
}

/* The running fiber and what its launch counts; set by the engine. */
struct sb_exact_position {
	int fiber;  /* among all that run together */
	int thread; /* in its block */
	int rank;   /* of its block in the cluster */
	unsigned block, blocks;
	uint64_t fmas;
};
extern thread_local sb_exact_position sb_exact_now;

struct sb_exact_line {
	const char *file;
	int line;
};

/* Ends the launch with an error where an access is wrong; returns if it is right. */
void sb_exact_global(const void *p, unsigned bytes, bool write, sb_exact_line line);
void sb_exact_shared(const void *p, unsigned bytes, bool write, sb_exact_line line);
/* The extents of the array that a shared access names. */
void sb_exact_extent(int row, int rows, int column, int columns, unsigned words,
		     sb_exact_line line);
/* Raises a flag, or fails where it has not been raised: blocks run one after the other. */
void sb_exact_flag(unsigned *flag, bool raise, sb_exact_line line);
void *sb_exact_shared_memory(size_t bytes, int dynamic);
void sb_exact_barrier(void);
void sb_exact_warp_barrier(void);
void sb_exact_async_copy(float *to, const float *from, unsigned bytes, unsigned whole,
			 sb_exact_line line);
void sb_exact_async_commit(void);
void sb_exact_async_wait(unsigned left);
void sb_exact_copy_init(uint64_t *barrier, unsigned arrivals, sb_exact_line line);
void sb_exact_copy_arrive(uint64_t *barrier, sb_exact_line line);
void sb_exact_copy_publish(void);
void sb_exact_copy_expect(uint64_t *barrier, unsigned bytes, sb_exact_line line);
void sb_exact_copy_wait(uint64_t *barrier, unsigned parity, sb_exact_line line);
void sb_exact_copy_box(float *to, int rows, int columns, const sb_tensor_map *map, int x, int y,
		       uint64_t *barrier, sb_exact_line line);

#define SB_HERE sb_exact_line line = {__builtin_FILE(), __builtin_LINE()}

static inline int sb_thread()
{
	return sb_exact_now.thread;
}

static inline unsigned sb_block()
{
	return sb_exact_now.block;
}

static inline unsigned sb_blocks()
{
	return sb_exact_now.blocks;
}

static inline void sb_barrier()
{
	sb_exact_barrier();
}

static inline void sb_warp_barrier()
{
	sb_exact_warp_barrier();
}

template <typename T, int dynamic> static inline T &sb_shared()
{
	return *static_cast<T *>(sb_exact_shared_memory(sizeof(T), dynamic));
}

static inline float sb_fma(float a, float b, float c)
{
	sb_exact_now.fmas++;
	return fmaf(a, b, c);
}

/* Blocks of odd number have the instruction, so that both ways are run. */
#define SB_FMA_PAIRED (sb_exact_now.block % 2 != 0)

static inline void sb_fma2(float (&sums)[2], const float (&a)[2], float b)
{
	sums[0] = sb_fma(a[0], b, sums[0]);
	sums[1] = sb_fma(a[1], b, sums[1]);
}

static inline float sb_mul(float a, float b)
{
	return a * b;
}

static inline float sb_add(float a, float b)
{
	return a + b;
}

static inline float sb_load(const float *p, SB_HERE)
{
	sb_exact_global(p, 4, false, line);
	return *p;
}

static inline void sb_store(float *p, float value, SB_HERE)
{
	sb_exact_global(p, 4, true, line);
	*p = value;
}

static inline sb_float4 sb_load4(const float *p, SB_HERE)
{
	sb_exact_global(p, 16, false, line);
	return {{p[0], p[1], p[2], p[3]}};
}

static inline void sb_store4(float *p, const sb_float4 &value, SB_HERE)
{
	sb_exact_global(p, 16, true, line);
	for (int e = 0; e < 4; e++)
		p[e] = value.x[e];
}

template <int rows, int columns>
static inline float sb_get(const float (&array)[rows][columns], int row, int column, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 1, line);
	sb_exact_shared(&array[row][column], 4, false, line);
	return array[row][column];
}

template <int rows, int columns>
static inline void sb_put(float (&array)[rows][columns], int row, int column, float value, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 1, line);
	sb_exact_shared(&array[row][column], 4, true, line);
	array[row][column] = value;
}

template <int rows, int columns>
static inline sb_float4 sb_get4(const float (&array)[rows][columns], int row, int column, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 4, line);
	const float *p = &array[row][column];
	sb_exact_shared(p, 16, false, line);
	return {{p[0], p[1], p[2], p[3]}};
}

template <int rows, int columns>
static inline void sb_put4(float (&array)[rows][columns], int row, int column,
			   const sb_float4 &value, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 4, line);
	float *p = &array[row][column];
	sb_exact_shared(p, 16, true, line);
	for (int e = 0; e < 4; e++)
		p[e] = value.x[e];
}

template <int count, int rows, int columns>
static inline float (&sb_rows(float (&array)[rows][columns], int part, SB_HERE))[count][columns]
{
	sb_exact_extent(part * count, rows - count + 1, 0, columns, 1, line);
	return *reinterpret_cast<float(*)[count][columns]>(&array[part * count]);
}

static inline void sb_flag_raise(unsigned *flag, SB_HERE)
{
	sb_exact_warp_barrier();
	sb_exact_flag(flag, true, line);
}

static inline void sb_flag_await(const unsigned *flag, SB_HERE)
{
	sb_exact_flag(const_cast<unsigned *>(flag), false, line);
}

template <int rows, int columns>
static inline void sb_async_copy4(float (&to)[rows][columns], int row, int column,
				  const float *from, bool asked, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 4, line);
	if (asked)
		sb_exact_async_copy(&to[row][column], from, 16, 16, line);
}

template <int rows, int columns>
static inline void sb_async_fill4(float (&to)[rows][columns], int row, int column,
				  const float *from, int count, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 4, line);
	sb_exact_async_copy(&to[row][column], from, (unsigned)count * 4, 16, line);
}

template <int rows, int columns>
static inline void sb_async_fill(float (&to)[rows][columns], int row, int column, const float *from,
				 bool inside, SB_HERE)
{
	sb_exact_extent(row, rows, column, columns, 1, line);
	sb_exact_async_copy(&to[row][column], from, inside ? 4 : 0, 4, line);
}

static inline void sb_async_commit()
{
	sb_exact_async_commit();
}

template <int left> static inline void sb_async_wait()
{
	sb_exact_async_wait(left);
}

static inline void sb_copy_barrier_init(uint64_t &barrier, unsigned arrivals, SB_HERE)
{
	sb_exact_copy_init(&barrier, arrivals, line);
}

static inline void sb_copy_barrier_arrive(uint64_t &barrier, SB_HERE)
{
	sb_exact_copy_arrive(&barrier, line);
}

static inline void sb_copy_barrier_publish()
{
	sb_exact_copy_publish();
}

static inline void sb_copy_barrier_expect(uint64_t &barrier, unsigned bytes, SB_HERE)
{
	sb_exact_copy_expect(&barrier, bytes, line);
}

static inline void sb_copy_barrier_wait(uint64_t &barrier, unsigned parity, SB_HERE)
{
	sb_exact_copy_wait(&barrier, parity, line);
}

template <int rows, int columns>
static inline void sb_copy_box(float (&to)[rows][columns], const sb_tensor_map &map, int x, int y,
			       uint64_t &barrier, SB_HERE)
{
	sb_exact_copy_box(&to[0][0], rows, columns, &map, x, y, &barrier, line);
}

#endif
