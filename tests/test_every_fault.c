/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every driver call of a call of every kind, in every arithmetic, fails: once, from then on, with
 * its device, in what it queues, or never to end. Each kind of call runs in a process of its own in
 * which nothing is made any more when it is counted; the stand-in driver heals the device after
 * each fault.
 *
 * Whatever fails, each element of C is written once: by the CPU, which here writes a mark and finds
 * what was there before, or by the GPU, whose bits are the oracle's, of what is not emulated for
 * want of a kernel the strict one's throughout. For want of memory the CPU answers. Around C
 * nothing changes. A call that was not answered has left C alone, unless an operand lies on a lost
 * device: then an element is as it was or right. Nothing is left behind, and the next call is
 * right.
 */
#include "child.h"

#include <malloc.h>

#include "device.h"
#include "fault_kinds.h"
#include "offload.h"
#include "plan_split.h"
#include "process.h"
#include "product_emulated.h"
#include "stand_in/stand_in.h"
#include "start.h"

static const float mark = 0x1.abcdp40f; /* no element is that */

static __typeof__(&stand_in_configure) configure;
static __typeof__(&stand_in_calls) calls_of;
static __typeof__(&stand_in_live) live;

/* A call's operands, where they lie and as they were. */
static struct {
	const struct fault_kind *kind;
	const struct fault_arithmetic *arithmetic;
	struct product_data d;
	size_t bytes[3];
	void *there[3];
	float *before, *found, *emulated; /* the last: what then is expected, or NULL */
	char *by_cpu;			  /* elements that the CPU was told to write */
	bool on_device;
} this;

static long mixed; /* calls in which both sides wrote */

static void *symbol(const char *name)
{
	void *library = dlopen(getenv("SHIMBLAS_DRIVER"), RTLD_LAZY | RTLD_LOCAL);

	return library ? dlsym(library, name) : NULL;
}

static void put(int operand, const void *from)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context = sb_device_made()->devices[0].context;

	if (this.kind->places[operand] != FAULT_DEVICE) {
		memcpy(this.there[operand], from, this.bytes[operand]);
		return;
	}
	CHECK(cu->context_push(context) == 0);
	CHECK(cu->copy_up((sb_cu_deviceptr)(uintptr_t)this.there[operand], from,
			  this.bytes[operand], NULL) == 0);
	CHECK(cu->stream_synchronize(NULL) == 0);
	CHECK(cu->context_pop(&context) == 0);
}

static void get_c(void)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context = sb_device_made()->devices[0].context;

	if (this.kind->places[2] != FAULT_DEVICE) {
		memcpy(this.found, this.there[2], this.bytes[2]);
		return;
	}
	CHECK(cu->context_push(context) == 0);
	CHECK(cu->copy_down(this.found, (sb_cu_deviceptr)(uintptr_t)this.there[2], this.bytes[2],
			    NULL) == 0);
	CHECK(cu->stream_synchronize(NULL) == 0);
	CHECK(cu->context_pop(&context) == 0);
}

static void allocate(int operand, const float *values)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context = sb_device_made()->devices[0].context;
	sb_cu_deviceptr device = 0;

	CHECK(cu->context_push(context) == 0);
	switch (this.kind->places[operand]) {
	case FAULT_PINNED:
		CHECK(cu->host_alloc(&this.there[operand], this.bytes[operand], 0) == 0);
		break;
	case FAULT_DEVICE:
		CHECK(cu->memory_alloc(&device, this.bytes[operand]) == 0);
		this.there[operand] = (void *)(uintptr_t)device;
		this.on_device = true;
		break;
	default:
		this.there[operand] = malloc(this.bytes[operand]);
	}
	CHECK(cu->context_pop(&context) == 0);
	put(operand, values);
}

static void make_operands(const struct fault_kind *kind)
{
	const struct product *p = &kind->product;
	ptrdiff_t guard;

	this.kind = kind;
	this.d = product_make(p);
	guard = (float *)this.d.call.c - this.d.c;
	if (this.arithmetic->bit == FAULT_EMULATED)
		this.emulated = product_emulated(&this.d);
	this.bytes[0] = (size_t)(this.d.call.lda * (p->trans_a ? p->m : p->k)) * sizeof(float);
	this.bytes[1] = (size_t)(this.d.call.ldb * (p->trans_b ? p->k : p->n)) * sizeof(float);
	this.bytes[2] = this.d.c_count * sizeof(float);
	this.before = this.d.c;
	this.found = malloc(this.bytes[2]);
	this.by_cpu = malloc(this.d.c_count);
	allocate(0, this.d.a);
	allocate(1, this.d.b);
	allocate(2, this.d.c);
	this.d.call.a = this.there[0];
	this.d.call.b = this.there[1];
	this.d.call.c = (float *)this.there[2] + guard;
}

