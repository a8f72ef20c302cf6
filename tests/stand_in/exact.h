/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exact engine: runs our own kernel sources on the CPU, one launch at a time.
 *
 * The threads of a block are fibers that switch where the kernel waits. Every load and store is
 * checked: shared arrays by their extents, global memory by the caller's callback. Reading shared
 * memory that was never written, two threads meeting in one word without a barrier between them, a
 * copy that is read before it was waited for or that overwrites what others may still read, and a
 * block that waits for ever are errors. Asynchronous and bulk copies read their source as late as
 * the wait for them permits, and so do products of warpgroups, to whose accumulators the threads
 * have no access until they have waited. Blocks of a cluster run together.
 *
 * All functions may be called from several threads at once; one launch runs on one thread.
 */
#ifndef SB_EXACT_H
#define SB_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sb_exact_result {
	SB_EXACT_OK,
	SB_EXACT_UNKNOWN,	/* no kernel of that name */
	SB_EXACT_LAUNCH,	/* block, shared memory or argument size the kernel cannot have */
	SB_EXACT_GLOBAL,	/* global access that the callback refused, or misaligned */
	SB_EXACT_SHARED,	/* shared access beyond its array, or misaligned */
	SB_EXACT_UNINITIALISED, /* shared memory read before it was written */
	SB_EXACT_RACE,		/* threads, or a thread and a copy, meet without a barrier */
	SB_EXACT_COPY,		/* bulk copy with a bad map, barrier or byte count */
	SB_EXACT_DEADLOCK	/* the block waits for ever, or leaves a copy in flight */
};

/* What the launch may touch. check says whether [pointer, pointer + bytes) may be accessed. */
struct sb_exact_memory {
	void *context;
	bool (*check)(void *context, const void *pointer, size_t bytes, bool write);
};

/*
 * One place in the source that accesses memory. The n-th access of each thread of a warp to a site
 * between two barriers is one warp instruction, here a request. A shared request of 4 bytes a lane
 * is served in one pass over the 32 banks, of 8 in two (a half warp each), of 16 in four (a quarter
 * warp each); within a pass a bank serves one word, to as many lanes as want it, and every further
 * distinct word costs a pass more. ways is the largest number of distinct words that one bank had
 * to serve in a pass: 1 is no conflict. A global request costs one sector for each aligned 32 bytes
 * it touches.
 */
struct sb_exact_site {
	const char *file; /* static string */
	int line;
	bool shared, write;
	unsigned lane_bytes;	/* 4, 8 or 16 */
	unsigned ways;		/* shared: the worst pass of all */
	unsigned sectors_worst; /* global: the worst request */
	uint64_t requests;
	uint64_t passes; /* shared */
	uint64_t passes_least;
	uint64_t sectors; /* global */
	uint64_t words;	  /* 4-byte words over all lanes */
};

#define SB_EXACT_SITES 64

struct sb_exact_counts {
	uint64_t fmas;
	uint64_t shared_words_read, shared_words_written; /* by threads */
	uint64_t copied_bytes;				  /* by bulk copies */
	uint64_t barriers;				  /* block-wide, summed over blocks */
	uint64_t copies;
	size_t sites; /* rows used below; sites beyond the last row are counted in the sums only */
	struct sb_exact_site site[SB_EXACT_SITES];
};

struct sb_exact_kernel {
	const char *name;
	size_t args_bytes;	/* of the one by-value parameter */
	unsigned threads;	/* exactly the block it must be launched with */
	unsigned static_shared; /* bytes */
	unsigned dynamic_shared;
	unsigned min_arch; /* 75, 90: compute capability times ten */
	unsigned together; /* blocks of a cluster, of which the grid is a multiple */
};

/* The kernel or pack kernel of that name, NULL if there is none. Valid for ever. */
const struct sb_exact_kernel *sb_exact_find(const char *name);

/*
 * Runs the whole grid, cluster after cluster. args is the kernel's parameter, copied before the
 * first block. counts may be NULL, which is faster; otherwise it is overwritten. Returns
 * SB_EXACT_OK or the first error; the launch then stops where it is, as on a device.
 */
int sb_exact_run(const char *kernel, unsigned grid, unsigned threads, unsigned dynamic_shared,
		 const void *args, size_t args_bytes, const struct sb_exact_memory *memory,
		 struct sb_exact_counts *counts);

/* What went wrong in this thread's last sb_exact_run: kernel, block, thread, file and line. */
const char *sb_exact_message(void);

#ifdef __cplusplus
}
#endif

#endif
