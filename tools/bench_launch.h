/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One product on the device, its operands uploaded as they are in host memory, and what is launched
 * on them. Everything here is called by the one who has taken and entered the device.
 */
#ifndef SB_BENCH_LAUNCH_H
#define SB_BENCH_LAUNCH_H

#include "bench_time.h"
#include "launch.h"

struct sb_bench_launch {
	struct sb_device *device;
	const struct sb_bench_product *product;
	float *reference;	 /* the plain kernel's C, in host memory, or NULL */
	sb_cu_deviceptr a, b, c; /* as in host memory */
	sb_cu_event start, end;
	const struct sb_kernel *kernel;
	bool in_place; /* panels are made only of what the kernel cannot read as it lies */
	bool emulated; /* the kernel is the first of these */
	struct sb_tiers tiers;
	sb_cu_deviceptr parts[2], flags; /* planes and exponents of A and of B; flags of both */
	size_t flag_words;
	struct sb_split_args split_a, split_b;
	sb_cu_deviceptr panel_a, panel_b; /* the kernel's panels; 0 where it wants none */
	sb_cu_deviceptr work;		  /* its chains, likewise */
	struct sb_pack_args pack_a, pack_b;
	struct sb_gemm_args gemm;
};

/*
 * Uploads the operands and computes the plain kernel's C into `reference`, which spans as much as
 * the product's; NULL if nothing is to be compared. False if memory is short or anything failed;
 * then nothing is kept.
 */
bool sb_bench_launch_open(struct sb_bench_launch *launch, struct sb_device *device,
			  const struct sb_bench_product *product, float *reference);
/* Adds to a target how the operands lie on the device. */
void sb_bench_launch_lie(const struct sb_bench_launch *launch, struct sb_target *target);
void sb_bench_launch_close(struct sb_bench_launch *launch);

/*
 * Makes a kernel ready, with its panels packed, or those that it needs if in_place is set; one of
 * an emulated product with the tiers after it, and its panels split. False if it does not run here.
 */
bool sb_bench_launch_prepare(struct sb_bench_launch *launch, const struct sb_kernel *kernel);
void sb_bench_launch_unprepare(struct sb_bench_launch *launch);

/*
 * What can be measured; each queues work on the stream of computing. Where fp16x3 reads planes,
 * packing splits as well.
 */
typedef bool sb_bench_queue(struct sb_bench_launch *launch);
sb_bench_queue sb_bench_launch_gemm, sb_bench_launch_pack, sb_bench_launch_cublas;
/* Makes one of the panels of a strict kernel. */
sb_bench_queue sb_bench_launch_pack_a, sb_bench_launch_pack_b;
/* Splits the panels, or raises all flags; and that with the launches after it. */
sb_bench_queue sb_bench_launch_split, sb_bench_launch_emulated;
/* Those after the packing of an emulated product's operands. */
sb_bench_queue sb_bench_launch_as_it_lies;

/*
 * The median of the seconds between the device's events before and after, divided by the runs in
 * between (several if they are short), each time with a freshly poisoned C, after one that does not
 * count. Negative if it failed.
 */
double sb_bench_launch_median(struct sb_bench_launch *launch, struct sb_bench_pace pace,
			      sb_bench_queue *queue);

/* Fetches C as the last run left it: is it the product, and nothing else written? */
bool sb_bench_launch_right(struct sb_bench_launch *launch);

/* Runs the kernel on a poisoned C and compares: the plain kernel's bits, or, where it is emulated,
 * its product; and nothing in the gaps? */
bool sb_bench_launch_same(struct sb_bench_launch *launch);

#endif
