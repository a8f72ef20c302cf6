/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 4: the kernels there are: kernels/kernels.def as data, and which of them serves a call.
 */
#ifndef SB_REGISTRY_H
#define SB_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/*
 * Operands through their strides, whatever they are; or only as canonical panels, or as the planes
 * that a split kernel makes of those (args.h).
 */
enum sb_form { SB_FORM_ANY, SB_FORM_PANELS, SB_FORM_PLANES };

struct sb_kernel {
	const char *name;	     /* also the symbol: sgemm_<method>_<BM>x<BN>x<BK> */
	const char *source;	     /* of its image: sgemm_<method> */
	const char *text;	     /* what it changes against the one before */
	int bm, bn, bk;		     /* tile of C, and values of k a step */
	int threads, tm, tn, stages; /* on tensor cores no thread has a tile: tm and tn are 0 */
	int blocks;		     /* that the compiler leaves room for on a multiprocessor */
	int dynamic;		     /* bytes of dynamic shared memory a launch must give */
	enum sb_form form;
	int arch;    /* least compute capability times ten */
	int cluster; /* blocks of a cluster */
	enum sb_arithmetic arithmetic;
};

struct sb_pack_kernel {
	const char *name, *source, *text;
	int bi, bk; /* block of i and k */
	int threads;
};

struct sb_sum_kernel {
	const char *name, *source, *text;
	int be, bs; /* elements of C of a block, and slabs at a time */
	int threads;
};

struct sb_split_kernel {
	const char *name, *source, *text;
	int bi, bk; /* block of i and k */
	int threads;
};

int sb_registry_count(void);
const struct sb_kernel *sb_registry_row(int row);
/* Does the kernel read the tensor maps of its arguments? */
bool sb_registry_has_maps(const struct sb_kernel *kernel);
/* Has it a block for each slab of k? */
bool sb_registry_splits(const struct sb_kernel *kernel);
/* Slabs of k that are computed apart, to be added up by the sum kernel: 1 if the kernel does it. */
int64_t sb_registry_slabs(const struct sb_kernel *kernel, int64_t k);
/* Can it go on from totals that a launch before has left in C (args.h)? */
bool sb_registry_resumes(const struct sb_kernel *kernel);
/* Do its blocks go from tile to tile? */
bool sb_registry_persists(const struct sb_kernel *kernel);
/* How many of its tiles cover C. */
int64_t sb_registry_tiles(const struct sb_kernel *kernel, int64_t m, int64_t n);
/* The grid of a launch. */
int64_t sb_registry_blocks(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			   int multiprocessors);
/* Bytes of device memory that a launch works in: where sums wait for others; 0 without any. */
size_t sb_registry_work(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k);
/* By name, or NULL. */
const struct sb_kernel *sb_registry_find(const char *name);

/* The kernel that serves every shape and every architecture. */
const struct sb_kernel *sb_registry_plain(void);

/* How an operand lies that a product is to read. */
enum sb_lie {
	SB_LIE_COPIED,	     /* not on the device yet: it comes as the kernel wants it */
	SB_LIE_ALONG,	     /* on the device, k slow, mappable (launch.h) */
	SB_LIE_ALONG_WORDS,  /* the same, off 16 bytes */
	SB_LIE_ACROSS,	     /* on the device, k contiguous, in aligned fours */
	SB_LIE_ACROSS_WORDS, /* the same, off 16 bytes */
	SB_LIES
};

/* What a pick asks of a device and of operands there; registry_pick.c compares all of it. */
struct sb_target {
	int arch;	     /* compute capability times ten */
	int multiprocessors; /* > 0 */
	int shared;	     /* most bytes of dynamic shared memory that a launch may ask for */
	bool maps;	     /* tensor maps can be made (there is cuTensorMapEncodeTiled) */
	enum sb_lie a, b;
};

/*
 * The kernel for an m x n x k product on such a device; never NULL. A pure function: of the kernels
 * in rates.def that run there, the one whose rounds of tiles are predicted to take the shortest.
 */
const struct sb_kernel *sb_registry_pick(int64_t m, int64_t n, int64_t k,
					 const struct sb_target *target);

/* Does the kernel run there? */
bool sb_registry_runs(const struct sb_kernel *kernel, const struct sb_target *target);

/* What rates.def says: FLOP/s of a multiprocessor that is full, seconds of a launch. */
bool sb_registry_rate(const struct sb_kernel *kernel, double *full, double *fixed);

/* The seconds that pick predicts of a kernel; infinite if it does not run there or has no rate. */
double sb_registry_seconds(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			   const struct sb_target *target);

/*
 * The kernels that serve an emulated product together, each of which computes the tiles of C that
 * the one before has left. Their tiles and what they read are as one: panels and cuts of C are
 * multiples of bm and bn, depths of bk.
 */
struct sb_tiers {
	const struct sb_kernel *fp16x3; /* or NULL: nothing is split, all tiles begin with bf16x6 */
	const struct sb_kernel *half;	/* the same in smaller tiles, for small grids; or NULL */
	const struct sb_kernel *bf16x6, *strict;
	/* Where k may be cut, since all of C has few tiles: what takes the places of these; or
	 * NULL. There may be no first one. */
	const struct sb_kernel *fp16x3_cut, *bf16x6_cut, *strict_cut;
	int bm, bn, bk;
	int32_t chunk; /* of k, as args.h has it: of the whole product */
	/* Of the first and of half: FLOP/s of a multiprocessor, seconds of a launch. */
	double rate, fixed, half_rate, half_fixed;
	double gain; /* over strict kernels where no rate was measured, else 0 (tiers.def) */
};

