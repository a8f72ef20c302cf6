/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the kernels of one source file from their rows in kernels.def. The file defines, for each
 * method that it holds,
 *     #define SB_METHOD_<method> 0, SB_MAKE
 *     template <int BM, int BN, int BK, int threads, int TM, int TN, int stages>
 *     struct sb_<method> {
 *         struct shared { ... };
 *         SB_DEVICE static void run(const sb_gemm_args &args, shared &tiles);
 *     };
 * (pack methods: <int BI, int BK, int threads>, SB_MAKE_PACK, and struct sb_pack_args; sum methods:
 * <int BE, int BS, int threads> and SB_MAKE_SUM) and includes this header last. Rows of methods that the file did not define expand to nothing.
 */
#include "device.cuh"

#define SB_SECOND(first, second, ...)          second
#define SB_SECOND_OF(...)                      SB_SECOND(__VA_ARGS__)
#define SB_NOTHING(...)

/* An architecture below the row's, or with less memory, gets the symbol, which is never picked. */
#ifdef __CUDA_ARCH__
#define SB_REACHED(arch, dynamic) (__CUDA_ARCH__ >= (arch) * 10 && (dynamic) <= SB_SHARED_MOST)
#else
#define SB_REACHED(arch, dynamic) true
#endif
#ifdef __CUDACC__
#define SB_SHARED_SIZE(name, bytes)
#else
#define SB_SHARED_SIZE(name, bytes) extern "C" const unsigned name##_static = (unsigned)(bytes);
#endif

#define SB_MAKE(method, BM, BN, BK, threads, blocks, TM, TN, stages, dynamic, form, arch, text)    \
	SB_MAKE_GEMM(sgemm_##method##_##BM##x##BN##x##BK,                                          \
	             SB_PASS(sb_##method<BM, BN, BK, threads, TM, TN, stages>), threads, blocks,   \
	             dynamic, arch)
#define SB_MAKE_PACK(method, BI, BK, threads, text)                                                \
	SB_MAKE_ANY(pack_##method##_##BI##x##BK, SB_PASS(sb_##method<BI, BK, threads>), threads,   \
	            1, 0, 75, sb_pack_args)
#define SB_MAKE_SUM(method, BE, BS, threads, text)                                                 \
	SB_MAKE_ANY(sum_##method##_##BE##x##BS, SB_PASS(sb_##method<BE, BS, threads>), threads, 6, \
	            0, 75, sb_gemm_args)
#define SB_PASS(...) __VA_ARGS__
#define SB_MAKE_GEMM(name, type, threads, blocks, dynamic, arch)                                   \
	SB_MAKE_ANY(name, SB_PASS(type), threads, blocks, dynamic, arch, sb_gemm_args)
#define SB_MAKE_ANY(name, type, threads, blocks, dynamic, arch, args_type)                         \
	SB_SHARED_SIZE(name, (dynamic) > 0 ? 0 : sizeof(type::shared))                             \
	SB_GLOBAL(threads, blocks, name, args_type)                                                \
	{                                                                                          \
		if constexpr (SB_REACHED(arch, dynamic))                                           \
			type::run(args, sb_shared<type::shared, dynamic>());                       \
	}

#define SB_KERNEL(method, ...)                                                                     \
	SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#define SB_SUM(method, ...)  SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#define SB_PACK(method, ...) SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#include "kernels.def"
