/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timelines of calls on a device that is as late or as perverse as streams permit: every step once,
 * in its order, within the call, and all bytes accounted for. Without a wish for one nothing is
 * made or asked for, and with one nothing of a call's result changes, whatever fails.
 */
#include "child.h"

#include "arena.h"
#include "bound.h"
#include "carry.h"
#include "launch.h"
#include "offload.h"
#include "process.h"
#include "product.h"
#include "start.h"
#include "timeline_tell.h"
#include "transfer.h"

#define ROUNDING     1e-6 /* of a device's times, which are floats */
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct run {
	const char *kernel;
	int trans_a, trans_b;
	int whole;  /* a plan in which everything stays; else panels pass by */
	int pinned; /* A, copied without the ring */
};

static const struct product shape = {500, 380, 90, 0, 0, 1, 2, 3, 1, 0.5f};

static struct sb_device *start(void)
{
	if (child_start() != SB_HEALTH_READY)
		exit(99);
	return sb_device();
}

static size_t spans_called(const struct sb_timeline *timeline, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < timeline->count; i++)
		count += timeline->spans[i].kind == SB_TIMELINE_STEP &&
			 strcmp(timeline->spans[i].name, name) == 0;
	return count;
}

static size_t steps_called(const struct sb_plan *plan, const char *name)
{
	size_t count = 0;

	for (int i = 0; i < plan->count; i++) {
		char line[64];

		sb_plan_line(&plan->steps[i], line, sizeof line);
		count += strcmp(line, name) == 0;
	}
	return count;
}

static uint64_t bytes_of(const struct sb_timeline *timeline, enum sb_timeline_kind kind,
			 enum sb_stream stream)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];

		if (span->kind == kind && (!span->device || span->stream == stream))
			sum += span->bytes;
	}
	return sum;
}

/* What a stream does it does in order; all is within the call. A step of copies is none of that. */
static void check_order(const struct sb_timeline *timeline)
{
	double ends[SB_STREAMS] = {0}, end = timeline->end + timeline->doubt + ROUNDING;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];

		CHECK(span->begin >= timeline->begin);
		CHECK(span->end >= span->begin);
		CHECK(span->end <= end);
		if (!span->device || (span->kind == SB_TIMELINE_STEP && span->bytes))
			continue;
		CHECK(span->begin >= ends[span->stream]);
		ends[span->stream] = span->end;
	}
}

/* A copy lies within its step, a piece is not filled after its step has ended. */
static void check_parts(const struct sb_timeline *timeline)
{
	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];
		const struct sb_timeline_span *step =
			span->step ? &timeline->spans[span->step - 1] : NULL;

		if (span->kind == SB_TIMELINE_COPY) {
			CHECK(step && step->kind == SB_TIMELINE_STEP);
			CHECK(step && span->begin >= step->begin && span->end <= step->end);
		} else if (span->kind == SB_TIMELINE_FILL) {
			CHECK(step && strncmp(step->name, "up ", 3) == 0);
			CHECK(step && span->begin <= step->end + timeline->doubt + ROUNDING);
		} else if (span->kind == SB_TIMELINE_COMMIT) {
			CHECK(step && strncmp(step->name, "down ", 5) == 0);
			CHECK(step && span->end >= step->begin - timeline->doubt - ROUNDING);
		}
	}
}

static void check(const struct sb_timeline *timeline, const struct sb_plan *plan,
		  const struct product *p, const struct run *run)
{
	uint64_t up = 0, a = 4 * (uint64_t)(p->m * p->k), c = 4 * (uint64_t)(p->m * p->n);

	for (int i = 0; i < plan->count; i++) {
		char line[64];

		sb_plan_line(&plan->steps[i], line, sizeof line);
		CHECK(spans_called(timeline, line) == steps_called(plan, line));
		if (plan->steps[i].kind == SB_STEP_UP)
			up += 4 * (uint64_t)(plan->steps[i].count * p->k);
	}
	check_order(timeline);
	check_parts(timeline);
	CHECK(timeline->dropped == 0);
	CHECK(!run->whole || up == a + 4 * (uint64_t)(p->n * p->k));
	CHECK(bytes_of(timeline, SB_TIMELINE_COPY, SB_STREAM_UP) == up);
	CHECK(bytes_of(timeline, SB_TIMELINE_STEP, SB_STREAM_UP) == up);
	CHECK(!run->whole ||
	      bytes_of(timeline, SB_TIMELINE_FILL, 0) == up - a * (run->pinned != 0));
	CHECK(bytes_of(timeline, SB_TIMELINE_COPY, SB_STREAM_DOWN) == c);
	CHECK(bytes_of(timeline, SB_TIMELINE_COMMIT, 0) == c);
}

