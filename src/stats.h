/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 1: what was done, counted.
 *
 * Every thread counts into a block of its own, so that counting costs a small call a few stores and
 * no bus lock; readers add the blocks up. A child of fork starts from zero. Counts of a thread that
 * ended are kept.
 */
#ifndef SB_STATS_H
#define SB_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "status.h"

/* Buckets of the cube root of mnk: at most 16, 32, 64, ... 16384, and above. */
enum { SB_BUCKETS = 12 };

struct sb_tally {
	uint64_t calls;
	double flops;	/* 2mnk each */
	double bytes;	/* of A, B and C, each once */
	double seconds; /* 0 where no clock was asked for */
};

struct sb_totals {
	struct sb_tally tally[SB_SIDES][SB_REASONS][SB_BUCKETS];
	struct sb_tally arithmetic[SB_ARITHMETICS]; /* of those calls that the GPU answered */
	uint64_t fallback[SB_FALLBACKS];	    /* of these: calls */
};

/* What became of one call. */
struct sb_outcome {
	enum sb_side side;
	enum sb_reason reason;
	const char *kernel; /* a name that lives for ever, or NULL */
	double seconds;	    /* from entry to return; 0 where no clock was asked for */
	struct sb_manner manner;
};

/* The bucket of mnk, and the largest cube root in a bucket (0 for the last, which has none). */
int sb_stats_bucket(double work);
int64_t sb_stats_bucket_limit(int bucket);

/* Counts one call of this thread. Never fails; allocates a thread's block at its first call. */
void sb_stats_add(const struct sb_call *call, const struct sb_outcome *outcome);

/*
 * A call that was too small to judge is only noted, inline, in a list of its thread; false if the
 * list is full or the thread has none yet, and the call is to go the long way, where
 * sb_stats_add() counts the noted ones. Nothing here is a function call, so that the entries need
 * keep nothing of their caller's registers.
 */
enum { SB_SMALL_NOTED = 64, SB_SMALL_BITS = 20, SB_SMALL_EXTENT = 1 << SB_SMALL_BITS };
struct sb_small {
	uint32_t count;
	uint64_t calls[SB_SMALL_NOTED]; /* m | n << SB_SMALL_BITS | k << 2 * SB_SMALL_BITS */
};
extern _Thread_local struct sb_small *sb_stats_small
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* m, n and k from 0 to below SB_SMALL_EXTENT. */
static inline bool sb_stats_note_small(int64_t m, int64_t n, int64_t k)
{
	struct sb_small *small = sb_stats_small;
	uint32_t noted;

	if (!small || (noted = small->count) == SB_SMALL_NOTED)
		return false;
	__atomic_store_n(&small->calls[noted],
			 (uint64_t)(m | n << SB_SMALL_BITS | k << 2 * SB_SMALL_BITS),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&small->count, noted + 1, __ATOMIC_RELEASE);
	return true;
}

/* The last call this thread made, m x n x k column-major; false if it made none. */
struct sb_last {
	int64_t m, n, k;
	struct sb_outcome outcome;
};
bool sb_stats_last(struct sb_last *last);

/* All threads' counts so far. */
void sb_stats_read(struct sb_totals *totals);
/* Has any call been counted in this process, before a reset or after it? */
bool sb_stats_counted(void);
/* Counts from here on start at zero. */
void sb_stats_reset(void);

/* Sum over a side, a reason and a bucket; SB_SIDES, SB_REASONS and SB_BUCKETS mean all of them. */
struct sb_tally sb_stats_sum(const struct sb_totals *totals, enum sb_side side,
			     enum sb_reason reason, int bucket);

#endif
