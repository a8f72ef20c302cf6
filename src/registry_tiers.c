/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "registry.h"
#include "settings.h"
#include "whole.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define ROUNDS_MOST  4 /* of parts of k; with more the last is hardly any fuller */

static const struct sb_split_kernel split_kernels[] = {
#define SB_SPLIT(method, bi_, bk_, threads_, text_)                                                \
	{.name = "split_" #method "_" #bi_ "x" #bk_,                                               \
	 .source = "split_" #method,                                                               \
	 .text = text_,                                                                            \
	 .bi = bi_,                                                                                \
	 .bk = bk_,                                                                                \
	 .threads = threads_},
#include "kernels.def"
};

/* Splitting: the launch, and bytes a second, read and written. */
static const struct {
	double fixed, rate;
} splitting =
#define SB_SPLITTING(fixed_, rate_)                                                                \
	{                                                                                          \
		(fixed_) * 1e-6, (rate_)*1e9                                                       \
	}
#include "rates.def"
	;

static const struct row_of_tiers {
	int from, to;
	const char *fp16x3, *half, *bf16x6, *strict;
	double gain;
} all_tiers[] = {
#define SB_TIERS(from_, to_, fp16x3_, half_, bf16x6_, strict_, gain_)                              \
	{from_, to_, fp16x3_, half_, bf16x6_, strict_, gain_},
#include "tiers.def"
};

static const struct row_of_cut_tiers {
	int from, to;
	const char *fp16x3, *bf16x6, *strict;
} all_cut_tiers[] = {
#define SB_TIERS_CUT(from_, to_, fp16x3_, bf16x6_, strict_) {from_, to_, fp16x3_, bf16x6_, strict_},
#include "tiers.def"
};

/* Clusters that there is work for: each has as many tiles that are neighbours along m. */
static int64_t clusters_of(const struct sb_kernel *kernel, int64_t m, int64_t n)
{
	return sb_ceil_div(sb_ceil_div(m, kernel->bm), kernel->cluster) *
	       sb_ceil_div(n, kernel->bn);
}

static int64_t clusters_at_once(const struct sb_kernel *kernel, int multiprocessors)
{
	return multiprocessors > kernel->cluster ? multiprocessors / kernel->cluster : 1;
}

int64_t sb_registry_tensor_blocks(const struct sb_kernel *kernel, int64_t m, int64_t n,
				  int64_t parts, int most)
{
	int64_t pairs = clusters_of(kernel, m, n) * parts,
		clusters = clusters_at_once(kernel, most);

	return (pairs < clusters ? pairs : clusters) * kernel->cluster;
}

/* One tile on a multiprocessor at a time. */
double sb_registry_tensor_seconds(const struct sb_kernel *kernel, double rate, int64_t m, int64_t n,
				  int64_t k, int multiprocessors)
{
	int64_t rounds = sb_ceil_div(clusters_of(kernel, m, n) * kernel->cluster,
				     multiprocessors > 0 ? multiprocessors : 1);

	return (double)rounds * 2 * kernel->bm * kernel->bn * (double)k / rate;
}

static int most_of(int a, int b)
{
	return a > b ? a : b;
}

/* Those that take their places where k is cut, which is where all of C has less than a tile for
 * each multiprocessor. */
static void set_cut(struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
		    const struct sb_target *target)
{
	const struct sb_kernel *first = sb_registry_first(tiers);

	if (k <= tiers->chunk || sb_registry_tiles(first, m, n) >= (int64_t)target->multiprocessors)
		return;
	for (size_t i = 0; i < COUNT(all_cut_tiers); i++) {
		const struct row_of_cut_tiers *row = &all_cut_tiers[i];
		const struct sb_kernel *fp16x3, *bf16x6, *strict;

		if (target->arch < row->from || target->arch > row->to)
			continue;
		fp16x3 = sb_registry_find(row->fp16x3);
		bf16x6 = sb_registry_find(row->bf16x6);
		strict = sb_registry_find(row->strict);
		if ((tiers->fp16x3 && !fp16x3) || !bf16x6 || !strict ||
		    !sb_registry_runs(bf16x6, target) || !sb_registry_runs(strict, target))
			continue;
		tiers->fp16x3_cut = tiers->fp16x3 ? fp16x3 : NULL;
		tiers->bf16x6_cut = bf16x6;
		tiers->strict_cut = strict;
	}
}

