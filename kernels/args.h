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
 *
 * Products emulated on the tensor cores have sums of their own (their sources say which) and are
 * decided tile by tile of 128 x 128 elements of C: flags_a has a word for each 128 rows, flags_b
 * for each 128 columns, the first word that of the launch's first row or column; a tile's flags are
 * those of its rows and of its columns. `fp16x3` leaves a tile with SB_NOT_FP16 alone; `bf16x6`
 * computes those with SB_NOT_FP16 and no others (all, where flags_a is NULL), and where it finds
 * an element that three bf16 do not hold it raises SB_NOT_BF16 and leaves the tile alone; a strict
 * kernel that kernels.def says keeps them computes only those with SB_NOT_BF16 (all, where
 * flags_a is NULL). So many values of k as chunk says have one sum, and the sums are added up; it
 * is sb_split_chunk() of the whole product, of which the launch may be a block or a run of k. Where
 * k is longer than chunk, work has room for a tile's floats for each block of `fp16x3` or `bf16x6`.
 * They resume where k is no longer than that: C has the sum of the chunks before this one; and the
 * flags are known then from all of k, SB_NOT_BF16 too, which `bf16x6` obeys as if it had found out
 * by itself.
 *
 * Or k is cut, where part is not zero: a multiple of chunk that is less than k. Each tile
 * then is so many times another block's business as there are parts of that length, and all of
 * these kernels store the sum of each chunk and leave C alone, whatever the tile's guard says:
 *     work[chunk * m * n + i + j * m] = sum of the chunk
 * A sum kernel with the same arguments makes C of them after the last of these, of the tiles
 * without SB_NOT_BF16 and of no others (of all, where flags_a is NULL). It adds them to zero in the
 * order of chunks, as a kernel does for which k is not cut: the bits are the same.
 *
 * Planes, in the form PLANES: what a split kernel makes of an operand. K being k rounded up to
 * whole 64s, plane p (0: high parts, 1: low parts) of rows [64 r, 64 r + 64) and of k in
 * [64 s, 64 s + 64) is the piece of 4096 elements that begins at ((r * (K / 64) + s) * 2 + p) *
 * 4096. In a piece element (i, k) lies at k * 64 + ((i / 8) ^ (k % 8)) * 8 + i % 8. The extent is
 * rounded up to whole 64s, and a product reads whole tiles; zeros fill it up. A part of a panel
 * that begins at row 64 r begins with piece r. exponents[slab * exponents_ld + i] are the bits of
 * the fp32 2^-e for slabs of SB_SPLIT_SLAB values of k, where 2^e is what the row was multiplied by
 * there.
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

#define SB_SPLIT_SLAB  512  /* of k: has one scale for each row */
#define SB_CHUNK_LEAST 1024 /* of k: has one sum; see sb_split_chunk() */
#define SB_CHUNK_MOST  4096
#define SB_NOT_FP16    1u /* flags: a row or column that two scaled fp16 do not hold */
#define SB_NOT_BF16    2u /* or three bf16 */
#define SB_FAR_FP16    4u /* a scale 2^e with e < SB_NEAR_LEAST or e > SB_NEAR_MOST */
#define SB_NEAR_LEAST  (-7)
#define SB_NEAR_MOST   35

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
	const uint16_t *planes_a, *planes_b;
	const int32_t *exponents_a, *exponents_b;
	int64_t exponents_a_ld, exponents_b_ld;
	uint32_t *flags_a, *flags_b; /* both NULL: every tile */
	int32_t part;		     /* of k, of emulated products; 0: all of it; see above */
	int32_t chunk;		     /* of k, of emulated products; see above */
};

/*
 * How many values of k of an emulated m x n x k product have one sum: of the whole product, so that
 * neither plan, memory nor devices change a bit. Each border between sums costs the device 2 to 4
 * microseconds, in which its cores stand still, and too few of them cost accuracy: what tensor
 * cores cut off is cut to one side. Beside OpenBLAS's, whose errors grow too, longer chunks of
 * longer sums are no worse (doc/measurements.md). So chunks are as long as keeps errors at 1.2 of
 * those.
 *
 * Where C has few tiles k is shared out to the multiprocessors by whole chunks (part), and no
 * border costs anything. There chunks are only so long that SB_CHUNKS_MANY are left of all tiles
 * together.
 */
#define SB_CHUNKS_MANY 192

static inline int32_t sb_split_chunk(int64_t m, int64_t n, int64_t k)
{
	static const struct {
		int32_t chunk, least;
	} rows[] = {{SB_CHUNK_MOST, 16384}, {2048, 6144}, {1536, 4096}};
	int64_t tiles = (m + 127) / 128 * ((n + 127) / 128);

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (k >= rows[i].least &&
		    (tiles >= SB_CHUNKS_MANY ||
		     tiles * ((k + rows[i].chunk - 1) / rows[i].chunk) >= SB_CHUNKS_MANY))
			return rows[i].chunk;
	return SB_CHUNK_LEAST;
}

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

/*
 * A split kernel makes planes of an operand's rows [0, extent) and [0, depth) of k, the first of
 * which is a multiple of 64 of the panel's: of x(i,k) = from[i * from_i + k * from_k], zero beyond.
 * It writes all pieces and exponents of the padded extent and depth, and raises, for each 128 rows,
 * SB_NOT_FP16 if two fp16 do not hold an element of them, SB_NOT_BF16 if three bf16 do not either,
 * and SB_FAR_FP16. What begins in the middle of 128 rows has `middle` = 64, and its flags begin
 * with theirs. Where planes are NULL it only raises flags.
 *
 * `fp16` reads a canonical panel or a part of one: from_i = 1, from_k its leading dimension. `raw`
 * takes any strides and alignment, is coalesced where from_i or from_k is 1, and writes the
 * canonical panel as well, as a pack kernel does.
 */
struct sb_split_args {
	const float *from;
	float *panel; /* `raw`: to[k * ld + i] */
	uint16_t *planes;
	int32_t *exponents;
	uint32_t *flags;
	int64_t from_i, from_k;
	int64_t ld, exponents_ld;
	int32_t extent, depth;
	int32_t padded_extent; /* a multiple of 64 */
	int32_t padded_depth;  /* a multiple of 64 */
	int32_t middle;	       /* 0 or 64 */
};

#endif
