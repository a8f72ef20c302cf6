/* SPDX-License-Identifier: BSD-3-Clause */
/* The device side of tensor.cuh's warpgroup products; see there. sm_90a alone. */
#ifndef SB_WARPGROUP_CUH
#define SB_WARPGROUP_CUH

/* A warpgroup keeps at least (more) or at most (less) so many registers a thread: multiples of 8.
 */
template <int count> SB_DEVICE void sb_registers_more()
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

template <int count> SB_DEVICE void sb_registers_less()
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

/* What a product reads of one operand: 16 rows of k. */
struct sb_mma_tile {
	uint64_t descriptor;
};

/*
 * From the row of k that `piece` points to, a multiple of 8. Where the product wants more than 64
 * neighbours, the next 64 lie panel_bytes behind. Of a block in a cluster the address has high bits
 * that do not belong in the descriptor.
 */
SB_DEVICE sb_mma_tile sb_mma_at(const uint16_t *piece, unsigned panel_bytes)
{
	unsigned address = sb_shared_address(piece) & 0x3ffff;

	return {(uint64_t)(address >> 4) | (uint64_t)(panel_bytes >> 4) << 16 |
		(uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62};
}

/* The same tile `rows` of k further, a multiple of 8. */
SB_DEVICE sb_mma_tile sb_mma_further(sb_mma_tile tile, int rows)
{
	return {tile.descriptor + (unsigned)(rows * 128 >> 4)};
}

/* Before the first product, and after registers of accumulators have been written. */
SB_DEVICE void sb_mma_fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* The products since the last commit are a group. */
SB_DEVICE void sb_mma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until all groups are done but the `left` youngest. */
template <int left> SB_DEVICE void sb_mma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/* After the wait, before the sums are read: the wait itself does not tell the compiler of them. */
template <int count> SB_DEVICE void sb_mma_hold(float (&d)[count])
{
	SB_UNROLL
	for (int i = 0; i < count; i++)
		asm volatile("" : "+f"(d[i])::"memory");
}

#define SB_D8(d, at)                                                                               \
	"+f"((d)[(at)]), "+f"((d)[(at) + 1]), "+f"((d)[(at) + 2]), "+f"((d)[(at) + 3]),            \
		"+f"((d)[(at) + 4]), "+f"((d)[(at) + 5]), "+f"((d)[(at) + 6]), "+f"((d)[(at) + 7])
#define SB_D32(d, at) SB_D8(d, at), SB_D8(d, (at) + 8), SB_D8(d, (at) + 16), SB_D8(d, (at) + 24)
#define SB_PRODUCT_64(d, a, b, add, kind)                                                          \
	asm volatile("{\n\t"                                                                       \
		     ".reg .pred adds;\n\t"                                                        \
		     "setp.ne.b32 adds, %34, 0;\n\t"                                               \
		     "wgmma.mma_async.sync.aligned.m64n64k16.f32." kind "." kind " {"              \
		     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "      \
		     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
		     "%31}, "                                                                      \
		     "%32, %33, adds, 1, 1, 1, 1;\n\t"                                             \
		     "}"                                                                           \
		     : SB_D32(d, 0)                                                                \
		     : "l"((a).descriptor), "l"((b).descriptor), "r"((int)(add)))

#define SB_SUMS_OF_128                                                                             \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
	"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "         \
	"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "         \
	"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, "              \
	"%63"

#define SB_PRODUCT_128(d, a, b, add, kind)                                                         \
	asm volatile(                                                                              \
		"{\n\t"                                                                            \
		".reg .pred adds;\n\t"                                                             \
		"setp.ne.b32 adds, %66, 0;\n\t"                                                    \
		"wgmma.mma_async.sync.aligned.m64n128k16.f32." kind "." kind " {"                  \
		SB_SUMS_OF_128 "}, "                                                               \
		"%64, %65, adds, 1, 1, 1, 1;\n\t"                                                  \
		"}"                                                                                \
		: SB_D32(d, 0), SB_D32(d, 32)                                                      \
		: "l"((a).descriptor), "l"((b).descriptor), "r"((int)(add)))

#define SB_PRODUCT_OF_ROWS_128(d, a, b, add, kind)                                                 \
	asm volatile(                                                                              \
		"{\n\t"                                                                            \
		".reg .pred adds;\n\t"                                                             \
		"setp.ne.b32 adds, %69, 0;\n\t"                                                    \
		"wgmma.mma_async.sync.aligned.m64n128k16.f32." kind "." kind " {"                  \
		SB_SUMS_OF_128 "}, "                                                               \
		"{%64, %65, %66, %67}, %68, adds, 1, 1, 1;\n\t"                                    \
		"}"                                                                                \
		: SB_D32(d, 0), SB_D32(d, 32)                                                      \
		: "r"((a).x[0]), "r"((a).x[1]), "r"((a).x[2]), "r"((a).x[3]), "l"((b).descriptor), \
		  "r"((int)(add)))

/*
 * d = a * b, or d += a * b: 64 of a along the rows, N of b along the columns, 16 of k. Thread t of
 * the warpgroup holds, for each c < N / 8, in d[4 * c + 2 * h + e] the element of row
 * t / 32 * 16 + t % 32 / 4 + 8 * h and column 8 * c + t % 4 * 2 + e.
 */
template <int N>
SB_DEVICE void sb_mma_fp16(float (&d)[N / 2], sb_mma_tile a, sb_mma_tile b, bool add)
{
	static_assert(N == 64 || N == 128, "the widths that kernels use");
	if constexpr (N == 64)
		SB_PRODUCT_64(d, a, b, add, "f16");
	else
		SB_PRODUCT_128(d, a, b, add, "f16");
}

template <int N>
SB_DEVICE void sb_mma_bf16(float (&d)[N / 2], sb_mma_tile a, sb_mma_tile b, bool add)
{
	static_assert(N == 64 || N == 128, "the widths that kernels use");
	if constexpr (N == 64)
		SB_PRODUCT_64(d, a, b, add, "bf16");
	else
		SB_PRODUCT_128(d, a, b, add, "bf16");
}

/*
 * The same with a in the threads' registers: t holds, for each half of 8 of k and each h, in
 * a.x[2 * half + h] the elements of row t / 32 * 16 + t % 32 / 4 + 8 * h and of the two k from
 * 8 * half + t % 4 * 2 on. Until the wait they must not change either.
 */
template <int N>
SB_DEVICE void sb_mma_bf16(float (&d)[N / 2], const sb_words4 &a, sb_mma_tile b, bool add)
{
	static_assert(N == 128, "the width that kernels use");
	SB_PRODUCT_OF_ROWS_128(d, a, b, add, "bf16");
}

#endif
