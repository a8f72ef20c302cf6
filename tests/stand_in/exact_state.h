/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the exact engine share: one launch, on one thread of the process.
 *
 * Order between the threads of a block is kept in clocks. `epoch` counts block barriers; what
 * happened in an earlier epoch is ordered before everything in this one. Within an epoch every
 * thread has a clock, and knows how far it has seen the clocks of others through warp barriers and
 * copy barriers. A copy barrier has a clock of its own, its phase.
 */
#ifndef SB_EXACT_STATE_H
#define SB_EXACT_STATE_H

#include "exact.h"
#include "args.h"
#include "exact_fiber.h"

struct alignas(16) sb_float4 {
	float x[4];
};
#include "exact_device.h"

#include <memory>
#include <vector>

enum sb_exact_waits { SB_RUNS, SB_AT_BARRIER, SB_AT_WARP_BARRIER, SB_AT_COPY, SB_ENDED };

/* When a word was accessed, and by whom: a thread, or number `threads` + b: copy barrier b. */
struct sb_exact_moment {
	uint32_t epoch, clock;
	uint16_t who;
	bool happened;
};

/* An asynchronous copy that its thread has not waited for. */
struct sb_exact_async {
	size_t offset; /* in shared memory, bytes */
	const void *from;
	unsigned bytes, whole, group; /* bytes are copied, zeros follow up to the whole */
};

struct sb_exact_thread {
	sb_fiber fiber;
	sb_exact_waits waits;
	size_t barrier; /* SB_AT_COPY */
	unsigned parity;
	std::vector<uint32_t> seen;	    /* of every thread and copy barrier, this epoch */
	std::vector<sb_exact_async> copies; /* the oldest first */
	unsigned groups;		    /* committed so far */
};

struct sb_exact_copy {
	size_t offset; /* in shared memory, bytes */
	int rows, columns;
	sb_tensor_map map;
	int x, y;
};

struct sb_exact_copy_barrier {
	size_t offset; /* of the barrier in shared memory */
	unsigned arrivals, pending;
	uint32_t phase;
	unsigned expected; /* bytes of this phase */
	bool published;
	uint32_t epoch; /* of `seen` */
	std::vector<uint32_t> seen, completed;
	std::vector<sb_exact_copy> copies; /* asked for in this phase, not yet made */
};

#define SB_EXACT_COPY_BARRIERS 64

struct sb_exact_counter;
struct sb_exact_counter_delete {
	void operator()(sb_exact_counter *counter) const;
};

struct sb_exact_launch {
	const struct sb_exact_kernel *kernel;
	const struct sb_exact_memory *memory;
	unsigned threads, warps, block;
	std::vector<sb_exact_thread> thread;
	int result;

	unsigned char *shared; /* 1024-aligned */
	size_t shared_bytes;
	std::vector<sb_exact_moment> written; /* a word each */
	std::vector<sb_exact_moment> read;    /* a word and warp each */
	std::vector<bool> in_flight;	      /* a word each */

	uint32_t epoch;
	std::vector<sb_exact_copy_barrier> barriers;

	struct sb_exact_counts *counts;
	std::unique_ptr<sb_exact_counter, sb_exact_counter_delete> counter;
};

/* The launch that this thread runs. */
extern thread_local sb_exact_launch *sb_exact_launch_now;

/* Records the first error. From a fiber it does not return; outside of one it does. */
void sb_exact_fail(int result, sb_exact_line line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Leaves the running fiber until the scheduler finds that what it waits for has come. */
void sb_exact_wait(sb_exact_waits waits);

/* exact_shared.cc */
void sb_exact_shared_block(sb_exact_launch *launch);
bool sb_exact_ordered(const sb_exact_launch *launch, const sb_exact_moment &before, int thread);
/* A copy into words [first, last) is asked for by the running thread, or has landed. */
void sb_exact_copy_asked(sb_exact_launch *launch, size_t first, size_t last, sb_exact_line line);
void sb_exact_copy_landed(sb_exact_launch *launch, size_t first, size_t last, size_t barrier);
/* By the running thread, which has waited for it. */
void sb_exact_async_landed(sb_exact_launch *launch, size_t first, size_t last);
void sb_exact_meet_block(sb_exact_launch *launch);
void sb_exact_meet_warp(sb_exact_launch *launch, unsigned warp);

/* exact_copy.cc: whether the wait is over; makes the copies that it needs. */
bool sb_exact_copy_poll(sb_exact_launch *launch, size_t barrier, unsigned parity, int thread);
bool sb_exact_copy_idle(const sb_exact_launch *launch);

/* exact_counts.cc */
void sb_exact_count_begin(sb_exact_launch *launch);
void sb_exact_count(sb_exact_launch *launch, bool shared, const void *p, unsigned bytes, bool write,
		    sb_exact_line line);
/* Closes the requests since the last barrier. */
void sb_exact_count_close(sb_exact_launch *launch);

#endif
