/* SPDX-License-Identifier: BSD-3-Clause */
/* `shimblas tune`: what its parts share. */
#ifndef SB_TUNE_H
#define SB_TUNE_H

#include "bench_data.h"
#include "profile.h"
#include "progress.h"

struct sb_tune {
	struct sb_profile *profile; /* begins as the profile in force, and is filled part by part */
	struct sb_bench_data *data; /* for products of the largest node, or `largest` */
	int64_t largest;
	double budget; /* seconds, for all of it */
	struct sb_progress progress;
};

/* A grid of products, nn and then the other transposes, each measured from the shortest on as long
 * as its time lasts. */
typedef double sb_tune_measure(struct sb_tune *tune, const struct sb_bench_product *product);
/* How long the measurement of a node is expected to take. */
typedef double sb_tune_expect(const struct sb_profile *profile, const struct sb_bench_shape *shape);

struct sb_tune_grid {
	const char *name;
	sb_tune_measure *measure;
	sb_tune_expect *expect;
	double budget; /* seconds */
	bool times; /* not factors: a node that was not reached is in proportion to its neighbour */
};
/* Fills the grids; how many nodes were measured, negative if one failed. */
int sb_tune_fill(struct sb_tune *tune, const struct sb_tune_grid *what, struct sb_grids *grids);
/* The seconds that filling it is expected to take, within its budget. */
double sb_tune_expected(const struct sb_tune *tune, const struct sb_tune_grid *what);

/* How many runs sb_sides_seconds() will make of what takes so long. */
int sb_tune_runs(double seconds, int runs, double long_run);

/* The backend, with 1 thread, 4, 16, ... and as many as it has. False if there is none. */
bool sb_tune_cpu(struct sb_tune *tune, double budget);
double sb_tune_cpu_expected(const struct sb_tune *tune, double budget);

/* Links, launches, kernels and whole calls. NULL, or what failed. */
const char *sb_tune_gpu(struct sb_tune *tune, struct sb_device *device, double budget);

/* Writes the profile to a file of that name, which appears whole or not at all. */
bool sb_tune_write(const struct sb_profile *profile, const char *path);

#endif
