/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every driver call of the start of CUDA, and of the first call of a process, in which rings,
 * modules and memory are made, fails, each in a process of its own: whatever comes of it, the
 * answers are right to the bit, by whichever side, and so they are a call later.
 */
#include "child.h"

#include "device.h"
#include "fault_kinds.h"
#include "offload.h"
#include "plan_split.h"
#include "process.h"
#include "product_emulated.h"
#include "stand_in/stand_in.h"
#include "start.h"

/* Of calls that a start makes a hundred times, as it makes events, the ones in the middle are
 * alike. */
enum { ALIKE = 48, STEP = 24 };

static struct product_data data;
static float *emulated; /* where it is to be, what then comes of C; else NULL */

/* What is not emulated, for want of a kernel, is strict, and so is the CPU here. */
static bool right(void)
{
	for (size_t i = 0; i < data.c_count; i++)
		if (!sb_oracle_same(data.c[i], data.expected[i]) &&
		    !(emulated && sb_oracle_same(data.c[i], emulated[i])))
			return false;
	return true;
}

static void call_once(void)
{
	float *before = malloc(data.c_count * sizeof *before);
	struct sb_decision decision = {.emulate = emulated != NULL};
	struct sb_as_found found;
	enum sb_status status;
	int finished = 0;

	memcpy(before, data.c, data.c_count * sizeof *before);
	CHECK(sb_process_enter(&found));
	status = sb_offload(&data.call, &decision, product_compute, &finished);
	sb_process_leave(&found);
	if (status != SB_OK) {
		CHECK(memcmp(before, data.c, data.c_count * sizeof *before) == 0);
		product_compute(NULL, &data.call);
	}
	CHECK(right());
	memcpy(data.c, before, data.c_count * sizeof *before);
	free(before);
}

/* `well`: nothing is going to fail, and however busy the host is the device is not given up. */
static void start_and_call(const void *well)
{
	sb_device_least_patience = well ? 60 : 0.03;
	sb_split_least = (struct sb_split_least){.extent = 1, .bytes = 0};
	(void)child_start();
	call_once();
	call_once();
}

/* Writes how often a run without a fault calls each slot. */
static void count(const void *path)
{
	void *library = dlopen(getenv("SHIMBLAS_DRIVER"), RTLD_LAZY | RTLD_LOCAL);
	__typeof__(&stand_in_calls) calls_of;
	FILE *file = fopen(path, "w");

	*(void **)&calls_of = dlsym(library, "stand_in_calls");
	start_and_call(path);
	CHECK(sb_device_team() != NULL);
	for (int s = 0; s < FAULT_SLOTS; s++)
		fprintf(file, "%ld\n", calls_of(fault_slots[s]));
	CHECK(fclose(file) == 0);
}

static void read_counts(const char *path, long counts[FAULT_SLOTS])
{
	FILE *file = fopen(path, "r");

	for (int s = 0; s < FAULT_SLOTS; s++)
		if (!file || fscanf(file, "%ld", &counts[s]) != 1)
			counts[s] = 0;
	if (file)
		fclose(file);
}

/* The next call of a slot that is worth failing. */
static long next(long n, long calls)
{
	/* Processes are dear under a sanitizer. */
	if (suite_sanitized())
		return n + 41;
	/* So is a tensor core's model. */
	if (emulated)
		return n + 11;
	return n >= ALIKE / 2 && n + STEP <= calls - ALIKE / 2 ? n + STEP : n + 1;
}

static int try_slot(const char *environment, enum fault_slot slot, long calls)
{
	int tried = 0;

	for (int w = 0; w < fault_ways_count; w++) {
		if (fault_ways[w].queues && !fault_queues(slot))
			continue;
		for (long n = 1; n <= calls; n = next(n, calls)) {
			char fault[100], text[600];
			int failures;

			snprintf(fault, sizeof fault, fault_ways[w].format, fault_slots[slot], n);
			snprintf(text, sizeof text, "%s,seed=%ld,%s", environment, n % 7, fault);
			failures = in_child(text, start_and_call, NULL);
			if (failures)
				fprintf(stderr, "with %s: %d\n", text, failures);
			CU_ASSERT_EQUAL(failures, 0);
			tried++;
		}
	}
	return tried;
}

