/* SPDX-License-Identifier: BSD-3-Clause */
#include "experience.h"

#include <stdatomic.h>

#include "clock.h"

enum {
	CLASSES = 1024, /* a power of two */
	PROBES = 8,
	SAMPLES = 3,
	PATIENCE = 24,
	MORE_PATIENT = 4,
	CALL = 256 /* what counts as one */
};

/*
 * All of it may be written by several threads at once: a sample may be lost, or stand where another
 * belongs, which changes a median of three by little. Zero is a sample that is missing.
 */
struct side {
	_Atomic float factors[SAMPLES];
	atomic_uint count;
};

struct class
{
	atomic_ullong key; /* 0: free */
	struct side sides[SB_SIDES];
	/*
	 * Calls that went against the model since the last try, each by what it took over what the
	 * model's side had; and how many there are before the next (0: PATIENCE). So a try costs no
	 * more than one in so many calls would.
	 */
	atomic_uint overruled, patience;
};

static struct class classes[CLASSES];

static unsigned long long key_of(const struct sb_call *call, bool emulate)
{
	const unsigned flags = 1u | (unsigned)call->trans_a << 1 | (unsigned)call->trans_b << 2 |
			       (unsigned)emulate << 3 | (unsigned)(call->beta != 0) << 4;

	return flags | (unsigned long long)sb_call_doublings(call->m) << 5 |
	       (unsigned long long)sb_call_doublings(call->n) << 12 |
	       (unsigned long long)sb_call_doublings(call->k) << 19;
}

/* NULL if there is none, and no room where one is to be made. */
static struct class *find(unsigned long long key, bool make)
{
	size_t first = (size_t)(key * 0x9e3779b97f4a7c15u >> 32);

	for (size_t i = 0; i < PROBES; i++) {
		struct class *c = &classes[(first + i) % CLASSES];
		unsigned long long found = atomic_load_explicit(&c->key, memory_order_relaxed);

		if (found == 0 && make && atomic_compare_exchange_strong(&c->key, &found, key))
			return c;
		if (found == key)
			return c;
		if (found == 0)
			return NULL;
	}
	return NULL;
}

static double median_of(const struct side *side)
{
	double f[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		f[i] = (double)atomic_load_explicit(&side->factors[i], memory_order_relaxed);
		if (!(f[i] > 0))
			f[i] = 1;
	}
	return sb_longer(sb_shorter(f[0], f[1]), sb_shorter(sb_longer(f[0], f[1]), f[2]));
}

static unsigned patience_of(const struct class *c)
{
	unsigned patience = atomic_load_explicit(&c->patience, memory_order_relaxed);

	return patience ? patience : PATIENCE;
}

struct sb_experience sb_experience_of(const struct sb_call *call, bool emulate)
{
	struct sb_experience known = {.cpu = 1, .gpu = 1};
	const struct class *c = find(key_of(call, emulate), false);

	if (!c)
		return known;
	known.cpu = median_of(&c->sides[SB_CPU]);
	known.gpu = median_of(&c->sides[SB_GPU]);
	known.try_again =
		atomic_load_explicit(&c->overruled, memory_order_relaxed) / CALL >= patience_of(c);
	return known;
}

struct sb_decision sb_experience_correct(struct sb_decision decision,
					 const struct sb_experience *known, double cpu, double gpu)
{
	decision.experience = *known;
	decision.cpu_seconds = known->cpu > 0 ? known->cpu * cpu : cpu;
	decision.gpu_seconds = known->gpu > 0 ? known->gpu * gpu : gpu;
	return decision;
}

static void remember(struct side *side, double factor)
{
	unsigned at = atomic_fetch_add_explicit(&side->count, 1, memory_order_relaxed) % SAMPLES;

	atomic_store_explicit(&side->factors[at], (float)factor, memory_order_relaxed);
}

/* Where a try went well that is believed at once: what was remembered has passed. */
static void end_try(struct class *c, struct side *side, double factor, bool well)
{
	unsigned patience = patience_of(c);

	if (well)
		for (int i = 0; i < SAMPLES; i++)
			atomic_store_explicit(&side->factors[i], (float)factor,
					      memory_order_relaxed);
	if (!well && patience <= UINT32_MAX / CALL / MORE_PATIENT / 2)
		patience *= MORE_PATIENT;
	atomic_store_explicit(&c->patience, well ? PATIENCE : patience, memory_order_relaxed);
	atomic_store_explicit(&c->overruled, 0, memory_order_relaxed);
}

static bool taught(const struct sb_decision *decision)
{
	return decision->nanoseconds > 0 && !decision->compare && !decision->on_device &&
	       (decision->reason == SB_REASON_FASTER || decision->reason == SB_REASON_STARTING ||
		decision->reason == SB_REASON_BUSY || decision->reason == SB_REASON_TRIED);
}

static void learn(const struct sb_call *call, const struct sb_decision *decision)
{
	const bool on_gpu = decision->side == SB_GPU;
	const double took = 1e-9 * (double)decision->nanoseconds;
	const double corrected_by = on_gpu ? decision->experience.gpu : decision->experience.cpu;
	const double predicted = on_gpu ? decision->gpu_seconds : decision->cpu_seconds;
	const double other = on_gpu ? decision->cpu_seconds : decision->gpu_seconds;
	const double factor = took * corrected_by / predicted;
	struct class *c;

	/* 0 where the side is the shape's alone (SHIMBLAS_REPRODUCIBLE), or was not predicted. */
	c = factor > 0 ? find(key_of(call, decision->emulate), true) : NULL;
	if (!c)
		return;
	remember(&c->sides[decision->side], factor);
	if (decision->reason == SB_REASON_TRIED)
		end_try(c, &c->sides[decision->side], factor, took < other);
	else if (decision->overruled)
		atomic_fetch_add_explicit(&c->overruled,
					  (unsigned)(CALL * sb_shorter(predicted / other, 1)),
					  memory_order_relaxed);
}

void sb_experience_add(const struct sb_call *call, const struct sb_decision *decision)
{
	if (taught(decision))
		learn(call, decision);
}

void sb_experience_reset(void)
{
	for (int i = 0; i < CLASSES; i++) {
		struct class *c = &classes[i];

		atomic_store(&c->key, 0);
		for (int side = 0; side < SB_SIDES; side++)
			for (int j = 0; j < SAMPLES; j++)
				atomic_store(&c->sides[side].factors[j], 0.0f);
		atomic_store(&c->overruled, 0);
		atomic_store(&c->patience, 0);
	}
}