/* The tiers of a device, whatever the shape; false if it has none. */
static bool tiers_of(const struct sb_target *target, struct sb_tiers *tiers)
{
	const struct sb_kernel *all[SB_TIERS_KERNELS];
	int count;

	for (size_t i = 0; i < COUNT(all_tiers); i++) {
		const struct row_of_tiers *row = &all_tiers[i];

		if (target->arch < row->from || target->arch > row->to)
			continue;
		*tiers = (struct sb_tiers){.fp16x3 = sb_registry_find(row->fp16x3),
					   .half = sb_registry_find(row->half),
					   .bf16x6 = sb_registry_find(row->bf16x6),
					   .strict = sb_registry_find(row->strict),
					   .gain = row->gain};
		count = sb_registry_tiers_kernels(tiers, all);
		for (int k = 0; k < count; k++)
			if (!sb_registry_runs(all[k], target))
				return false;
		return tiers->bf16x6 && tiers->strict;
	}
	return false;
}

static void measure(struct sb_tiers *tiers)
{
	const struct sb_kernel *all[SB_TIERS_KERNELS];
	int count = sb_registry_tiers_kernels(tiers, all);

	if (!sb_registry_rate(sb_registry_first(tiers), &tiers->rate, &tiers->fixed))
		tiers->rate = 1;
	if (tiers->half && !sb_registry_rate(tiers->half, &tiers->half_rate, &tiers->half_fixed))
		tiers->half = NULL;
	tiers->bm = tiers->bn = tiers->bk = 1;
	for (int i = 0; i < count; i++) {
		tiers->bm = most_of(tiers->bm, all[i]->bm);
		tiers->bn = most_of(tiers->bn, all[i]->bn);
		tiers->bk = most_of(tiers->bk, all[i]->bk);
	}
}

/* Tiers for a product; `direct`: without the first. False if the device has none. */
static bool open_tiers(int64_t m, int64_t n, int64_t k, const struct sb_target *target, bool direct,
		       struct sb_tiers *tiers, enum sb_fallback *why)
{
	*why = SB_FALLBACK_NO_KERNEL;
	if (!tiers_of(target, tiers))
		return false;
	*why = SB_FALLBACK_NONE;
	if (tiers->fp16x3 && (k < SB_FP16X3_LEAST || direct)) {
		*why = direct ? SB_FALLBACK_NAMED : SB_FALLBACK_SHORT;
		tiers->fp16x3 = tiers->half = NULL;
	}
	tiers->chunk = sb_split_chunk(m, n, k);
	set_cut(tiers, m, n, k, target);
	measure(tiers);
	return true;
}

bool sb_registry_pick_tiers(int64_t m, int64_t n, int64_t k, const struct sb_target *target,
			    struct sb_tiers *tiers, enum sb_fallback *why)
{
	double strict, emulated;

	if (!open_tiers(m, n, k, target, false, tiers, why))
		return false;
	strict = sb_registry_seconds(sb_registry_pick(m, n, k, target), m, n, k, target);
	emulated = tiers->gain > 0
			   ? strict / tiers->gain
			   : sb_registry_emulated_seconds(tiers, m, n, k, target->multiprocessors);
	if (emulated < strict)
		return true;
	*why = SB_FALLBACK_FASTER;
	return false;
}

/* One that cuts k stands for the first kernel of its source, which does not. */
static const struct sb_kernel *uncut(const struct sb_kernel *kernel)
{
	bool cuts = false;

	for (size_t i = 0; i < COUNT(all_cut_tiers); i++)
		cuts = cuts || strcmp(kernel->name, all_cut_tiers[i].fp16x3) == 0 ||
		       strcmp(kernel->name, all_cut_tiers[i].bf16x6) == 0;
	for (int i = 0; cuts && i < sb_registry_count(); i++)
		if (strcmp(sb_registry_row(i)->source, kernel->source) == 0)
			return sb_registry_row(i);
	return kernel;
}

