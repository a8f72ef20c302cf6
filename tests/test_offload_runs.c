/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products whose k is long and whose operands do not fit, so that C stays on the device and runs of
 * slabs pass by: right to the bit, in every order of a late device, and whatever fails.
 */
#include "child.h"

#include "device.h"
#include "offload.h"
#include "process.h"
#include "product.h"
#include "start.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct product shapes[] = {
	{300, 280, 1300, 0, 0, 3, 1, 5, 1.5f, 0.5f}, {270, 140, 1290, 1, 1, 0, 3, 0, -1, 0},
	{131, 300, 1543, 0, 1, 1, 2, 3, 0.25f, -1},  {520, 131, 1280, 1, 0, 0, 0, 1, 1, 1},
	{6, 300, 9000, 1, 0, 1, 0, 0, 1, 0},
};

/* Room for a few tiles and runs of each kernel. */
static const struct {
	const char *kernel, *memory;
} kernels[] = {
	{"plain_64x64x16", "800K"},	 {"bulk_256x128x32", "2M"}, {"bulk_128x64x32", "1M"},
	{"persistent_128x128x32", "3M"}, {"slab_64x64x32", "1M"},   {"split_64x64x32", "1M"},
};

static void start(void)
{
	CHECK(child_start() == SB_HEALTH_READY);
}

/* One call; how much of it the CPU had to do is counted in `finished`. */
static enum sb_status multiply(struct product_data *d, int *finished)
{
	struct sb_decision decision = {0};
	struct sb_as_found found;
	enum sb_status status;

	*finished = 0;
	CHECK(sb_process_enter(&found));
	status = sb_offload(&d->call, &decision, product_compute, finished);
	sb_process_leave(&found);
	return status;
}

static void all_shapes(const void *unused)
{
	(void)unused;
	start();
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct product_data d = product_make(&shapes[i]);
		int finished;

		CHECK(multiply(&d, &finished) == SB_OK);
		CHECK(finished == 0);
		CHECK(product_right(&d));
		product_free(&d);
	}
}

/* Lines of a log that tell of steps that go on at a k beyond zero. */
static int runs_in(const char *log)
{
	FILE *file = fopen(log, "r");
	char line[400];
	int count = 0;

	while (file && fgets(line, sizeof line, file))
		count += strstr(line, ": gemm C[") && strstr(line, " k[") && !strstr(line, " k[0+");
	if (file)
		fclose(file);
	unlink(log);
	return count;
}

static void every_kernel_goes_on_in_every_order(void)
{
	/* Minutes of the thread sanitizer are dear. */
	size_t seeds = suite_sanitized() ? 1 : 2;

	for (size_t i = 0; i < COUNT(kernels); i++)
		for (size_t seed = 2 * i; seed < 2 * i + seeds; seed++) {
			char log[200], text[500];

			snprintf(log, sizeof log, "%s/runs.log", suite_scratch());
			snprintf(text, sizeof text,
				 "SHIMBLAS_KERNEL=sgemm_%s SHIMBLAS_DEVICE_MEMORY=%s "
				 "SB_STAND_IN=seed=%zu SHIMBLAS_PINNED_MEMORY=256K "
				 "SHIMBLAS_VERBOSE=2 SHIMBLAS_LOGFILE=%s",
				 kernels[i].kernel, kernels[i].memory, seed, log);
			CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
			CU_ASSERT(runs_in(log) > 4);
		}
}

static const struct product one = {300, 280, 1100, 0, 0, 3, 1, 5, 1.5f, 0.5f};

