/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry.h"

#include <stddef.h>
#include <string.h>

#include "args.h"
#include "whole.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Methods whose kernels fetch by bulk tensor copies, and so read the maps of their arguments. */
static const char *const mapped_sources[] = {"sgemm_bulk", "sgemm_persistent", "sgemm_slab",
					     "sgemm_bf16x6"};
/* Methods that split k: a block for each slab of each tile. */
static const char *const split_sources[] = {"sgemm_gather", "sgemm_rank", "sgemm_slab",
					    "sgemm_split", "sgemm_thin"};
/* Those whose threads walk along n where a tile is flat, and leave their chains so. */
static const char *const flat_sources[] = {"sgemm_thin"};

/* Methods on the tensor cores: what they make of a product, and the source that has them. */
#define SB_ARITHMETIC_fp16x3	    SB_FP16X3
#define SB_ARITHMETIC_fp16x3cut	    SB_FP16X3
#define SB_ARITHMETIC_bf16x6	    SB_BF16X6
#define SB_ARITHMETIC_bf16x6cut	    SB_BF16X6
#define SB_ARITHMETIC_bf16x6sync    SB_BF16X6
#define SB_ARITHMETIC_bf16x6synccut SB_BF16X6
#define SB_SOURCE_fp16x3	    "sgemm_fp16x3"
#define SB_SOURCE_fp16x3cut	    "sgemm_fp16x3"
#define SB_SOURCE_bf16x6	    "sgemm_bf16x6"
#define SB_SOURCE_bf16x6cut	    "sgemm_bf16x6"
#define SB_SOURCE_bf16x6sync	    "sgemm_bf16x6sync"
#define SB_SOURCE_bf16x6synccut	    "sgemm_bf16x6sync"

/* What both kinds of rows say. */
#define ROW(method, bm_, bn_, bk_, threads_, stages_, dynamic_, form_, arch_, text_)               \
	.name = "sgemm_" #method "_" #bm_ "x" #bn_ "x" #bk_, .text = text_, .bm = bm_, .bn = bn_,  \
	.bk = bk_, .threads = threads_, .stages = stages_, .dynamic = dynamic_,                    \
	.form = SB_FORM_##form_, .arch = arch_

static const struct sb_kernel kernels[] = {
#define SB_KERNEL(method, bm_, bn_, bk_, threads_, blocks_, tm_, tn_, stages_, dynamic_, form_,    \
		  arch_, text_)                                                                    \
	{ROW(method, bm_, bn_, bk_, threads_, stages_, dynamic_, form_, arch_, text_),             \
	 .source = "sgemm_" #method,                                                               \
	 .blocks = blocks_,                                                                        \
	 .tm = tm_,                                                                                \
	 .tn = tn_,                                                                                \
	 .cluster = 1,                                                                             \
	 .arithmetic = SB_STRICT},
#define SB_TENSOR(method, bm_, bn_, bk_, threads_, cluster_, stages_, dynamic_, form_, arch_,      \
		  text_)                                                                           \
	{ROW(method, bm_, bn_, bk_, threads_, stages_, dynamic_, form_, arch_, text_),             \
	 .source = SB_SOURCE_##method, .blocks = 1, .cluster = cluster_,                           \
	 .arithmetic = SB_ARITHMETIC_##method},
#include "kernels.def"
};

static const struct sb_pack_kernel pack_kernels[] = {
#define SB_PACK(method, bi_, bk_, threads_, text_)                                                 \
	{.name = "pack_" #method "_" #bi_ "x" #bk_,                                                \
	 .source = "pack_" #method,                                                                \
	 .text = text_,                                                                            \
	 .bi = bi_,                                                                                \
	 .bk = bk_,                                                                                \
	 .threads = threads_},
#include "kernels.def"
};

static const struct sb_sum_kernel sum_kernels[] = {
#define SB_SUM(method, be_, bs_, threads_, text_)                                                  \
	{.name = "sum_" #method "_" #be_ "x" #bs_,                                                 \
	 .source = "sum_" #method,                                                                 \
	 .text = text_,                                                                            \
	 .be = be_,                                                                                \
	 .bs = bs_,                                                                                \
	 .threads = threads_},
#include "kernels.def"
};

/* Methods whose blocks go from tile to tile, and how many blocks they may at most be. */
static const char *const persistent_sources[] = {"sgemm_persistent"};
#define PERSISTENT_MOST 256

/* Methods whose totals may begin with what a launch before has left. */
static const char *const resuming_sources[] = {
	"sgemm_plain", "sgemm_multistage", "sgemm_bulk",   "sgemm_persistent", "sgemm_split",
	"sgemm_slab",  "sgemm_thin",	   "sgemm_gather", "sgemm_rank"};

static bool among(const struct sb_kernel *kernel, const char *const *sources, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(kernel->source, sources[i]) == 0)
			return true;
	return false;
}