/* The CPU's part: notes which elements it was given, which nobody may have touched yet. */
static void finish(void *finished, const struct sb_call *block)
{
	const float *first = this.there[2];

	++*(int *)finished;
	if (this.on_device) {
		product_compute(NULL, block);
		return;
	}
	for (int64_t j = 0; j < block->n; j++)
		for (int64_t i = 0; i < block->m; i++) {
			float *element = (float *)block->c + i + j * block->ldc;
			size_t at = (size_t)(element - first);

			CHECK(at < this.d.c_count && !this.by_cpu[at]);
			CHECK(memcmp(element, &this.before[at], sizeof *element) == 0);
			this.by_cpu[at] = 1;
			*element = mark;
		}
}

/* A call that was answered, or was not, has left C as it must; how it was computed, 0: unknown. */
static unsigned judge(enum sb_status status)
{
	unsigned all = FAULT_STRICT | (this.emulated ? FAULT_EMULATED : 0);
	long shares[2] = {0}; /* what the GPU wrote, and the CPU */

	get_c();
	for (size_t i = 0; i < this.d.c_count; i++) {
		bool as_before = memcmp(&this.found[i], &this.before[i], sizeof(float)) == 0;
		unsigned here =
			sb_oracle_same(this.found[i], this.d.expected[i]) ? FAULT_STRICT : 0;
		bool right, good;

		if (this.emulated && sb_oracle_same(this.found[i], this.emulated[i]))
			here |= FAULT_EMULATED;
		/* What is staged for the CPU is computed by the strict oracle. */
		good = right = (this.on_device ? here : here & all) != 0;
		if (this.by_cpu[i])
			good = this.found[i] == mark;
		else if (status != SB_OK)
			good = as_before || (this.on_device && right);
		if (!good) {
			fprintf(stderr, "    element %zu of %zu: %a, was %a, wanted %a\n", i,
				this.d.c_count, (double)this.found[i], (double)this.before[i],
				(double)this.d.expected[i]);
			child_failures++;
			return 0;
		}
		if (!this.by_cpu[i] && right)
			all &= here;
		shares[this.by_cpu[i] != 0] += !as_before;
	}
	mixed += shares[0] > 0 && shares[1] > 0;
	return all;
}

static enum sb_status call(int *finished)
{
	struct sb_decision decision = {.emulate = this.emulated != NULL};
	struct sb_as_found found;
	enum sb_status status;

	memset(this.by_cpu, 0, this.d.c_count);
	*finished = 0;
	CHECK(sb_process_enter(&found));
	status = sb_offload(&this.d.call, &decision, finish, finished);
	sb_process_leave(&found);
	return status;
}

static void call_well(void)
{
	int finished;
	enum sb_status status = call(&finished);

	CHECK(status == SB_OK && finished == 0);
	CHECK(judge(status) & this.arithmetic->bit);
	put(2, this.before);
}

/* The program has none current; only where one could not be popped it finds ours. */
static void find_context(bool unpopped)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context;

	while (cu->context_current(&context) == 0 && context) {
		CHECK(unpopped);
		CHECK(cu->context_pop(&context) == 0);
	}
}

/* The device is lost: the call after it finds C as it was, and leaves it so. */
static void call_in_vain(enum sb_status status)
{
	int finished;

	if (this.kind->places[2] == FAULT_DEVICE)
		return;
	judge(status);
	put(2, this.before);
	CHECK(call(&finished) == SB_LOST && finished == 0);
	CHECK(memcmp(this.there[2], this.before, this.bytes[2]) == 0);
}

/* After the fault everything is healed; what is then not as it was before has leaked. */
static void fail_once(const char *fault, struct stand_in_live *before)
{
	int failures = child_failures, finished;
	struct stand_in_live after;
	enum sb_status status;

	CHECK(configure(fault) == 0);
	sb_device_least_patience = strncmp(fault, "hang", 4) == 0 ? 0.004 : 10;
	status = call(&finished);
	CHECK(finished == 0 || status == SB_OK || this.on_device);
	if (sb_device_team() && this.kind->places[2] != FAULT_DEVICE)
		judge(status);
	else
		call_in_vain(status);
	CHECK(configure("forget") == 0);
	find_context(strstr(fault, "=context_pop:") != NULL);
	if (this.kind->places[2] == FAULT_DEVICE)
		judge(status);
	(void)sb_device_turn(SB_HEALTH_LOST, SB_HEALTH_READY, SB_REASON_LOST);
	sb_device_least_patience = 10;
	put(2, this.before);
	call_well();
	after = live();
	CHECK(after.host_memory == before->host_memory && after.streams == before->streams);
	CHECK(after.modules == before->modules && after.contexts == before->contexts);
	/* Records keep the events of the longest call. */
	CHECK(after.events <= before->events + 8);
	/* What the driver will not take back is lost with it. */
	if (strstr(fault, "=memory_free:") || strstr(fault, "=memory_unmap:") ||
	    strstr(fault, "=memory_release:"))
		before->device_memory = after.device_memory;
	/* An operand whose place could not be told needs the region that is kept. */
	CHECK(after.device_memory <= before->device_memory + 1);
	if (child_failures > failures)
		fprintf(stderr, "    with %s: status %d\n", fault, (int)status);
}

