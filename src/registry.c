/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "args.h"
#include "settings.h"
#include "trace.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Methods whose kernels fetch by bulk tensor copies, and so read the maps of their arguments. */
static const char *const mapped_sources[] = {"sgemm_bulk", "sgemm_persistent", "sgemm_slab",
					     "sgemm_bf16x6"};
/* Methods that split k: a block for each slab of each tile. */
static const char *const split_sources[] = {"sgemm_gather", "sgemm_rank", "sgemm_slab",
					    "sgemm_split", "sgemm_thin"};
/* Those whose threads walk along n where a tile is flat, and leave their chains so. */
static const char *const flat_sources[] = {"sgemm_thin"};

static const struct sb_kernel kernels[] = {
#define SB_KERNEL(method, bm_, bn_, bk_, threads_, blocks_, tm_, tn_, stages_, dynamic_, form_,    \
		  arch_, text_)                                                                    \
	{.name = "sgemm_" #method "_" #bm_ "x" #bn_ "x" #bk_,                                      \
	 .source = "sgemm_" #method,                                                               \
	 .text = text_,                                                                            \
	 .bm = bm_,                                                                                \
	 .bn = bn_,                                                                                \
	 .bk = bk_,                                                                                \
	 .threads = threads_,                                                                      \
	 .blocks = blocks_,                                                                        \
	 .tm = tm_,                                                                                \
	 .tn = tn_,                                                                                \
	 .stages = stages_,                                                                        \
	 .dynamic = dynamic_,                                                                      \
	 .form = SB_FORM_##form_,                                                                  \
	 .arch = arch_,                                                                            \
	 .cluster = 1,                                                                             \
	 .arithmetic = SB_STRICT},
