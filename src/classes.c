/* SPDX-License-Identifier: BSD-3-Clause */
#include "classes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

enum { SLOTS = 1024 }; /* a power of two, twice the classes */

struct table {
	int used;
	struct sb_class slots[SLOTS];
	struct sb_class rest[SB_SIDES];
};

static struct table *table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Whoever held the lock may not be there in the child. */
static void forget_parent(void)
{
	pthread_mutex_init(&lock, NULL);
	if (table)
		memset(table, 0, sizeof *table);
}

static void watch_fork(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
}

static bool same_class(const struct sb_class *c, const struct sb_call *call,
		       const struct sb_outcome *outcome)
{
	return c->trans_a == call->trans_a && c->trans_b == call->trans_b &&
	       c->side == outcome->side && c->reason == outcome->reason &&
	       c->kernel == outcome->kernel &&
	       sb_call_doublings(c->m) == sb_call_doublings(call->m) &&
	       sb_call_doublings(c->n) == sb_call_doublings(call->n) &&
	       sb_call_doublings(c->k) == sb_call_doublings(call->k);
}

static size_t hash(const struct sb_call *call, const struct sb_outcome *outcome)
{
	uint64_t bits = sb_call_doublings(call->m) | sb_call_doublings(call->n) << 7 |
			sb_call_doublings(call->k) << 14;

	bits = bits << 10 | (uint64_t)outcome->side << 9 | (uint64_t)outcome->reason << 3 |
	       (uint64_t)call->trans_a << 1 | call->trans_b;
	bits ^= (uint64_t)(uintptr_t)outcome->kernel << 20;
	return bits * 0x9e3779b97f4a7c15u >> (64 - 10);
}

static struct sb_class *class_of(const struct sb_call *call, const struct sb_outcome *outcome)
{
	size_t at = hash(call, outcome);
	struct sb_class *c;

	for (; (c = &table->slots[at])->calls; at = (at + 1) % SLOTS)
		if (same_class(c, call, outcome))
			return c;
	if (table->used < SB_CLASSES) {
		table->used++;
		return c;
	}
	c = &table->rest[outcome->side];
	c->shapeless = true;
	return c;
}

static double work_of(int64_t m, int64_t n, int64_t k)
{
	return (double)m * (double)n * (double)k;
}

static void begin(struct sb_class *c, const struct sb_call *call, const struct sb_outcome *outcome)
{
	c->trans_a = call->trans_a;
	c->trans_b = call->trans_b;
	c->m = call->m;
	c->n = call->n;
	c->k = call->k;
	c->alike = !c->shapeless;
	c->side = outcome->side;
	c->reason = outcome->reason;
	c->kernel = outcome->kernel;
}

static void foresee(struct sb_class *c, const struct sb_outcome *outcome,
		    const struct sb_foreseen *foreseen)
{
	double other = outcome->side == SB_CPU ? foreseen->gpu : foreseen->cpu;

	if (foreseen->cpu > 0 && foreseen->gpu > 0) {
		c->foreseen++;
		c->seconds_foreseen += outcome->seconds;
		c->cpu += foreseen->cpu;
		c->gpu += foreseen->gpu;
		if (other < outcome->seconds)
			c->sooner += outcome->seconds - other;
	}
	if (foreseen->bound > 0 && outcome->side == SB_GPU) {
		c->bound += foreseen->bound;
		c->seconds_bound += outcome->seconds;
	}
}

static void add(struct sb_class *c, const struct sb_call *call, const struct sb_outcome *outcome,
		const struct sb_foreseen *foreseen)
{
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;

	if (!c->calls)
		begin(c, call, outcome);
	c->calls++;
	if (c->m != call->m || c->n != call->n || c->k != call->k)
		c->alike = false;
	if (work_of(call->m, call->n, call->k) > work_of(c->m, c->n, c->k)) {
		c->m = call->m;
		c->n = call->n;
		c->k = call->k;
	}
	if (m > 0 && n > 0 && k > 0) {
		c->flops += 2 * m * n * k;
		c->bytes += (double)sb_element(call->type)->bytes * (m * k + k * n + m * n);
	}
	c->seconds += outcome->seconds;
	foresee(c, outcome, foreseen);
}

void sb_classes_add(const struct sb_call *call, const struct sb_outcome *outcome,
		    const struct sb_foreseen *foreseen)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_fork);
	pthread_mutex_lock(&lock);
	if (!table)
		table = calloc(1, sizeof *table);
	if (table)
		add(class_of(call, outcome), call, outcome, foreseen);
	pthread_mutex_unlock(&lock);
}

int sb_classes_read(struct sb_class *classes)
{
	int count = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; table && i < SLOTS; i++)
		if (table->slots[i].calls)
			classes[count++] = table->slots[i];
	for (int side = 0; table && side < SB_SIDES; side++)
		if (table->rest[side].calls)
			classes[count++] = table->rest[side];
	pthread_mutex_unlock(&lock);
	return count;
}

void sb_classes_reset(void)
{
	pthread_mutex_lock(&lock);
	if (table)
		memset(table, 0, sizeof *table);
	pthread_mutex_unlock(&lock);
}
