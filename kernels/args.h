/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a GEMM or pack kernel is given. Shared by the host (C11) and the kernels (CUDA C++), so it
 * is plain data. Every kernel takes exactly one parameter, one of these structs by value.
 *
 * A GEMM kernel computes, for i < m and j < n and no other element,
 *     total = +0; for each slab of SB_SLAB values of k, ascending: total += chain,
 *     where chain = +0; for each k of the slab, ascending: chain = fma(A(i,k), B(k,j), chain)
 *     t = alpha * total
 *     C(i,j) = beta == 0 ? t : t + (beta * C(i,j))
 * or, if resume is not zero, total = what C(i,j) holds instead of +0, and beta is 0: then C has the
 * raw total of the slabs before these, left there with alpha = 1 and beta = 0, and the bits are
 * those of one launch with all slabs. Only methods that kernels.def names can resume. As to the
 * rest, every operation rounded once to nearest (no contraction of the last two lines), nothing
 * flushed to zero. beta == 0 never reads C but to resume.
 *
 *     A(i,k) = a[i * a_m + k * a_k]    B(k,j) = b[j * b_n + k * b_k]    C(i,j) = c[i + j * ldc]
 *
 * Canonical panels (form `panels` in kernels.def): a_m = b_n = 1; a_k and b_k (the padded leading
 * dimensions) multiples of SB_PAD; a and b aligned to 128 bytes; rows of k, and columns i or j up
 * to the kernel's whole tile, are zero-filled beyond m, n and k.
 *
 * The method `persistent` may cut tiles between blocks: see kernels.def for its use of work.
 *
 * A method that splits k (kernels.def) has a block for each slab of each tile. Where k is longer
 * than one slab, it stores every chain and leaves C alone:
 *     work[s * m * n + i * work_i + j * work_j] = chain of slab s
 * and a sum kernel, launched next with the same arguments, makes C of them as above. With one slab
 * it writes C itself, and work may be NULL.
 */
#ifndef SB_ARGS_H
#define SB_ARGS_H

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define SB_SLAB 256 /* length of one FMA chain in k */
#define SB_PAD	32  /* panels' leading dimensions are multiples of this many elements */

/* A CUtensorMap: 128 opaque bytes, aligned to 64, made by cuTensorMapEncodeTiled. */
struct sb_tensor_map {
#ifdef __cplusplus
	alignas(64) unsigned char opaque[128];
#else
	_Alignas(64) unsigned char opaque[128];
#endif
};

struct sb_gemm_args {
	struct sb_tensor_map map_a,
		map_b; /* over the panels; only kernels with bulk copies read them */
	const float *a, *b;
	float *c;
	int64_t a_m, a_k; /* strides of A in elements */
	int64_t b_n, b_k; /* strides of B in elements */
	int64_t ldc;	  /* >= m */
	int32_t m, n, k;  /* > 0 */
	float alpha, beta;
	int32_t resume;
	float *work;		/* the slabs' chains of a method that splits k; see above */
	int64_t work_i, work_j; /* 1 and m, or n and 1 */
};

/*
 * A pack kernel writes a canonical panel: to[k * ld + i] = from[i * from_i + k * from_k] for
 * i < extent and k < depth, and zero for the rest of i < padded_extent and k < padded_depth.
 */
struct sb_pack_args {
	const float *from;
	float *to;
	int64_t from_i, from_k;
	int64_t ld; /* >= padded_extent, a multiple of SB_PAD */
	int32_t extent, depth, padded_extent, padded_depth;
};

#endif