/* The stand-in's settings come last, so that a fault can be added. */
static void whatever_fails_first(const struct fault_arithmetic *arithmetic, const char *kind_name,
				 const char *stand_in)
{
	for (int k = 0; k < fault_kinds_count; k++) {
		long counts[FAULT_SLOTS];
		char path[200], text[400];
		int tried = 0;

		if (strcmp(fault_kinds[k].name, kind_name) != 0)
			continue;
		data = product_make(&fault_kinds[k].product);
		if (arithmetic->bit == FAULT_EMULATED)
			emulated = product_emulated(&data);
		snprintf(path, sizeof path, "%s/counts", suite_scratch());
		fault_environment(text, sizeof text - 64, arithmetic, &fault_kinds[k]);
		sprintf(text + strlen(text), " SB_STAND_IN=%s", stand_in);
		CU_ASSERT_EQUAL(in_child(text, count, path), 0);
		read_counts(path, counts);
		CU_ASSERT(counts[FAULT_SLOT_launch] >= fault_kinds[k].launches);
		for (int s = 0; s < FAULT_SLOTS; s++)
			tried += try_slot(text, (enum fault_slot)s, counts[s]);
		printf("%d faults ", tried);
		product_free(&data);
		free(emulated);
		emulated = NULL;
	}
}

static void whatever_fails_first_on_one_device(void)
{
	whatever_fails_first(&fault_arithmetics[0], "bulk", "abort=1");
}

static void whatever_fails_first_on_two(void)
{
	whatever_fails_first(&fault_arithmetics[0], "two devices", "devices=2");
}

static void whatever_fails_first_of_an_emulated_product(void)
{
	whatever_fails_first(&fault_arithmetics[1], "planes beta", "abort=1");
}

/* From nothing at all to plenty, of what the card has, gives at once, we may use, or can pin. */
static void memory_may_be_short_at_every_level(void)
{
	static const char *const knobs[] = {
		"SB_STAND_IN=memory=%ld",
		"SB_STAND_IN=short=%ld",
		"SHIMBLAS_DEVICE_MEMORY=%ld",
		"SHIMBLAS_PINNED_MEMORY=%ld",
		"SB_STAND_IN=devices=2,short=%ld SHIMBLAS_DEVICE=all",
	};
	static const struct product shapes[] = {
		{200, 190, 40, 1, 0, 1, 0, 2, 1, 0.5f},
		{40, 66, 780, 0, 0, 3, 1, 5, 1.5f, 1},
	};

	for (int s = 0; s < 2; s++) {
		data = product_make(&shapes[s]);
		for (size_t k = 0; k < sizeof knobs / sizeof *knobs; k++)
			for (long bytes = 1; bytes < 8 << 20; bytes = bytes * 5 / 3 + 1) {
				char knob[100], text[200];
				int failures;

				snprintf(knob, sizeof knob, knobs[k], bytes);
				snprintf(text, sizeof text, "%s SHIMBLAS_LOGFILE=/dev/null", knob);
				failures = in_child(text, start_and_call, NULL);
				if (failures)
					fprintf(stderr, "with %s: %d\n", text, failures);
				CU_ASSERT_EQUAL(failures, 0);
			}
		product_free(&data);
	}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"whatever fails first, on one device", whatever_fails_first_on_one_device},
		{"whatever fails first, on two", whatever_fails_first_on_two},
		{"whatever fails first, of an emulated product",
		 whatever_fails_first_of_an_emulated_product},
		{"memory may be short at every level", memory_may_be_short_at_every_level},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("faults can be asked of the stand-in driver alone");
	return SUITE("first_faults", tests);
}