/* Sums shorter than this begin with bf16x6, which is the more accurate there. */
#define SB_FP16X3_LEAST 1024

/*
 * As pick, of an emulated product: true, and the tiers are filled in; or false, and it is to be
 * computed by a strict kernel. *why: NONE or SHORT; or NO_KERNEL, or FASTER, where a strict one is
 * predicted to take less.
 */
bool sb_registry_pick_tiers(int64_t m, int64_t n, int64_t k, const struct sb_target *target,
			    struct sb_tiers *tiers, enum sb_fallback *why);
/* The tiers that begin with a kernel, for any shape; short sums without fp16x3. False if it does
 * not run there. One that cuts k stands for the one that does not. */
bool sb_registry_tiers_of(const struct sb_kernel *kernel, int64_t m, int64_t n, int64_t k,
			  const struct sb_target *target, struct sb_tiers *tiers,
			  enum sb_fallback *why);
/*
 * As choose: one of their kernels that SHIMBLAS_KERNEL names is used for any shape, bf16x6 for all
 * of C, and so is a strict one; *why is NAMED then.
 */
bool sb_registry_choose_tiers(int64_t m, int64_t n, int64_t k, const struct sb_target *target,
			      struct sb_tiers *tiers, enum sb_fallback *why);
/*
 * A launch of m x n x k, which may be a block of C: its kernels in their order, and how long the
 * parts are that k is cut into (args.h), or 0: it is not. Then a sum kernel comes before the last,
 * strict one. Whether k is cut changes no bit.
 */
#define SB_TIERS_MOST 3
struct sb_tiers_launch {
	const struct sb_kernel *kernels[SB_TIERS_MOST];
	int count;
	int32_t part;
	double seconds; /* predicted of the first, and of the sums */
};
struct sb_tiers_launch sb_registry_tiers_launch(const struct sb_tiers *tiers, int64_t m, int64_t n,
						int64_t k, int multiprocessors);
/* All of them that there are, in no order. */
#define SB_TIERS_KERNELS 7
int sb_registry_tiers_kernels(const struct sb_tiers *tiers,
			      const struct sb_kernel *kernels[SB_TIERS_KERNELS]);
/* The first of them that is there. */
const struct sb_kernel *sb_registry_first(const struct sb_tiers *tiers);
/* As work: of the one that needs most or, where k may be cut, of the sums of all chunks. */
size_t sb_registry_tiers_work(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k);
/* Predicted, where the guard turns nothing away: of the launches on panels that are split; of
 * splitting that many rows or columns of panels; and of all of it, the splitting too where there is
 * any. */
double sb_registry_tiers_seconds(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
				 int multiprocessors);
double sb_registry_split_seconds(int64_t lines, int64_t k);
double sb_registry_emulated_seconds(const struct sb_tiers *tiers, int64_t m, int64_t n, int64_t k,
				    int multiprocessors);
/* The split kernel for an operand as it lies (raw), or for a canonical panel. */
const struct sb_split_kernel *sb_registry_split(bool raw);

/* Of a kernel on the tensor cores: its grid, where so many blocks run at once and k is cut into
 * parts; and seconds at a rate in FLOP/s of each multiprocessor, of one part. */
int64_t sb_registry_tensor_blocks(const struct sb_kernel *kernel, int64_t m, int64_t n,
				  int64_t parts, int most);
double sb_registry_tensor_seconds(const struct sb_kernel *kernel, double rate, int64_t m, int64_t n,
				  int64_t k, int multiprocessors);

/*
 * As pick, but SHIMBLAS_KERNEL overrides it. A name that is unknown or needs another device is
 * reported once, and the pick stands.
 */
const struct sb_kernel *sb_registry_choose(int64_t m, int64_t n, int64_t k,
					   const struct sb_target *target);

/*
 * The kernel for an m x n x k block of a product whose panels were made for `kernel`: of its
 * method (or of bulk, for a persistent one), with tiles that divide its own, the one that costs the
 * device least; itself where SHIMBLAS_KERNEL names it.
 */
const struct sb_kernel *sb_registry_alike(const struct sb_kernel *kernel, int64_t m, int64_t n,
					  int64_t k, const struct sb_target *target);

/* Do its chains lie along n, as its threads do? Otherwise along m. */
bool sb_registry_flat(const struct sb_kernel *kernel);
int sb_registry_sums(void);
const struct sb_sum_kernel *sb_registry_sum_row(int row);
/* What adds up so many chains, or sums of chunks, of each element; and the seconds predicted of it
 * and of storing that many bytes of them. */
const struct sb_sum_kernel *sb_registry_sum(int64_t m, int64_t n, int64_t terms,
					    int multiprocessors);
double sb_registry_sum_seconds(double bytes);

/* The pack kernel for a source whose k is contiguous (across), or whose i is (along). */
const struct sb_pack_kernel *sb_registry_pack(bool k_contiguous);

#endif
