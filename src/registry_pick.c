/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "registry.h"
#include "settings.h"
#include "trace.h"
#include "whole.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

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

/* By how much the rates of a kernel fall where operands lie otherwise than in fours along m or n.
 */
static const struct lying {
	const char *name;
	double across_a, across_b, words;
} lyings[] = {
#define SB_LYING(method, bm_, bn_, bk_, across_a_, across_b_, words_)                              \
	{.name = "sgemm_" #method "_" #bm_ "x" #bn_ "x" #bk_,                                      \
	 .across_a = across_a_,                                                                    \
	 .across_b = across_b_,                                                                    \
	 .words = words_},
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

/* Making panels: bytes read and written of what is copied, and of what lies on the device. */
static const struct packing {
	double copied; /* seconds for the launch */
	struct pass along, across;
} packing =
#define SB_PACKING(copied_, fixed_, along_, across_)                                               \
	{                                                                                          \
		(copied_) * 1e-6, PASS(fixed_, along_), PASS(fixed_, across_)                      \
	}
#include "rates.def"
	;

/* Reading operands: bytes that the second-level cache holds, and bytes a second from there and from
 * memory. */
static const struct reading {
	double cached, near, far;
} reading =
#define SB_READING(cached_, near_, far_)                                                           \
	{                                                                                          \
		(cached_) * 1e6, (near_)*1e9, (far_)*1e9                                           \
	}
#include "rates.def"
	;

/* Adding up slabs: bytes of chains, written and read. */
static const struct pass summing =
#define SB_SUMMING PASS
#include "rates.def"
	;

double sb_registry_sum_seconds(double bytes)
{
	return summing.fixed + bytes / summing.rate;
}

static const struct rate *find_rate(const struct sb_kernel *kernel)
{
	for (size_t i = 0; i < COUNT(rates); i++)
		if (strcmp(rates[i].name, kernel->name) == 0)
			return &rates[i];
	return NULL;
}

/*
 * NULL: it was not measured. To find one compares names, so what has been found is kept, by the
 * kernel's row. There are fewer rows than twice the rates; of others it would be looked for anew.
 */
static const struct rate *rate_of(const struct sb_kernel *kernel)
{
	static _Atomic(const struct rate *) known[2 * COUNT(rates)];
	const size_t row = (size_t)(kernel - sb_registry_row(0));
	const struct rate *rate;

	if (row >= COUNT(known))
		return find_rate(kernel);
	rate = atomic_load_explicit(&known[row], memory_order_relaxed);
	if (!rate) {
		rate = find_rate(kernel);
		atomic_store_explicit(&known[row], rate, memory_order_relaxed);
	}
	return rate;
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
		seconds += together(kernel, rate, groups, blocks, sb_ceil_div(rest, SB_SLAB),
				    rest < SB_SLAB ? rest : SB_SLAB);
	return seconds;
}

static bool is_across(enum sb_lie lie)
{
	return lie == SB_LIE_ACROSS || lie == SB_LIE_ACROSS_WORDS;
}

static bool is_words(enum sb_lie lie)
{
	return lie == SB_LIE_ALONG_WORDS || lie == SB_LIE_ACROSS_WORDS;
}

/* Making a panel of an operand, where the kernel wants one: `padded` rows of `extent`. */
static double pack_seconds(const struct sb_kernel *kernel, enum sb_lie lie, int64_t extent,
			   int64_t padded, int64_t k)
{
	const struct pass *pass = is_across(lie) ? &packing.across : &packing.along;

	if (kernel->form == SB_FORM_ANY)
		return 0;
	if (lie == SB_LIE_COPIED)
		return packing.copied;
	if (lie == SB_LIE_ALONG && sb_registry_has_maps(kernel))
		return 0;
	return pass->fixed + sizeof(float) * (double)(extent + padded) * (double)k / pass->rate;
}

/* What the rounds of a kernel take longer by for the way its operands lie. */
static double lying(const struct sb_kernel *kernel, const struct sb_target *target)
{
	double factor = 1;

	if (kernel->form != SB_FORM_ANY ||
	    (target->a == SB_LIE_COPIED && target->b == SB_LIE_COPIED))
		return 1;
	for (size_t i = 0; i < COUNT(lyings); i++) {
		const struct lying *row = &lyings[i];

		if (strcmp(row->name, kernel->name) != 0)
			continue;
		factor *= is_across(target->a) ? row->across_a : 1;
		factor *= is_across(target->b) ? row->across_b : 1;
		factor *= is_words(target->a) || is_words(target->b) ? row->words : 1;
	}
	return factor;
}

/* Bytes of both operands, once. */
static double read_seconds(int64_t m, int64_t n, int64_t k)
{
	double bytes = sizeof(float) * (double)(m + n) * (double)k;

	return bytes <= reading.cached
		       ? bytes / reading.near
		       : reading.cached / reading.near + (bytes - reading.cached) / reading.far;
}

/* The multiprocessor with the most blocks is waited for; it runs them in rounds. */
static double rounds_seconds(const struct sb_kernel *kernel, const struct rate *rate, int64_t m,
			     int64_t n, int64_t k, int multiprocessors)
{
	/* Steps of panels are whole ones. */
	int64_t whole =
		kernel->form == SB_FORM_PANELS ? sb_ceil_div(k, kernel->bk) * kernel->bk : k;
	int64_t slabs = sb_registry_slabs(kernel, k), deep = slabs > 1 ? SB_SLAB : whole;
	int64_t tiles = sb_registry_tiles(kernel, m, n) * slabs;
	int64_t most = sb_ceil_div(tiles, multiprocessors), rest = most % rate->together;
	double seconds;

	/* Whole tiles are cut where that evens out the shares; each block has one at least. */
	if (sb_registry_persists(kernel) && tiles > multiprocessors)
		return (double)(most - 1) * rate->ends +
		       (double)sb_ceil_div(tiles * sb_ceil_div(k, SB_SLAB), multiprocessors) *
			       round_seconds(kernel, rate, 1, whole < SB_SLAB ? whole : SB_SLAB);
	seconds =
		(double)(sb_ceil_div(most, rate->together) - 1) * rate->ends +
		(double)(most / rate->together) * round_seconds(kernel, rate, rate->together, deep);
	return rest ? seconds + round_seconds(kernel, rate, rest, deep) : seconds;
}

static double predict(const struct sb_kernel *kernel, const struct rate *rate, int64_t m, int64_t n,
		      int64_t k, const struct sb_target *target)
{
	int multiprocessors = target->multiprocessors;
	double seconds = rate->fixed;

	if (kernel->arithmetic != SB_STRICT)
		return seconds +
		       sb_registry_tensor_seconds(kernel, rate->full, m, n, k, multiprocessors);
	seconds += pack_seconds(kernel, target->a, m, sb_round_up(m, kernel->bm), k) +
		   pack_seconds(kernel, target->b, n, sb_round_up(n, kernel->bn), k);
	if (sb_registry_slabs(kernel, k) > 1)
		seconds += sb_registry_sum_seconds((double)sb_registry_work(kernel, m, n, k));
	return seconds + sb_longer(read_seconds(m, n, k),
				   lying(kernel, target) *
					   rounds_seconds(kernel, rate, m, n, k, multiprocessors));
}

double sb_registry_seconds(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			   const struct sb_target *target)
{
	const struct rate *rate = sb_registry_runs(kernel, target) ? rate_of(kernel) : NULL;

	return rate ? predict(kernel, rate, m, n, k, target) : (double)INFINITY;
}

static const struct sb_kernel *pick(int64_t m, int64_t n, int64_t k, const struct sb_target *target)
{
	const struct sb_kernel *best = sb_registry_plain();
	double least = sb_registry_seconds(best, m, n, k, target);

	for (int i = 0; i < sb_registry_count(); i++) {
		const struct sb_kernel *kernel = sb_registry_row(i);
		double seconds;

		if (kernel->arithmetic != SB_STRICT)
			continue;
		seconds = sb_registry_seconds(kernel, m, n, k, target);
		if (seconds < least) {
			least = seconds;
			best = kernel;
		}
	}
	return best;
}

static bool alike(const struct sb_target *x, const struct sb_target *y)
{
	return x->arch == y->arch && x->multiprocessors == y->multiprocessors &&
	       x->shared == y->shared && x->maps == y->maps && x->a == y->a && x->b == y->b;
}

/*
 * To compare all kernels takes microseconds, and a call asks twice: who judges, and who works. What
 * was picked last is kept, for whoever finds nobody else at it.
 */
const struct sb_kernel *sb_registry_pick(int64_t m, int64_t n, int64_t k,
					 const struct sb_target *target)
{
	static atomic_flag taken = ATOMIC_FLAG_INIT;
	static struct {
		int64_t m, n, k;
		struct sb_target target;
		const struct sb_kernel *kernel;
	} last;
	const struct sb_kernel *kernel = NULL;

	if (!atomic_flag_test_and_set(&taken)) {
		if (last.m == m && last.n == n && last.k == k && alike(&last.target, target))
			kernel = last.kernel;
		atomic_flag_clear(&taken);
	}
	if (kernel)
		return kernel;
	kernel = pick(m, n, k, target);
	if (!atomic_flag_test_and_set(&taken)) {
		last.m = m;
		last.n = n;
		last.k = k;
		last.target = *target;
		last.kernel = kernel;
		atomic_flag_clear(&taken);
	}
	return kernel;
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
	const struct rate *rate = rate_of(kernel);

	if (!rate)
		return false;
	*full = rate->full;
	*fixed = rate->fixed;
	return true;
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
	double tiles = (double)sb_registry_tiles(kernel, m, n);
	double flops = 2.0 * kernel->bm * kernel->bn * (double)k * tiles;
	const struct rate *rate = rate_of(kernel);

	return rate ? sb_registry_seconds(kernel, m, n, k, target) +
			       flops / (rate->full * target->multiprocessors)
		    : (double)INFINITY;
}

const struct sb_kernel *sb_registry_alike(const struct sb_kernel *kernel, int64_t m, int64_t n,
					  int64_t k, const struct sb_target *target)
{
	const struct sb_kernel *best = kernel;
	double least = cost_of(kernel, m, n, k, target);

	for (int i = 0; i < sb_registry_count() && !*sb_settings()->kernel; i++) {
		const struct sb_kernel *other = sb_registry_row(i);
		double cost;

		if (!reads_panels_of(other, kernel))
			continue;
		cost = cost_of(other, m, n, k, target);
		if (cost < least) {
			least = cost;
			best = other;
		}
	}
	return best;
}
