/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that several devices share, when one of them fails, or all. */
#include "team.h"

/* Exits with 50 where the CPU had to finish, and did. */
static void survive(const void *argument)
{
	struct product_data d = product_make(argument);
	struct sb_decision decision;
	enum sb_status status;
	int finished, helped = 0;

	sb_device_least_patience = 0.3;
	if (start() != SB_HEALTH_READY)
		return;
	for (int i = 0; i < 2; i++) {
		CHECK(run_call(&d, &decision, &status, &finished));
		helped += status == SB_OK && finished;
	}
	product_free(&d);
	if (!child_failures && helped)
		exit(50);
}

static const struct product large = {530, 1400, 9, 1, 0, 3, 1, 5, 1.5f, 0.5f};

static void what_a_lost_device_has_left_of_c_the_cpu_computes(void)
{
	static const char *const faults[] = {"lose=copy_2d:%d", "crash=copy_2d:%d",
					     "hang=copy_2d:%d", "crash=launch:%d",
					     "fail=copy_2d:%d:INVALID_VALUE"};

	for (size_t i = 0; i < COUNT(faults); i++) {
		int seen = 0;

		for (int n = 6; n <= 150; n += i == 2 || suite_sanitized() ? 48 : 12) {
			char fault[64], text[300];
			int result;

			snprintf(fault, sizeof fault, faults[i], n);
			snprintf(text, sizeof text,
				 "SB_STAND_IN=devices=3,seed=%d,%s SHIMBLAS_LOGFILE=/dev/null "
				 "SHIMBLAS_DEVICE=all SHIMBLAS_PANELS=8 "
				 "SHIMBLAS_PINNED_MEMORY=768K SHIMBLAS_KERNEL=%s",
				 n, fault, plain);
			result = in_child(text, survive, &large);
			if (result != 0 && result != 50)
				fprintf(stderr, "with %s: %d\n", text, result);
			CU_ASSERT(result == 0 || result == 50);
			seen += result == 50;
		}
		CU_ASSERT(seen > 0);
	}
}

/* The GPU answers all the same, and on how many devices. */
static void expect_devices(const void *argument)
{
	struct sb_decision decision;
	enum sb_status status;
	int finished;

	CHECK(start() == SB_HEALTH_READY);
	CHECK(run_product(&large, &decision, &status, &finished));
	CHECK(status == SB_OK && finished == 0);
	CHECK(bits_in(decision.devices) == *(const int *)argument);
}

static void a_device_short_of_memory_gets_a_smaller_plan(void)
{
	int three = 3;

	/* The second device's first allocation; then every large one. */
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3,fail=memory_create:2 SHIMBLAS_DEVICE=all",
				 expect_devices, &three),
			0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3,short=400K SHIMBLAS_DEVICE=all "
				 "SHIMBLAS_KERNEL=sgemm_plain_64x64x16",
				 expect_devices, &three),
			0);
}

/* The program has left next to nothing of the second device. */
static void crowd(const void *argument)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context = NULL, popped;
	sb_cu_deviceptr memory;

	CHECK(cu->init(0) == 0 && cu->primary_retain(&context, 1) == 0);
	CHECK(cu->context_push(context) == 0);
	CHECK(cu->memory_alloc(&memory, (64 << 20) - 4096) == 0);
	CHECK(cu->context_pop(&popped) == 0);
	expect_devices(argument);
}

static void where_one_cannot_the_first_does_it_alone(void)
{
	int one = 1;

	CU_ASSERT_EQUAL(
		in_child("SB_STAND_IN=devices=3,memory=64M SHIMBLAS_DEVICE=all", crowd, &one), 0);
}

int main(void)
{
	/* Faults can only be asked of the stand-in. */
	const struct suite_case tests[] = {
		{"what a lost device has left of C the CPU computes",
		 what_a_lost_device_has_left_of_c_the_cpu_computes},
		{"a device short of memory gets a smaller plan",
		 a_device_short_of_memory_gets_a_smaller_plan},
		{"where one cannot the first does it alone",
		 where_one_cannot_the_first_does_it_alone},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	if (!child_driver_is_stand_in())
		return suite_skip("a test of the stand-in");
	return SUITE("team_faults", tests);
}
