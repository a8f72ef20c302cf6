/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "args.h"
#include "registry.h"
#include "settings.h"
#include "whole.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

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

/* Blocks in whole clusters, each of which has as many tiles that are neighbours along m. */
int64_t sb_registry_tensor_blocks(const struct sb_kernel *kernel, int64_t m, int64_t n, int most)
{
	int64_t pairs = sb_ceil_div(sb_ceil_div(m, kernel->bm), kernel->cluster) *
			sb_ceil_div(n, kernel->bn);
	int64_t clusters = most / kernel->cluster > 0 ? most / kernel->cluster : 1;

	return (pairs < clusters ? pairs : clusters) * kernel->cluster;
}

/* One tile on a multiprocessor at a time. */
double sb_registry_tensor_seconds(const struct sb_kernel *kernel, double rate, int64_t m, int64_t n,
				  int64_t k, int multiprocessors)
{
	int64_t rounds = sb_ceil_div(sb_ceil_div(m, kernel->bm) * sb_ceil_div(n, kernel->bn),
				     multiprocessors > 0 ? multiprocessors : 1);

	return (double)rounds * 2 * kernel->bm * kernel->bn * (double)k / rate;
}

static int most_of(int a, int b)
{
	return a > b ? a : b;
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

/* Tiers for a sum of k; `direct`: without the first. False if the device has none. */
static bool open_tiers(int64_t k, const struct sb_target *target, bool direct,
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
	measure(tiers);
	return true;
}

bool sb_registry_pick_tiers(int64_t m, int64_t n, int64_t k, const struct sb_target *target,
			    struct sb_tiers *tiers, enum sb_fallback *why)
{
	double strict, emulated;

	if (!open_tiers(k, target, false, tiers, why))
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

bool sb_registry_tiers_of(const struct sb_kernel *kernel, int64_t k, const struct sb_target *target,
			  struct sb_tiers *tiers, enum sb_fallback *why)
{
	if (!sb_registry_runs(kernel, target) ||
	    !open_tiers(k, target, kernel->arithmetic == SB_BF16X6, tiers, why))
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
	return named->arithmetic != SB_STRICT && sb_registry_tiers_of(named, k, target, tiers, why);
}

const struct sb_kernel *sb_registry_first(const struct sb_tiers *tiers)
{
	return tiers->fp16x3 ? tiers->fp16x3 : tiers->bf16x6;
}

int sb_registry_tiers_kernels(const struct sb_tiers *tiers,
			      const struct sb_kernel *kernels[SB_TIERS_KERNELS])
{
	const struct sb_kernel *all[] = {tiers->fp16x3, tiers->half, tiers->bf16x6, tiers->strict};
	int count = 0;

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i])
			kernels[count++] = all[i];
	return count;
}

size_t sb_registry_tiers_work(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k)
{
	const struct sb_kernel *all[SB_TIERS_KERNELS];
	int count = sb_registry_tiers_kernels(tiers, all);
	size_t most = 0;

	for (int i = 0; i < count; i++) {
		size_t bytes = sb_registry_work(all[i], m, n, k);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Of the first tier, in its own tiles and in half of them; infinite where it has none of those. */
static double first_seconds(const struct sb_tiers *tiers, bool half, int64_t m, int64_t n,
			    int64_t k, int multiprocessors)
{
	if (!half)
		return tiers->fixed + sb_registry_tensor_seconds(sb_registry_first(tiers),
								 tiers->rate, m, n, k,
								 multiprocessors);
	return tiers->half ? tiers->half_fixed + sb_registry_tensor_seconds(tiers->half,
									    tiers->half_rate, m, n,
									    k, multiprocessors)
			   : (double)INFINITY;
}

int sb_registry_tiers_launch(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
			     int multiprocessors, const struct sb_kernel *kernels[SB_TIERS_MOST])
{
	bool half = first_seconds(tiers, true, m, n, k, multiprocessors) <
		    first_seconds(tiers, false, m, n, k, multiprocessors);
	int count = 0;

	if (tiers->fp16x3)
		kernels[count++] = half ? tiers->half : tiers->fp16x3;
	kernels[count++] = tiers->bf16x6;
	kernels[count++] = tiers->strict;
	return count;
}

/* The launches after the first find nothing to do. */
double sb_registry_tiers_seconds(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
				 int multiprocessors)
{
	const double launches = tiers->fp16x3 ? 2 * 2e-6 : 2e-6;
	double whole = first_seconds(tiers, false, m, n, k, multiprocessors);
	double half = first_seconds(tiers, true, m, n, k, multiprocessors);

	return launches + (half < whole ? half : whole);
}

double sb_registry_split_seconds(int64_t lines, int64_t k)
{
	return splitting.fixed + 2 * sizeof(float) * (double)lines * (double)k / splitting.rate;
}

double sb_registry_emulated_seconds(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
				    int multiprocessors)
{
	double seconds = sb_registry_tiers_seconds(tiers, m, n, k, multiprocessors);

	if (tiers->fp16x3)
		seconds += sb_registry_split_seconds(m, k) + sb_registry_split_seconds(n, k);
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