static void pin(struct sb_device *device, struct product_data *d, size_t count)
{
	void *pinned;

	if (device->cu->host_alloc(&pinned, count * sizeof(float), 0) != SB_CU_SUCCESS)
		exit(99);
	memcpy(pinned, d->a, count * sizeof(float));
	d->call.a = pinned;
}

static void carry(const void *argument)
{
	const struct run *run = argument;
	struct product p = shape;
	struct product_data d;
	struct sb_plan plan;
	struct sb_carry c;
	struct sb_visit visit;

	p.trans_a = run->trans_a;
	p.trans_b = run->trans_b;
	d = product_make(&p);
	c = (struct sb_carry){.device = start(),
			      .call = &d.call,
			      .kernel = sb_registry_find(run->kernel),
			      .plan = &plan,
			      .patience = 10};
	struct sb_plan_wish wish = {.m = p.m,
				    .n = p.n,
				    .k = p.k,
				    .trans_a = p.trans_a,
				    .trans_b = p.trans_b,
				    .kernel = c.kernel,
				    .device_bytes = run->whole			  ? 64 << 20
						    : strstr(run->kernel, "bulk") ? 500000
										  : 330000,
				    .panels = 3};

	sb_device_take(c.device, 1);
	if (sb_device_enter(c.device, &visit) != SB_OK ||
	    sb_launch_prepare(c.device, c.kernel) != SB_OK || sb_ring_prepare(c.device) != SB_OK ||
	    sb_plan_make(&plan, &wish) != SB_OK ||
	    sb_arena_take(c.device, plan.device_bytes, &c.base) != SB_OK)
		exit(99);
	if (run->pinned) {
		pin(c.device, &d, (size_t)(d.call.lda * (p.trans_a ? p.m : p.k)));
		c.places[0] = SB_PLACE_PINNED;
	}
	for (int i = 0; i < 2; i++) {
		sb_timeline_open(&(struct sb_call){.m = 2, .n = 3, .k = 4}, true);
		sb_timeline_enter(c.device, 10);
		CHECK(sb_carry_out(&c, 1) == SB_OK);
		sb_timeline_leave(c.device);
		sb_timeline_close();
		check(sb_timeline_here, &plan, &p, run);
		CHECK(i > 0 || product_right(&d));
		sb_timeline_drop();
	}
	sb_plan_free(&plan);
	product_free(&d);
}

static void every_step_is_there_once_and_in_its_place(void)
{
	static const char bulk[] = "sgemm_bulk_256x128x32", plain[] = "sgemm_plain_64x64x16";
	static const struct run runs[] = {
		{plain, 0, 1, 1, 0}, {plain, 1, 0, 0, 0}, {bulk, 0, 1, 1, 0}, {bulk, 1, 0, 1, 0},
		{bulk, 1, 0, 0, 0},  {plain, 0, 0, 1, 1}, {bulk, 0, 1, 1, 1},
	};

	for (size_t i = 0; i < COUNT(runs); i++)
		for (int seed = 0; seed < 6; seed++) {
			char text[160];

			snprintf(text, sizeof text,
				 "SB_STAND_IN=seed=%d SHIMBLAS_PINNED_MEMORY=1M "
				 "SHIMBLAS_THREADS=3 SHIMBLAS_TRACE=/dev/null",
				 seed);
			CU_ASSERT_EQUAL(in_child(text, carry, &runs[i]), 0);
		}
}

static long driver_calls(const char *slot)
{
	void *driver = dlopen(child_driver(), RTLD_LAZY | RTLD_LOCAL);
	long (*calls)(const char *);

	*(void **)&calls = dlsym(driver, "stand_in_calls");
	return calls(slot);
}