/* A lies on the device, whose copy engine then brings runs of B alone. */
static void a_on_the_device(const void *trans_b)
{
	struct product p = one;
	struct product_data d;
	struct sb_device *device;
	struct sb_visit visit;
	sb_cu_deviceptr a = 0;
	size_t bytes;
	int finished;

	start();
	p.trans_b = trans_b != NULL;
	p.k = 2100;
	d = product_make(&p);
	bytes = (size_t)(d.call.lda * d.call.k) * sizeof(float);
	device = sb_device();
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->memory_alloc(&a, bytes) == 0);
	CHECK(device->cu->copy_up(a, d.a, bytes, NULL) == 0);
	sb_device_leave(device, &visit);
	d.call.a = (const void *)(uintptr_t)a;
	CHECK(multiply(&d, &finished) == SB_OK);
	CHECK(finished == 0);
	CHECK(product_right(&d));
	product_free(&d);
}

static void an_operand_on_the_device_is_read_run_by_run(void)
{
	static const char *const kernel[] = {"plain_64x64x16 SHIMBLAS_DEVICE_MEMORY=400K",
					     "bulk_64x64x32 SHIMBLAS_DEVICE_MEMORY=800K"};

	for (size_t i = 0; i < COUNT(kernel); i++)
		for (int trans = 0; trans < 2; trans++) {
			char log[200], text[500];

			snprintf(log, sizeof log, "%s/runs.log", suite_scratch());
			snprintf(text, sizeof text,
				 "SHIMBLAS_KERNEL=sgemm_%s SB_STAND_IN=sealed,seed=3 "
				 "SHIMBLAS_VERBOSE=2 SHIMBLAS_LOGFILE=%s",
				 kernel[i], log);
			CU_ASSERT_EQUAL(in_child(text, a_on_the_device, trans ? text : NULL), 0);
			CU_ASSERT(runs_in(log) > 4);
		}
}

/* Exits with 50 where the CPU had to finish, and did; with 51 where it had all to do. */
static void half_written(const void *unused)
{
	struct product_data d;
	enum sb_status status;
	int finished;

	(void)unused;
	sb_device_least_patience = 0.3;
	start();
	d = product_make(&one);
	status = multiply(&d, &finished);
	if (status != SB_OK)
		product_compute(NULL, &d.call);
	CHECK(product_right(&d));
	if (!child_failures && (finished || status != SB_OK))
		exit(finished ? 50 : 51);
}

static void what_has_not_come_home_the_cpu_computes(void)
{
	static const char *const faults[] = {"lose=copy_2d:%d", "crash=launch:%d", "hang=launch:%d",
					     "fail=copy_2d:%d:INVALID_VALUE"};

	/* Some before the first block is home, some after, in a later super-block. */
	for (size_t i = 0; i < COUNT(faults); i++) {
		int halves = 0, all = 0;

		for (int n = 3; n <= 120; n += 39) {
			char fault[64], text[300];
			int result;

			snprintf(fault, sizeof fault, faults[i], n);
			snprintf(text, sizeof text,
				 "SB_STAND_IN=%s SHIMBLAS_LOGFILE=/dev/null "
				 "SHIMBLAS_KERNEL=sgemm_plain_64x64x16 "
				 "SHIMBLAS_DEVICE_MEMORY=400K SHIMBLAS_PINNED_MEMORY=512K",
				 fault);
			result = in_child(text, half_written, NULL);
			CU_ASSERT(result == 0 || result == 50 || result == 51);
			halves += result == 50;
			all += result == 51;
		}
		CU_ASSERT(halves > 0 && all > 0);
	}
}

int main(void)
{
	/* Faults can only be asked of the stand-in. */
	const struct suite_case real[] = {
		{"every kernel goes on in every order", every_kernel_goes_on_in_every_order},
	};
	const struct suite_case tests[] = {
		{"every kernel goes on in every order", every_kernel_goes_on_in_every_order},
		{"an operand on the device is read run by run",
		 an_operand_on_the_device_is_read_run_by_run},
		{"what has not come home the CPU computes",
		 what_has_not_come_home_the_cpu_computes},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	return child_driver_is_stand_in() ? SUITE("offload_runs", tests)
					  : SUITE("offload_runs", real);
}