#define SB_TENSOR(method, bm_, bn_, bk_, threads_, cluster_, stages_, dynamic_, form_, arch_,      \
		  text_)                                                                           \
	{.name = "sgemm_" #method "_" #bm_ "x" #bn_ "x" #bk_,                                      \
	 .source = "sgemm_" #method,                                                               \
	 .text = text_,                                                                            \
	 .bm = bm_,                                                                                \
	 .bn = bn_,                                                                                \
	 .bk = bk_,                                                                                \
	 .threads = threads_,                                                                      \
	 .blocks = 1,                                                                              \
	 .stages = stages_,                                                                        \
	 .dynamic = dynamic_,                                                                      \
	 .form = SB_FORM_##form_,                                                                  \
	 .arch = arch_,                                                                            \
	 .cluster = cluster_,                                                                      \
	 .arithmetic = #method[0] == 'f' ? SB_FP16X3 : SB_BF16X6},
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

static const struct rate {
	const char *name;
	int together;
	double alone, full, fixed, ends;
} rates[] = {
#define SB_RATE(method, bm_, bn_, bk_, together_, alone_, full_, fixed_, ends_)                    \
	{.name = "sgemm_" #method "_" #bm_ "x" #bn_ "x" #bk_,                                      \
	 .together = together_,                                                                    \
	 .alone = (alone_)*1e9,                                                                    \
	 .full = (full_)*1e9,                                                                      \
	 .fixed = (fixed_)*1e-6,                                                                   \
	 .ends = (ends_)*1e-6},
#include "rates.def"
};

/* Seconds for the launches, and bytes a second. */
struct pass {
	double fixed, rate;
};

#define PASS(fixed_, rate_)                                                                        \
	{                                                                                          \
		(fixed_) * 1e-6, (rate_)*1e9                                                       \
	}

/* Making panels: bytes read and written. */
static const struct pass packing =
#define SB_PACKING PASS
#include "rates.def"
	;

/* Adding up slabs: bytes of chains, written and read. */
static const struct pass summing =
#define SB_SUMMING PASS
#include "rates.def"
	;

/* Methods whose blocks go from tile to tile, and how many blocks they may at most be. */
static const char *const persistent_sources[] = {"sgemm_persistent"};
#define PERSISTENT_MOST 256

/* Methods whose totals may begin with what a launch before has left. */
static const char *const resuming_sources[] = {"sgemm_plain",  "sgemm_bulk", "sgemm_persistent",
					       "sgemm_split",  "sgemm_slab", "sgemm_thin",
					       "sgemm_gather", "sgemm_rank"};

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

static int64_t ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

int64_t sb_registry_slabs(const struct sb_kernel *kernel, int64_t k)
{
	return sb_registry_splits(kernel) ? ceil_div(k, SB_SLAB) : 1;
}

static int64_t tiles_of(const struct sb_kernel *kernel, int64_t m, int64_t n)
{
	return ceil_div(m, kernel->bm) * ceil_div(n, kernel->bn);
}

int64_t sb_registry_blocks(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			   int multiprocessors)
{
	int64_t tiles = tiles_of(kernel, m, n);
	int most = multiprocessors < PERSISTENT_MOST ? multiprocessors : PERSISTENT_MOST;

	if (kernel->arithmetic != SB_STRICT)
		return sb_registry_tensor_blocks(kernel, m, n, most);
	if (sb_registry_persists(kernel))
		return tiles < most ? tiles : most;
	return tiles * sb_registry_slabs(kernel, k);
}

size_t sb_registry_work(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
	int64_t slabs = sb_registry_slabs(kernel, k);

	if (kernel->arithmetic != SB_STRICT)
		return k <= SB_SPLIT_CHUNK
			       ? 0
			       : (size_t)sb_registry_tensor_blocks(kernel, m, n, PERSISTENT_MOST) *
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
const struct sb_sum_kernel *sb_registry_sum(int64_t m, int64_t n, int64_t k, int multiprocessors)
{
	const struct sb_sum_kernel *best = &sum_kernels[0];

	for (size_t i = 1; i < COUNT(sum_kernels); i++) {
		const struct sb_sum_kernel *other = &sum_kernels[i];
		bool at_once = ceil_div(ceil_div(k, SB_SLAB), other->bs) <= 2;

		if (other->be > best->be &&
		    (at_once || ceil_div(m * n, other->be) >= 2 * (int64_t)multiprocessors))
			best = other;
	}
	return best;
}

/* Seconds for `blocks` blocks at once on a multiprocessor, `busy` groups of each with `k` of k. */
static double together(const struct sb_kernel *kernel, const struct rate *rate, int groups,
		       int64_t blocks, int64_t busy, int64_t k)
{
	int most = rate->together * groups;
	int64_t now = blocks * busy;
	double share = most > 1 ? (double)(now - 1) / (most - 1) : 1;
	double flops = 2.0 * kernel->bm * kernel->bn * (double)k * (double)now;

	return flops / (rate->alone + (rate->full - rate->alone) * share);
}

/* The same for all of k: whole turns of the groups, and a last one that may leave some idle. */
static double round_seconds(const struct sb_kernel *kernel, const struct rate *rate, int64_t blocks,
			    int64_t k)
{
	int groups = kernel->threads * kernel->tm * kernel->tn / (kernel->bm * kernel->bn);
	int64_t turn = (int64_t)groups * SB_SLAB, rest = k % turn;
	double seconds =
		(double)(k / turn) * together(kernel, rate, groups, blocks, groups, SB_SLAB);

	if (rest)
		seconds += together(kernel, rate, groups, blocks, ceil_div(rest, SB_SLAB),
				    rest < SB_SLAB ? rest : SB_SLAB);
	return seconds;
}

/* The multiprocessor with the most blocks is waited for; it runs them in rounds. */
static double predict(const struct sb_kernel *kernel, const struct rate *rate, int64_t m, int64_t n,
		      int64_t k, int multiprocessors, bool packs)
{
	/* Steps of panels are whole ones. */
	int64_t whole = kernel->form == SB_FORM_PANELS ? ceil_div(k, kernel->bk) * kernel->bk : k;
	int64_t slabs = sb_registry_slabs(kernel, k), deep = slabs > 1 ? SB_SLAB : whole;
	int64_t tiles = tiles_of(kernel, m, n) * slabs;
	int64_t most = ceil_div(tiles, multiprocessors), rest = most % rate->together;
	double seconds = rate->fixed;

	if (kernel->form == SB_FORM_PANELS)
		seconds += packing.fixed;
	if (kernel->form == SB_FORM_PANELS && packs)
		seconds += 2.0 * sizeof(float) * (double)(m + n) * (double)k / packing.rate;

	if (kernel->arithmetic != SB_STRICT)
		return rate->fixed +
		       sb_registry_tensor_seconds(kernel, rate->full, m, n, k, multiprocessors);
	/* Whole tiles are cut where that evens out the shares; each block has one at least. */
	if (sb_registry_persists(kernel) && tiles > multiprocessors)
		return seconds + (double)(most - 1) * rate->ends +
		       (double)ceil_div(tiles * ceil_div(k, SB_SLAB), multiprocessors) *
			       round_seconds(kernel, rate, 1, whole < SB_SLAB ? whole : SB_SLAB);
	if (slabs > 1)
		seconds += summing.fixed + (double)sb_registry_work(kernel, m, n, k) / summing.rate;
	seconds +=
		(double)(ceil_div(most, rate->together) - 1) * rate->ends +
		(double)(most / rate->together) * round_seconds(kernel, rate, rate->together, deep);
	return rest ? seconds + round_seconds(kernel, rate, rest, deep) : seconds;
}

double sb_registry_seconds(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			   const struct sb_target *target)
{
	for (size_t i = 0; i < COUNT(rates) && sb_registry_runs(kernel, target); i++)
		if (strcmp(rates[i].name, kernel->name) == 0)
			return predict(kernel, &rates[i], m, n, k, target->multiprocessors,
				       target->packs);
	return INFINITY;
}

const struct sb_kernel *sb_registry_pick(int64_t m, int64_t n, int64_t k,
					 const struct sb_target *target)
{
	const struct sb_kernel *best = sb_registry_plain();
	double least = sb_registry_seconds(best, m, n, k, target);

	for (size_t i = 0; i < COUNT(kernels); i++) {
		double seconds;

		if (kernels[i].arithmetic != SB_STRICT)
			continue;
		seconds = sb_registry_seconds(&kernels[i], m, n, k, target);
		if (seconds < least) {
			least = seconds;
			best = &kernels[i];
		}
	}
	return best;
}

const struct sb_kernel *sb_registry_choose(int64_t m, int64_t n, int64_t k,
					   const struct sb_target *target)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const struct sb_kernel *picked = sb_registry_pick(m, n, k, target);
	const char *name = sb_settings()->kernel;
	const struct sb_kernel *named = *name ? sb_registry_find(name) : NULL;

	if (!*name)
		return picked;
	if (named && sb_registry_runs(named, target) && named->arithmetic == SB_STRICT)
		return named;
	/* What could not be emulated is not the user's fault. */
	if (named && named->arithmetic != SB_STRICT && sb_settings()->math == SB_MATH_EMULATED)
		return picked;
	sb_trace_once(&said, "SHIMBLAS_KERNEL=%s %s; using %s", name,
		      !named ? "is no kernel (see shimblas info --kernels)"
		      : named->arithmetic == SB_STRICT || !sb_registry_runs(named, target)
			      ? "does not run on this device"
			      : "is for SHIMBLAS_MATH=emulated",
		      picked->name);
	return picked;
}

bool sb_registry_rate(const struct sb_kernel *kernel, double *full, double *fixed)
{
	for (size_t i = 0; i < COUNT(rates); i++)
		if (strcmp(rates[i].name, kernel->name) == 0) {
			*full = rates[i].full;
			*fixed = rates[i].fixed;
			return true;
		}
	return false;
}

static bool reads_panels_of(const struct sb_kernel *other, const struct sb_kernel *kernel)
{
	/* Where a persistent one has no tile for each of its blocks, bulk has no such wish. */
	bool same = strcmp(other->source, kernel->source) == 0 ||
		    (sb_registry_persists(kernel) && strcmp(other->source, "sgemm_bulk") == 0);

	return same && other->form == kernel->form && kernel->bm % other->bm == 0 &&
	       kernel->bn % other->bn == 0 && kernel->bk % other->bk == 0;
}

/*
 * What a block costs where others come before and after it: the seconds until it is done, and those
 * for which it keeps the whole device from the others, however many of its tiles run at once.
 */
static double cost_of(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
		      const struct sb_target *target)
{
	double tiles = (double)tiles_of(kernel, m, n);
	double flops = 2.0 * kernel->bm * kernel->bn * (double)k * tiles;

	for (size_t i = 0; i < COUNT(rates); i++)
		if (strcmp(rates[i].name, kernel->name) == 0)
			return sb_registry_seconds(kernel, m, n, k, target) +
			       flops / (rates[i].full * target->multiprocessors);
	return INFINITY;
}

const struct sb_kernel *sb_registry_alike(const struct sb_kernel *kernel, int64_t m, int64_t n,
					  int64_t k, const struct sb_target *target)
{
	const struct sb_kernel *best = kernel;
	double least = cost_of(kernel, m, n, k, target);

	for (size_t i = 0; i < COUNT(kernels) && !*sb_settings()->kernel; i++) {
		double cost;

		if (!reads_panels_of(&kernels[i], kernel))
			continue;
		cost = cost_of(&kernels[i], m, n, k, target);
		if (cost < least) {
			least = cost;
			best = &kernels[i];
		}
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
