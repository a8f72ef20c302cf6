/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the exact engine share: one launch, on one thread of the process.
 *
 * Blocks that run together are a cluster: two, or one. Their threads are the launch's fibers, those
 * of the second block after those of the first, and their shared memory lies in one piece, a
 * stride apart; "word" is a place in all of it.
 *
 * Order between the fibers is kept in clocks. `epoch` counts barriers that all of them meet at;
 * what happened in an earlier epoch is ordered before everything in this one. Within an epoch every
 * fiber has a clock, and knows how far it has seen the clocks of others through other barriers.
 * Copy barriers and warpgroups have clocks of their own: phases, and waits for products.
 */
#ifndef SB_EXACT_STATE_H
#define SB_EXACT_STATE_H

#include "exact.h"
#include "args.h"
#include "exact_fiber.h"
#include "tensor_core.h"

struct alignas(16) sb_float4 {
	float x[4];
};
#include "exact_device.h"

#include <deque>
#include <memory>
#include <vector>

enum sb_exact_waits {
	SB_RUNS,
	SB_AT_BARRIER,
	SB_AT_CLUSTER_BARRIER,
	SB_AT_GROUP_BARRIER,
	SB_AT_WARP_BARRIER,
	SB_AT_EXCHANGE,
	SB_AT_COPY,
	SB_AT_PRODUCTS,
	SB_ENDED
};

/* When a word was accessed, and by whom: a fiber, a copy barrier or a warpgroup; see the ids. */
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

/* A thread's array whose scope is over may be looked at too: what is there then means nothing. */
#define SB_ANY_SCOPE __attribute__((no_sanitize("address")))

/* Accumulators of a fiber: its own, or given to the tensor core until it holds them again. */
struct sb_exact_sums {
	float *place;
	bool given;
	unsigned pending;	  /* products that are not made yet */
	uint64_t held;		  /* when it had them back: its count of fences then */
	std::vector<float> value; /* the tensor core's, or what they were at the last fence */
};

/* Four registers that products read: what they were at the last fence. */
struct sb_exact_rows {
	const uint32_t *place;
	unsigned pending; /* products that are not made yet */
	uint32_t value[4];
};

struct sb_exact_thread {
	sb_fiber fiber;
	unsigned rank; /* of its block in the cluster */
	sb_exact_waits waits;
	size_t barrier; /* SB_AT_COPY */
	unsigned parity;
	unsigned group, group_threads;	      /* SB_AT_GROUP_BARRIER */
	void (*exchange)(void *const *lanes); /* SB_AT_EXCHANGE: what the warp does, */
	void *exchanged;		      /* and this lane's share of it */
	std::vector<uint32_t> seen;	      /* of every id, this epoch */
	std::vector<sb_exact_async> copies;   /* the oldest first */
	unsigned groups;		      /* committed so far */
	std::vector<std::pair<uint32_t, uint32_t>>
		fences; /* epoch and clock of each tensor fence */
	std::deque<sb_exact_sums> sums;
	std::deque<sb_exact_rows> rows;
	std::deque<uint64_t> product_groups; /* committed: the products up to then */
	uint64_t products, product_fences;
	uint64_t awaited; /* SB_AT_PRODUCTS: this many are to be made */
	unsigned registers;
};

/* Of a box of a map, or of a piece of memory where rows is 0. */
struct sb_exact_copy {
	size_t offset; /* in shared memory, bytes */
	size_t bytes;
	int rows, columns;
	sb_tensor_map map;
	int x, y;
	const void *from;
};

struct sb_exact_copy_barrier {
	size_t offset; /* of the barrier in shared memory */
	unsigned arrivals, pending;
	sb_exact_moment made;
	uint32_t phase;
	unsigned expected; /* bytes of this phase */
	bool published;
	uint32_t epoch; /* of `seen` */
	std::vector<uint32_t> seen, completed;
	std::vector<sb_exact_copy> copies; /* asked for in this phase, not yet made */
};

/* A product that a warpgroup has asked for. */
struct sb_exact_product {
	sb_core_format format;
	size_t a, b; /* offsets in shared memory, bytes */
	size_t panel_bytes;
	int columns;
	bool add;
	unsigned asked;		  /* by so many threads, */
	sb_exact_sums *sums[128]; /* for these accumulators */
	sb_exact_line line;
	sb_exact_rows *rows[128]; /* whose registers a is in; or NULL */
};

struct sb_exact_warpgroup {
	std::deque<sb_exact_product> products; /* not yet made, the oldest first */
	uint64_t made;
};

#define SB_EXACT_COPY_BARRIERS 64

struct sb_exact_counter;
struct sb_exact_counter_delete {
	void operator()(sb_exact_counter *counter) const;
};