static bool offload_right(void)
{
	struct product_data d = product_make(&shape);
	struct sb_decision decision = {0};
	struct sb_as_found found;
	enum sb_status status;
	bool right;

	CHECK(sb_process_enter(&found));
	status = sb_offload(&d.call, &decision, product_compute, NULL);
	sb_process_leave(&found);
	right = status == SB_OK && product_right(&d);
	product_free(&d);
	return right;
}

/* argument: is a timeline wanted? */
static void count_driver_calls(const void *argument)
{
	bool wanted = argument != NULL;
	/* The clocks are looked at until they are close, which is luck. */
	const long looks = wanted ? 4 : 0;
	long made, recorded[3];

	start();
	CHECK(driver_calls("event_elapsed") == 0);
	made = driver_calls("event_create");
	CHECK(offload_right());
	CHECK((sb_timeline_here != NULL) == wanted);
	CHECK((driver_calls("event_elapsed") > 0) == wanted);
	/* The rings' own are made at the first call. */
	CHECK((driver_calls("event_create") > made + 2 * SB_RING_SLOTS) == wanted);
	made = driver_calls("event_create");
	recorded[0] = driver_calls("event_record");
	CHECK(offload_right());
	recorded[1] = driver_calls("event_record");
	CHECK(offload_right());
	CHECK(driver_calls("event_create") <= made + looks);
	recorded[2] = driver_calls("event_record");
	CHECK(labs(recorded[2] - 2 * recorded[1] + recorded[0]) <= looks);
}

static void without_a_wish_nothing_is_made(void)
{
	CU_ASSERT_EQUAL(
		in_child("SHIMBLAS_VERBOSE=1 SHIMBLAS_LOGFILE=/dev/null", count_driver_calls, NULL),
		0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_TRACE=/dev/null", count_driver_calls, "yes"), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_VERBOSE=2 SHIMBLAS_LOGFILE=/dev/null",
				 count_driver_calls, "yes"),
			0);
}

static void offload_thrice(const void *argument)
{
	(void)argument;
	start();
	for (int i = 0; i < 3; i++)
		CHECK(offload_right());
}

static void what_fails_for_it_costs_the_call_nothing(void)
{
	/* Behind the events of the device, the looks at the clocks, and those of the rings. */
	const int made = SB_DEVICE_EVENTS + 4 + 2 * SB_RING_SLOTS;
	const struct {
		const char *fault;
		int from;
	} faults[] = {
		{"from=event_create:%d", made},
		{"fail=event_create:%d", made},
		{"fail=event_elapsed:%d", 0},
		{"from=event_elapsed:%d", 0},
	};

	for (size_t i = 0; i < COUNT(faults); i++)
		for (int at = 1; at < 6; at++) {
			char fault[60], text[200];

			snprintf(fault, sizeof fault, faults[i].fault, faults[i].from + at * at);
			snprintf(text, sizeof text, "SB_STAND_IN=%s SHIMBLAS_TRACE=/dev/null",
				 fault);
			CU_ASSERT_EQUAL(in_child(text, offload_thrice, NULL), 0);
		}
}

static void lose_it(const void *unused)
{
	(void)unused;
	start();
	for (int i = 0; i < 3; i++)
		(void)offload_right();
	CHECK(!sb_device());
	CHECK(sb_timeline_here && sb_timeline_here->ended);
	exit(child_failures);
}

static void a_device_that_is_lost_leaves_what_was_known(void)
{
	for (int launch = 1; launch <= 3; launch++) {
		char text[200];

		snprintf(text, sizeof text,
			 "SB_STAND_IN=lose=launch:%d SHIMBLAS_TRACE=/dev/null "
			 "SHIMBLAS_LOGFILE=/dev/null",
			 launch);
		CU_ASSERT_EQUAL(in_child(text, lose_it, NULL), 0);
	}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"every step is there once and in its place",
		 every_step_is_there_once_and_in_its_place},
		{"without a wish nothing is made", without_a_wish_nothing_is_made},
		{"what fails for it costs the call nothing",
		 what_fails_for_it_costs_the_call_nothing},
		{"a device that is lost leaves what was known",
		 a_device_that_is_lost_leaves_what_was_known},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("timeline", tests);
}