/* How many thousands of k a tensor core's model has to go through. */
static long deep(void)
{
	return this.emulated ? (long)this.kind->product.k / SB_ORACLE_FP16_K : 0;
}

/* Many are much alike, minutes of a sanitizer are dear, and so is a tensor core's model. */
static long step_of(enum fault_slot slot)
{
	if (suite_sanitized())
		return (deep() ? 41 * deep() : this.emulated ? 23 : 11) + (long)slot % 3;
	return !this.emulated ? 1 : (deep() ? 11 * deep() : 7) + (long)slot % 3;
}

static long try_slot(enum fault_slot slot, long calls, struct stand_in_live *before)
{
	const int ways = suite_sanitized() && deep() ? 3 : 1; /* one of so many */
	const long step = step_of(slot);
	long tried = 0;

	for (int w = 0; w < fault_ways_count && calls; w += ways) {
		/* Each way begins at another call. */
		const long first = 1 + w % (step < calls ? step : calls);

		if (fault_ways[w].queues && !fault_queues(slot))
			continue;
		for (long n = first; n <= calls && child_failures < 20; n += step) {
			char fault[100];

			snprintf(fault, sizeof fault, fault_ways[w].format, fault_slots[slot], n);
			fail_once(fault, before);
			tried++;
		}
	}
	return tried;
}

struct combination {
	const struct fault_kind *kind;
	const struct fault_arithmetic *arithmetic;
};

static void every_fault(const void *argument)
{
	const struct combination *combination = argument;
	long counts[FAULT_SLOTS], tried = 0;
	struct stand_in_live before;
	size_t heap;
	int finished;

	*(void **)&configure = symbol("stand_in_configure");
	*(void **)&calls_of = symbol("stand_in_calls");
	*(void **)&live = symbol("stand_in_live");
	CHECK(child_start() == SB_HEALTH_READY);
	sb_split_least = (struct sb_split_least){.extent = 1, .bytes = 0};
	this.arithmetic = combination->arithmetic;
	make_operands(combination->kind);
	call_well();
	/* What a fallback needs is made once, too. */
	CHECK(configure("seed=3,from=launch:1:INVALID_VALUE") == 0);
	(void)call(&finished);
	CHECK(configure("forget") == 0);
	put(2, this.before);
	CHECK(call(&finished) == SB_OK && finished == 0);
	for (int s = 0; s < FAULT_SLOTS; s++)
		counts[s] = calls_of(fault_slots[s]);
	put(2, this.before);
	before = live();
	heap = mallinfo2().uordblks;
	CHECK(counts[FAULT_SLOT_launch] >= this.kind->launches);
	for (int s = 0; s < FAULT_SLOTS; s++)
		if (strncmp(fault_slots[s], this.kind->only, strlen(this.kind->only)) == 0)
			tried += try_slot((enum fault_slot)s, counts[s], &before);
	/* What was queued and forgotten is the stand-in's. */
	CHECK(mallinfo2().uordblks < heap + 65536);
	CHECK(tried > 10);
	CHECK(mixed > 0 || !(this.kind->traits & FAULT_SHARED));
	printf("    %s, %s: %ld faults, %ld times both sides wrote\n", this.arithmetic->name,
	       this.kind->name, tried, mixed);
}

static void whatever_fails(void)
{
	for (int a = 0; a < fault_arithmetics_count; a++)
		for (int k = 0; k < fault_kinds_count; k++) {
			const struct combination one = {&fault_kinds[k], &fault_arithmetics[a]};
			char text[400];
			int failures;

			if (!(one.kind->traits & one.arithmetic->bit))
				continue;
			fault_environment(text, sizeof text, one.arithmetic, one.kind);
			failures = in_child(text, every_fault, &one);
			if (failures)
				fprintf(stderr, "%s, %s: %d failures\n", fault_arithmetics[a].name,
					fault_kinds[k].name, failures);
			CU_ASSERT_EQUAL(failures, 0);
		}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"whatever fails, each element is written once", whatever_fails},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("faults can be asked of the stand-in driver alone");
	return SUITE("every_fault", tests);
}
