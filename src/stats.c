/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

struct block {
	struct sb_totals totals;
	struct sb_small small;
	struct sb_last last;
	bool called;
	atomic_bool
		owned; /* by a thread that lives; a free one goes to the next thread, counts kept */
	struct block *next;
};

/* Two pointers a thread: small enough for the static TLS that a dlopened library gets. */
static _Thread_local struct block *mine __attribute__((tls_model("initial-exec")));
_Thread_local struct sb_small *sb_stats_small;

static _Atomic(struct block *) blocks;
static struct block shared; /* counted into, approximately, by threads that got no block */
static pthread_key_t key;   /* its destructor learns that a thread ends */
static bool key_made;
static pthread_mutex_t baseline_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sb_totals baseline; /* what sb_stats_reset() has taken off */

static void forget_parent(void)
{
	/* Only the forking thread lives on in the child. Its lock may have been held elsewhere. */
	pthread_mutex_init(&baseline_lock, NULL);
	memset(&baseline, 0, sizeof baseline);
	memset(&shared.totals, 0, sizeof shared.totals);
	for (struct block *block = atomic_load(&blocks); block; block = block->next) {
		memset(&block->totals, 0, sizeof block->totals);
		block->small.count = 0;
		atomic_store(&block->owned, block == mine);
	}
}

static void release_block(void *block)
{
	mine = NULL;
	sb_stats_small = NULL;
	atomic_store(&((struct block *)block)->owned, false);
}

static void watch_fork_and_threads(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
	key_made = pthread_key_create(&key, release_block) == 0;
}

static struct block *take_over(void)
{
	for (struct block *block = atomic_load(&blocks); block; block = block->next) {
		bool owned = false;

		if (atomic_compare_exchange_strong(&block->owned, &owned, true)) {
			block->called = false;
			return block;
		}
	}
	return NULL;
}

static __attribute__((noinline)) struct block *open_block(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct block *block;

	pthread_once(&once, watch_fork_and_threads);
	block = take_over();
	if (!block) {
		block = calloc(1, sizeof *block);
		if (!block)
			return &shared;
		atomic_init(&block->owned, true);
		block->next = atomic_load(&blocks);
		while (!atomic_compare_exchange_weak(&blocks, &block->next, block))
			;
	}
	if (key_made)
		pthread_setspecific(key, block);
	sb_stats_small = &block->small;
	return mine = block;
}

int64_t sb_stats_bucket_limit(int bucket)
{
	return bucket < SB_BUCKETS - 1 ? (int64_t)16 << bucket : 0;
}

/* Buckets end at powers of 8, 16^3 = 2^12 the first, so the exponent of mnk rounded up tells. */
int sb_stats_bucket(double work)
{
	const uint64_t fraction = ((uint64_t)1 << 52) - 1;
	uint64_t bits;
	int exponent, bucket;

	memcpy(&bits, &work, sizeof bits);
	exponent = (int)((bits + fraction) >> 52) - 1023;
	bucket = (exponent - 12 + 2) / 3;
	return work <= 4096 ? 0 : bucket < SB_BUCKETS ? bucket : SB_BUCKETS - 1;
}