bool sb_registry_tiers_of(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			  const struct sb_target *target, struct sb_tiers *tiers,
			  enum sb_fallback *why)
{
	kernel = uncut(kernel);
	if (!sb_registry_runs(kernel, target) ||
	    !open_tiers(m, n, k, target, kernel->arithmetic == SB_BF16X6, tiers, why))
		return false;
	/* In whatever tiles, and one that the device's own is preferred to. */
	if (kernel->arithmetic == SB_BF16X6)
		tiers->bf16x6 = kernel;
	else if (tiers->fp16x3)
		tiers->fp16x3 = kernel;
	tiers->half = NULL;
	measure(tiers);
	return tiers->fp16x3 || kernel->arithmetic == SB_BF16X6 || k < SB_FP16X3_LEAST;
}

bool sb_registry_choose_tiers(int64_t m, int64_t n, int64_t k, const struct sb_target *target,
			      struct sb_tiers *tiers, enum sb_fallback *why)
{
	const char *name = sb_settings()->kernel;
	const struct sb_kernel *named = *name ? sb_registry_find(name) : NULL;

	if (!named || !sb_registry_runs(named, target))
		return sb_registry_pick_tiers(m, n, k, target, tiers, why);
	*why = SB_FALLBACK_NAMED;
	return named->arithmetic != SB_STRICT &&
	       sb_registry_tiers_of(named, m, n, k, target, tiers, why);
}

const struct sb_kernel *sb_registry_first(const struct sb_tiers *tiers)
{
	return tiers->fp16x3 ? tiers->fp16x3 : tiers->bf16x6;
}

int sb_registry_tiers_kernels(const struct sb_tiers *tiers,
			      const struct sb_kernel *kernels[SB_TIERS_KERNELS])
{
	const struct sb_kernel *all[] = {tiers->fp16x3,	   tiers->half,	      tiers->bf16x6,
					 tiers->strict,	   tiers->fp16x3_cut, tiers->bf16x6_cut,
					 tiers->strict_cut};
	int count = 0;

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i])
			kernels[count++] = all[i];
	return count;
}

static size_t sums_of(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k)
{
	return (size_t)m * (size_t)n * (size_t)sb_ceil_div(k, tiers->chunk) * sizeof(float);
}

/* Where k is cut, the sums of all chunks; none waits in memory where there is one. A block of C
 * needs no more. */
