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
 * <int BE, int BS, int threads> and SB_MAKE_SUM; split methods: <int BI, int BK, int threads>,
 * SB_MAKE_SPLIT and struct sb_split_args; methods of rows SB_TENSOR: <int BM, int BN, int BK,
 * int threads, int cluster, int stages> and SB_MAKE_TENSOR) and includes this header last. Rows of
 * methods that the file did not define expand to nothing.
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
/* Warpgroups, of rows of arch 90, multiply in the image for 90a and in no other: as above. */
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SB_WARPGROUPS false
#else
#define SB_WARPGROUPS true
#endif
#define SB_TENSOR_REACHED(arch, dynamic)                                                           \
	((arch) == 90 ? SB_WARPGROUPS : SB_REACHED(arch, dynamic))
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
	            1, 0, BEHIND, 75, sb_pack_args)
#define SB_MAKE_SUM(method, BE, BS, threads, text)                                                 \
	SB_MAKE_ANY(sum_##method##_##BE##x##BS, SB_PASS(sb_##method<BE, BS, threads>), threads, 6, \
	            0, BEHIND, 75, sb_gemm_args)
#define SB_MAKE_SPLIT(method, BI, BK, threads, text)                                               \
	SB_MAKE_ANY(split_##method##_##BI##x##BK, SB_PASS(sb_split_##method<BI, BK, threads>),     \
	            threads, 2, 0, BEHIND, 80, sb_split_args)
#define SB_MAKE_TENSOR(method, BM, BN, BK, threads, cluster, stages, dynamic, form, arch, text)    \
	SB_MAKE_TENSOR_##cluster(sgemm_##method##_##BM##x##BN##x##BK, threads)                     \
	{                                                                                          \
		using type = sb_##method<BM, BN, BK, threads, cluster, stages>;                    \
                                                                                                   \
		SB_LEAD();                                                                         \
		if constexpr (SB_TENSOR_REACHED(arch, dynamic))                                    \
			type::run(args, sb_shared<type::shared, dynamic>());                       \
	}
#define SB_MAKE_TENSOR_1(name, threads)                                                            \
	SB_SHARED_SIZE(name, 0) SB_GLOBAL(threads, 1, name, sb_gemm_args)
#define SB_MAKE_TENSOR_2(name, threads)                                                            \
	SB_SHARED_SIZE(name, 0) SB_GLOBAL_PAIRS(threads, name, sb_gemm_args)
#define SB_PASS(...) __VA_ARGS__
#define SB_MAKE_GEMM(name, type, threads, blocks, dynamic, arch)                                   \
	SB_MAKE_ANY(name, SB_PASS(type), threads, blocks, dynamic, FIRST, arch, sb_gemm_args)
#define SB_FOLLOW_FIRST()
#define SB_FOLLOW_BEHIND() sb_follow();
/* A file whose kernels have none behind them, and are the better without, says SB_ALONE. */
#ifdef SB_ALONE
#define SB_LEAD()
#else
#define SB_LEAD() sb_lead()
#endif
#define SB_MAKE_ANY(name, type, threads, blocks, dynamic, follows, arch, args_type)                \
	SB_SHARED_SIZE(name, (dynamic) > 0 ? 0 : sizeof(type::shared))                             \
	SB_GLOBAL(threads, blocks, name, args_type)                                                \
	{                                                                                          \
		SB_LEAD();                                                                         \
		SB_FOLLOW_##follows()                                                              \
		if constexpr (SB_REACHED(arch, dynamic))                                           \
			type::run(args, sb_shared<type::shared, dynamic>());                       \
	}

#define SB_KERNEL(method, ...)                                                                     \
	SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#define SB_SUM(method, ...)  SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#define SB_PACK(method, ...) SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#define SB_SPLIT(method, ...)                                                                      \
	SB_SECOND_OF(SB_METHOD_split_##method, SB_NOTHING, )(method, __VA_ARGS__)
#define SB_TENSOR(method, ...)                                                                     \
	SB_SECOND_OF(SB_METHOD_##method, SB_NOTHING, )(method, __VA_ARGS__)
#include "kernels.def"