/* Readers may look on, so each field is stored whole; only its own thread ever changes it. */
static void raise_count(uint64_t *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

static void raise_sum(double *sum, double by)
{
	double value = *sum + by;

	__atomic_store(sum, &value, __ATOMIC_RELAXED);
}

/* Two negative sizes make a positive product, but no work. */
static void count(struct sb_tally *tally, int64_t m, int64_t n, int64_t k, double work,
		  size_t element)
{
	raise_count(&tally->calls);
	if (work > 0 && m > 0 && n > 0) {
		raise_sum(&tally->flops, 2 * work);
		raise_sum(&tally->bytes,
			  (double)element * ((double)m * (double)k + (double)n * (double)(k + m)));
	}
}

static struct sb_last noted_call(uint64_t word)
{
	static const struct sb_outcome small = {.side = SB_CPU, .reason = SB_REASON_SMALL};
	const uint64_t size = SB_SMALL_EXTENT - 1;

	return (struct sb_last){(int64_t)(word & size), (int64_t)(word >> SB_SMALL_BITS & size),
				(int64_t)(word >> 2 * SB_SMALL_BITS), small};
}

static void count_small(struct sb_totals *totals, const struct sb_small *small)
{
	uint32_t noted = __atomic_load_n(&small->count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < noted; i++) {
		struct sb_last call =
			noted_call(__atomic_load_n(&small->calls[i], __ATOMIC_RELAXED));
		double work = (double)(call.m * call.n * call.k);

		count(&totals->tally[SB_CPU][SB_REASON_SMALL][sb_stats_bucket(work)], call.m,
		      call.n, call.k, work, sizeof(float));
	}
}

static void fold(struct block *block)
{
	count_small(&block->totals, &block->small);
	__atomic_store_n(&block->small.count, 0, __ATOMIC_RELEASE);
}

static void add_to(struct sb_tally *tally, const struct sb_call *call, double seconds)
{
	count(tally, call->m, call->n, call->k, sb_call_flops(call) / 2,
	      sb_element(call->type)->bytes);
	if (seconds > 0)
		raise_sum(&tally->seconds, seconds);
}

void sb_stats_add(const struct sb_call *call, const struct sb_outcome *outcome)
{
	struct block *block = mine ? mine : open_block();
	struct sb_totals *totals = &block->totals;
	const struct sb_manner *manner = &outcome->manner;
	int bucket = sb_stats_bucket(sb_call_flops(call) / 2);

	fold(block);
	add_to(&totals->tally[outcome->side][outcome->reason][bucket], call, outcome->seconds);
	if (manner->arithmetic != SB_NO_ARITHMETIC) {
		add_to(&totals->arithmetic[manner->arithmetic], call, outcome->seconds);
		raise_count(&totals->fallback[manner->fallback]);
	}
	block->last = (struct sb_last){call->m, call->n, call->k, *outcome};
	block->called = true;
}

bool sb_stats_last(struct sb_last *last)
{
	uint32_t noted = mine ? mine->small.count : 0;

	if (!noted && (!mine || !mine->called))
		return false;
	*last = noted ? noted_call(mine->small.calls[noted - 1]) : mine->last;
	return true;
}

static void add_tally(struct sb_tally *sum, const struct sb_tally *part, double sign)
{
	uint64_t calls = __atomic_load_n(&part->calls, __ATOMIC_RELAXED);
	double flops, bytes, seconds;

	__atomic_load(&part->flops, &flops, __ATOMIC_RELAXED);
	__atomic_load(&part->bytes, &bytes, __ATOMIC_RELAXED);
	__atomic_load(&part->seconds, &seconds, __ATOMIC_RELAXED);
	sum->calls += sign < 0 ? -calls : calls;
	sum->flops += sign * flops;
	sum->bytes += sign * bytes;
	sum->seconds += sign * seconds;
}

static void add_totals(struct sb_totals *to, const struct sb_totals *from, double sign)
{
	for (int side = 0; side < SB_SIDES; side++)
		for (int reason = 0; reason < SB_REASONS; reason++)
			for (int bucket = 0; bucket < SB_BUCKETS; bucket++)
				add_tally(&to->tally[side][reason][bucket],
					  &from->tally[side][reason][bucket], sign);
	for (int i = 0; i < SB_ARITHMETICS; i++)
		add_tally(&to->arithmetic[i], &from->arithmetic[i], sign);
	for (int i = 0; i < SB_FALLBACKS; i++) {
		uint64_t calls = __atomic_load_n(&from->fallback[i], __ATOMIC_RELAXED);

		to->fallback[i] += sign < 0 ? -calls : calls;
	}
}

static void read_raw(struct sb_totals *totals)
{
	memset(totals, 0, sizeof *totals);
	add_totals(totals, &shared.totals, 1);
	for (struct block *block = atomic_load(&blocks); block; block = block->next) {
		add_totals(totals, &block->totals, 1);
		count_small(totals, &block->small);
	}
}

void sb_stats_read(struct sb_totals *totals)
{
	/* Read inside: what a later reset takes off must not be more than what was read. */
	pthread_mutex_lock(&baseline_lock);
	read_raw(totals);
	add_totals(totals, &baseline, -1);
	pthread_mutex_unlock(&baseline_lock);
}

bool sb_stats_counted(void)
{
	struct sb_totals totals;

	read_raw(&totals);
	return sb_stats_sum(&totals, SB_SIDES, SB_REASONS, SB_BUCKETS).calls > 0;
}

void sb_stats_reset(void)
{
	pthread_mutex_lock(&baseline_lock);
	read_raw(&baseline);
	pthread_mutex_unlock(&baseline_lock);
}

struct sb_tally sb_stats_sum(const struct sb_totals *totals, enum sb_side side,
			     enum sb_reason reason, int bucket)
{
	struct sb_tally sum = {0, 0, 0, 0};

	for (int s = 0; s < SB_SIDES; s++)
		for (int r = 0; r < SB_REASONS; r++)
			for (int b = 0; b < SB_BUCKETS; b++) {
				const struct sb_tally *part = &totals->tally[s][r][b];

				if ((side != SB_SIDES && side != (enum sb_side)s) ||
				    (reason != SB_REASONS && reason != (enum sb_reason)r) ||
				    (bucket != SB_BUCKETS && bucket != b))
					continue;
				sum.calls += part->calls;
				sum.flops += part->flops;
				sum.bytes += part->bytes;
				sum.seconds += part->seconds;
			}
	return sum;
}