bool sb_registry_has_maps(const struct sb_kernel *kernel)
{
	return among(kernel, mapped_sources, COUNT(mapped_sources));
}

bool sb_registry_persists(const struct sb_kernel *kernel)
{
	return among(kernel, persistent_sources, COUNT(persistent_sources));
}

bool sb_registry_resumes(const struct sb_kernel *kernel)
{
	return among(kernel, resuming_sources, COUNT(resuming_sources));
}

bool sb_registry_splits(const struct sb_kernel *kernel)
{
	return among(kernel, split_sources, COUNT(split_sources));
}

int sb_registry_count(void)
{
	return (int)COUNT(kernels);
}

const struct sb_kernel *sb_registry_row(int row)
{
	return &kernels[row];
}

const struct sb_kernel *sb_registry_find(const char *name)
{
	for (size_t i = 0; i < COUNT(kernels); i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	return NULL;
}

const struct sb_kernel *sb_registry_plain(void)
{
	return &kernels[0];
}

bool sb_registry_runs(const struct sb_kernel *kernel, const struct sb_target *target)
{
	/* The instructions of a warpgroup are those of this capability alone. */
	if (kernel->arithmetic != SB_STRICT && kernel->arch == 90 && target->arch != 90)
		return false;
	return kernel->arch <= target->arch && kernel->dynamic <= target->shared &&
	       (target->maps || !sb_registry_has_maps(kernel));
}

int64_t sb_registry_slabs(const struct sb_kernel *kernel, int64_t k)
{
	return sb_registry_splits(kernel) ? sb_ceil_div(k, SB_SLAB) : 1;
}

int64_t sb_registry_tiles(const struct sb_kernel *kernel, int64_t m, int64_t n)
{
	return sb_ceil_div(m, kernel->bm) * sb_ceil_div(n, kernel->bn);
}

int64_t sb_registry_blocks(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			   int multiprocessors)
{
	int64_t tiles = sb_registry_tiles(kernel, m, n);
	int most = multiprocessors < PERSISTENT_MOST ? multiprocessors : PERSISTENT_MOST;

	if (kernel->arithmetic != SB_STRICT)
		return sb_registry_tensor_blocks(kernel, m, n, 1, most);
	/* A tile is on its way as far ahead as the next one ends, and no further. */
	if (sb_registry_persists(kernel) && sb_ceil_div(k, kernel->bk) >= kernel->stages - 1)
		return tiles < most ? tiles : most;
	return tiles * sb_registry_slabs(kernel, k);
}

size_t sb_registry_work(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
	int64_t slabs = sb_registry_slabs(kernel, k);

	if (kernel->arithmetic != SB_STRICT)
		return k <= SB_CHUNK_LEAST
			       ? 0
			       : (size_t)sb_registry_tensor_blocks(kernel, m, n, 1,
								   PERSISTENT_MOST) *
					 (size_t)(kernel->bm * kernel->bn) * sizeof(float);
	/* A tile for each block, and flags for as many blocks as there may be. */
	if (sb_registry_persists(kernel) && k > SB_SLAB)
		return ((size_t)sb_registry_blocks(kernel, m, n, k, PERSISTENT_MOST) *
				(size_t)(kernel->bm * kernel->bn) +
			(size_t)PERSISTENT_MOST * (size_t)(kernel->threads / 32)) *
		       sizeof(float);
	return slabs > 1 ? (size_t)m * (size_t)n * (size_t)slabs * sizeof(float) : 0;
}

int sb_registry_sums(void)
{
	return (int)COUNT(sum_kernels);
}

const struct sb_sum_kernel *sb_registry_sum_row(int row)
{
	return &sum_kernels[row];
}

bool sb_registry_flat(const struct sb_kernel *kernel)
{
	return kernel->bm < kernel->bn && among(kernel, flat_sources, COUNT(flat_sources));
}

/* The most elements a block, unless that leaves multiprocessors idle while others add for long. */
const struct sb_sum_kernel *sb_registry_sum(int64_t m, int64_t n, int64_t terms,
					    int multiprocessors)
{
	const struct sb_sum_kernel *best = &sum_kernels[0];

	for (size_t i = 1; i < COUNT(sum_kernels); i++) {
		const struct sb_sum_kernel *other = &sum_kernels[i];
		bool at_once = sb_ceil_div(terms, other->bs) <= 2;

		if (other->be > best->be &&
		    (at_once || sb_ceil_div(m * n, other->be) >= 2 * (int64_t)multiprocessors))
			best = other;
	}
	return best;
}

const struct sb_pack_kernel *sb_registry_pack(bool k_contiguous)
{
	const char *source = k_contiguous ? "pack_across" : "pack_along";

	for (size_t i = 0; i < COUNT(pack_kernels); i++)
		if (strcmp(pack_kernels[i].source, source) == 0)
			return &pack_kernels[i];
	return &pack_kernels[0]; /* each is right for any strides */
}