size_t sb_registry_tiers_work(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k)
{
	const struct sb_kernel *all[SB_TIERS_KERNELS];
	int count = sb_registry_tiers_kernels(tiers, all);
	size_t most = tiers->bf16x6_cut ? sums_of(tiers, m, n, k) : 0;

	for (int i = 0; i < count; i++) {
		bool alone = all[i]->arithmetic != SB_STRICT && k <= tiers->chunk;
		size_t bytes = alone ? 0 : sb_registry_work(all[i], m, n, k);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* What comes from memory once: fours of bytes of whole tiles, as floats or as planes. */
static double memory_seconds(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
	int64_t lines = sb_round_up(m, kernel->bm * kernel->cluster) + sb_round_up(n, kernel->bn);

	return sizeof(float) * (double)lines * (double)k / splitting.rate;
}

/* Of the first tier, in its own tiles and in half of them; infinite where it has none of those. */
static double whole_seconds(const struct sb_tiers *tiers, bool half, int64_t m, int64_t n,
			    int64_t k, int multiprocessors)
{
	const struct sb_kernel *kernel = half ? tiers->half : sb_registry_first(tiers);

	if (!kernel)
		return (double)INFINITY;
	return (half ? tiers->half_fixed : tiers->fixed) +
	       sb_longer(memory_seconds(kernel, m, n, k),
			 sb_registry_tensor_seconds(kernel, half ? tiers->half_rate : tiers->rate,
						    m, n, k, multiprocessors));
}

/* Of parts of so many chunks, the launches of both sums included. */
static double cut_seconds(const struct sb_tiers *tiers, const struct sb_kernel *kernel, int64_t m,
			  int64_t n, int64_t k, int64_t chunks, int multiprocessors)
{
	int64_t parts = sb_ceil_div(k, chunks * tiers->chunk);
	int64_t rounds = sb_ceil_div(clusters_of(kernel, m, n) * parts,
				     clusters_at_once(kernel, multiprocessors));
	double flops = 2.0 * kernel->bm * kernel->bn * (double)(chunks * tiers->chunk), rate, fixed;

	if (!sb_registry_rate(kernel, &rate, &fixed))
		return (double)INFINITY;
	return fixed + sb_registry_sum_seconds((double)sums_of(tiers, m, n, k)) +
	       sb_longer(memory_seconds(kernel, m, n, k), (double)rounds * flops / rate);
}

/*
 * Puts the best cut in the place of a launch without any, if it takes less: as many parts as the
 * device works through in so many rounds.
 */
static void try_cuts(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
		     int multiprocessors, struct sb_tiers_launch *launch)
{
	const struct sb_kernel *kernel = tiers->fp16x3_cut ? tiers->fp16x3_cut : tiers->bf16x6_cut;
	int64_t all = sb_ceil_div(k, tiers->chunk);

	for (int rounds = 1; kernel && rounds <= ROUNDS_MOST; rounds++) {
		int64_t parts = rounds * clusters_at_once(kernel, multiprocessors) /
				clusters_of(kernel, m, n);
		int64_t chunks = parts > 0 ? sb_ceil_div(all, parts) : all;
		double seconds;

		if (chunks >= all)
			continue;
		seconds = cut_seconds(tiers, kernel, m, n, k, chunks, multiprocessors);
		if (seconds < launch->seconds) {
			launch->seconds = seconds;
			launch->part = (int32_t)(chunks * tiers->chunk);
		}
	}
	if (!launch->part)
		return;
	launch->kernels[0] = kernel;
	launch->kernels[launch->count - 2] = tiers->bf16x6_cut;
	launch->kernels[launch->count - 1] = tiers->strict_cut;
}

struct sb_tiers_launch sb_registry_tiers_launch(const struct sb_tiers *tiers, int64_t m, int64_t n,
						int64_t k, int multiprocessors)
{
	double whole = whole_seconds(tiers, false, m, n, k, multiprocessors);
	double half = whole_seconds(tiers, true, m, n, k, multiprocessors);
	struct sb_tiers_launch launch = {.seconds = half < whole ? half : whole};

	if (tiers->fp16x3)
		launch.kernels[launch.count++] = half < whole ? tiers->half : tiers->fp16x3;
	launch.kernels[launch.count++] = tiers->bf16x6;
	launch.kernels[launch.count++] = tiers->strict;
	try_cuts(tiers, m, n, k, multiprocessors, &launch);
	return launch;
}

/* The launches after the first find nothing to do. */
double sb_registry_tiers_seconds(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
				 int multiprocessors)
{
	const double launches = tiers->fp16x3 ? 2 * 2e-6 : 2e-6;

	return launches + sb_registry_tiers_launch(tiers, m, n, k, multiprocessors).seconds;
}

double sb_registry_split_seconds(int64_t lines, int64_t k)
{
	return splitting.fixed + 2 * sizeof(float) * (double)lines * (double)k / splitting.rate;
}

double sb_registry_emulated_seconds(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
				    int multiprocessors)
{
	double seconds = sb_registry_tiers_seconds(tiers, m, n, k, multiprocessors);

	/* What is written is padded. */
	if (tiers->fp16x3)
		seconds += sb_registry_split_seconds((m + sb_round_up(m, tiers->bm)) / 2, k) +
			   sb_registry_split_seconds((n + sb_round_up(n, tiers->bn)) / 2, k);
	return seconds;
}

const struct sb_split_kernel *sb_registry_split(bool raw)
{
	const char *source = raw ? "split_raw" : "split_fp16";
	size_t row = 0;

	while (row + 1 < COUNT(split_kernels) && strcmp(split_kernels[row].source, source) != 0)
		row++;
	return &split_kernels[row];
}