struct sb_exact_launch {
	const struct sb_exact_kernel *kernel;
	const struct sb_exact_memory *memory;
	unsigned together;	     /* blocks of a cluster */
	unsigned threads, warps;     /* of a block */
	unsigned fibers, warpgroups; /* of the cluster */
	unsigned block;		     /* the cluster's first */
	std::vector<sb_exact_thread> thread;
	std::vector<sb_exact_warpgroup> warpgroup;
	int result;

	unsigned char *shared;		      /* 1024-aligned */
	size_t shared_bytes;		      /* of a block */
	size_t stride;			      /* from one block's to the next one's */
	std::vector<sb_exact_moment> written; /* a word each */
	std::vector<sb_exact_moment> read;    /* a word and reader each; see sb_exact_readers() */
	std::vector<bool> in_flight;	      /* a word each */
	std::vector<uint16_t> multiplied;     /* a word each: products that will read it */

	uint32_t epoch;
	std::vector<sb_exact_copy_barrier> barriers;

	struct sb_exact_counts *counts;
	std::unique_ptr<sb_exact_counter, sb_exact_counter_delete> counter;
};

/* The launch that this thread runs. */
extern thread_local sb_exact_launch *sb_exact_launch_now;

/* The ids of those that have clocks, after the fibers'. */
static inline size_t sb_exact_id_of_barrier(const sb_exact_launch *launch, size_t barrier)
{
	return launch->fibers + barrier;
}

static inline size_t sb_exact_id_of_warpgroup(const sb_exact_launch *launch, size_t warpgroup)
{
	return launch->fibers + SB_EXACT_COPY_BARRIERS + warpgroup;
}

/* A word is read by the warps of its block, and by the cluster's warpgroups' products. */
static inline size_t sb_exact_readers(const sb_exact_launch *launch)
{
	return launch->warps + launch->warpgroups;
}

static inline sb_exact_thread &sb_exact_self()
{
	return sb_exact_launch_now->thread[(size_t)sb_exact_now.fiber];
}

/* Records the first error. From a fiber it does not return; outside of one it does. */
void sb_exact_fail(int result, sb_exact_line line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Leaves the running fiber until the scheduler finds that what it waits for has come. */
void sb_exact_wait(sb_exact_waits waits);

/* exact_meet.cc: lets go whom a met barrier held; false if nobody could be. */
bool sb_exact_release(sb_exact_launch *launch);

/* exact_shared.cc */
void sb_exact_shared_begin(sb_exact_launch *launch);
/* Where in shared memory; fails where the bytes are not all of the running fiber's block. */
size_t sb_exact_offset(const void *p, size_t bytes, sb_exact_line line);
bool sb_exact_ordered(const sb_exact_launch *launch, const sb_exact_moment &before, int fiber);
sb_exact_moment sb_exact_moment_of(const sb_exact_launch *launch, int fiber);
/* A copy into words [first, last) is asked for by the running fiber, or has landed. */
void sb_exact_copy_asked(sb_exact_launch *launch, size_t first, size_t last, sb_exact_line line);
void sb_exact_copy_landed(sb_exact_launch *launch, size_t first, size_t last, size_t barrier);
/* By the running fiber, which has waited for it. */
void sb_exact_async_landed(sb_exact_launch *launch, size_t first, size_t last);
/* A product that will read words [first, last) is asked for by the running fiber, one of a warp;
   or it has read them. */
void sb_exact_product_may_read(sb_exact_launch *launch, size_t first, size_t last,
			       sb_exact_line line);
void sb_exact_product_read(sb_exact_launch *launch, size_t first, size_t last, size_t warpgroup,
			   uint32_t clock);

/* exact_copy.cc: whether the wait is over; makes the copies that it needs. */
bool sb_exact_copy_poll(sb_exact_launch *launch, size_t barrier, unsigned parity, int fiber);
bool sb_exact_copy_idle(const sb_exact_launch *launch);

/* exact_product.cc: makes the products that a warpgroup waits for. */
bool sb_exact_products_release(sb_exact_launch *launch);
bool sb_exact_products_idle(const sb_exact_launch *launch);

/* exact_rows.cc: at a product's fence, when the running fiber asks for a product, when it is made.
 */
void sb_exact_rows_fence(sb_exact_thread *thread);
sb_exact_rows *sb_exact_rows_lend(const uint32_t *place, sb_exact_line line);
void sb_exact_rows_return(const sb_exact_product &product);
uint16_t sb_exact_rows_element(const sb_exact_product &product, int row, int k);

/* exact_counts.cc */
void sb_exact_count_begin(sb_exact_launch *launch);
void sb_exact_count(sb_exact_launch *launch, bool shared, const void *p, unsigned bytes, bool write,
		    sb_exact_line line);
/* Closes the requests since the last barrier. */
void sb_exact_count_close(sb_exact_launch *launch);

#endif
