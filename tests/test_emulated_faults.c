/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emulated products when something fails: each element of C is the emulated product's or, where the
 * CPU or strict kernels had to compute it, theirs; never anything else, and nothing beside it.
 */
#include "emulated.h"

static const struct spiced small = {{33, 29, 1030, 1, 0, 1, 0, 2, 2, 0.5f}, FINE_SPREAD};
static const struct spiced wide = {{40, 1200, 1030, 0, 0, 0, 0, 0, 1, 1}, NO_SPICE};

static struct product_data emulated[2], strict[2];

static void prepare_one(int i, const struct spiced *s)
{
	emulated[i] = spiced_make(s, true);
	strict[i] = spiced_make(s, true);
	memcpy(strict[i].expected, strict[i].c, strict[i].c_count * sizeof(float));
	strict[i].call.c = strict[i].expected + ((float *)strict[i].call.c - strict[i].c);
	product_compute(NULL, &strict[i].call);
}

static bool either(const float *c, int i)
{
	for (size_t e = 0; e < emulated[i].c_count; e++)
		if (!sb_oracle_same(c[e], emulated[i].expected[e]) &&
		    !sb_oracle_same(c[e], strict[i].expected[e]))
			return false;
	return true;
}

/* One call; where it was not carried C must be as it was. Whether the CPU finished it. */
static bool survive_one(int i)
{
	struct product_data d = emulated[i];
	struct sb_decision decision = {.emulate = true};
	float *c = malloc(d.c_count * sizeof *c);
	enum sb_status status;
	int finished = 0;

	memcpy(c, d.c, d.c_count * sizeof *c);
	d.call.c = c + ((float *)d.call.c - d.c);
	status = carry(&d.call, &decision, &finished);
	if (status == SB_OK)
		CHECK(either(c, i));
	else
		CHECK(memcmp(c, d.c, d.c_count * sizeof *c) == 0);
	free(c);
	return status == SB_OK && finished;
}

static void survive(const void *unused)
{
	(void)unused;
	sb_device_least_patience = 0.3;
	if (start() != SB_HEALTH_READY)
		return;
	for (int i = 0; i < 2; i++)
		(void)survive_one(0);
}

static long calls_of(const char *slot, const char *report)
{
	FILE *file = fopen(report, "r");
	char name[64];
	long calls, found = 0;

	while (file && fscanf(file, "%63s %ld", name, &calls) == 2)
		if (strcmp(name, slot) == 0)
			found = calls;
	if (file)
		fclose(file);
	return found;
}

/* Nothing that matters, and so little memory that k is cut. */
static const char *const memories[] = {"8G", "4200000"};

#define NAMED "SHIMBLAS_PINNED_MEMORY=512K SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64"

static void any_driver_call_may_fail(void)
{
	static const char *const slots[] = {
		"launch",	"set_words",	     "module_load",   "module_function",
		"function_get", "function_set",	     "memory_create", "copy_2d",
		"event_record", "stream_wait_event", "tensor_map",    "event_query"};
	static const char *const faults[] = {"fail=%s:%d:INVALID_VALUE", "from=%s:%d:OUT_OF_MEMORY",
					     "lose=%s:%d", "crash=%s:%d", "hang=%s:%d"};
	const char *sanitized = getenv("SB_SANITIZED");
	int most = sanitized && strcmp(sanitized, "yes") == 0 ? 2 : 9;
	char report[200], text[400];

	snprintf(report, sizeof report, "%s/calls", suite_scratch());
	snprintf(text, sizeof text, "SB_STAND_IN=report=%s " NAMED, report);
	CU_ASSERT_EQUAL(in_child(text, survive, NULL), 0);
	for (size_t s = 0; s < COUNT(slots); s++) {
		CU_ASSERT(calls_of(slots[s], report) > 0);
		for (size_t f = 0; f < COUNT(faults); f++)
			for (int n = 1; n <= most && n <= calls_of(slots[s], report); n += 2) {
				char fault[100];
				int failures;

				/* Only what is queued can hang. */
				if (f == 4 && strcmp(slots[s], "launch") != 0)
					continue;
				snprintf(fault, sizeof fault, faults[f], slots[s], n);
				snprintf(text, sizeof text,
					 "SB_STAND_IN=seed=%d,%s SHIMBLAS_LOGFILE=/dev/null "
					 "SHIMBLAS_DEVICE_MEMORY=%s " NAMED,
					 n, fault, memories[(n / 2 + (int)f) % 2]);
				failures = in_child(text, survive, NULL);
				if (failures)
					fprintf(stderr, "with %s: %d\n", text, failures);
				CU_ASSERT_EQUAL(failures, 0);
			}
	}
}

/* Exits with 50 where the CPU had to finish, and did. */
static void half_written(const void *unused)
{
	bool finished;

	(void)unused;
	sb_device_least_patience = 0.3;
	CHECK(start() == SB_HEALTH_READY);
	finished = survive_one(1);
	if (!child_failures && finished)
		exit(50);
}

static void what_a_failing_device_has_left_of_c_the_cpu_computes(void)
{
	int seen = 0;

	for (int n = 40; n <= 400; n += 30) {
		char text[300];
		int result;

		snprintf(text, sizeof text,
			 "SB_STAND_IN=lose=copy_2d:%d SHIMBLAS_LOGFILE=/dev/null "
			 "SHIMBLAS_PANELS=8 SHIMBLAS_DEVICE_MEMORY=%s " NAMED,
			 n, memories[n / 30 % 2]);
		result = in_child(text, half_written, NULL);
		CU_ASSERT(result == 0 || result == 50);
		seen += result == 50;
	}
	CU_ASSERT(seen > 0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"any driver call may fail", any_driver_call_may_fail},
		{"what a failing device has left of C the CPU computes",
		 what_a_failing_device_has_left_of_c_the_cpu_computes},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	prepare_one(0, &small);
	prepare_one(1, &wide);
	return SUITE("emulated_faults", tests);
}
