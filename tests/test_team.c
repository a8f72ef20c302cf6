/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that several devices share: the bits of one device, each byte once, and whatever fails. */
#include "child.h"

#include "device.h"
#include "offload.h"
#include "plan_split.h"
#include "process.h"
#include "product.h"
#include "start.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char bulk[] = "sgemm_bulk_256x128x32", plain[] = "sgemm_plain_64x64x16";

/* Wide and tall ones, so that C is cut along n and along m; every transpose; ragged everywhere. */
static const struct product shapes[] = {
	{300, 700, 40, 0, 0, 0, 0, 0, 1, 0},	 {300, 1100, 70, 1, 0, 1, 2, 3, 1.5f, 0},
	{290, 1050, 33, 0, 1, 3, 0, 1, 1, 0.5f}, {310, 1030, 65, 1, 1, 0, 5, 0, -1, -2},
	{2100, 400, 30, 0, 0, 2, 1, 7, 1, 1},	 {1070, 257, 33, 1, 0, 0, 0, 0, 0.5f, 0},
	{1090, 130, 50, 0, 1, 0, 3, 2, 1, 0},	 {2050, 300, 34, 1, 1, 7, 0, 0, 1, 0.25f},
	{5, 1000, 300, 0, 0, 0, 0, 0, 1, 0},	 {64, 64, 64, 0, 0, 0, 0, 0, 1, 1},
};

static enum sb_health start(void)
{
	sb_process_start();
	sb_start_buy();
	/* Products as small as these are worth one device. */
	sb_split_least = (struct sb_split_least){.extent = 1, .bytes = 0};
	return sb_start_wait(20);
}

/* Made before any child is: the oracle takes longer than all else. */
static struct product_data prepared[COUNT(shapes)];

static void prepare(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++)
		prepared[i] = product_make(&shapes[i]);
}

/* One call; where it was not carried C must be as it was. */
static int run_call(struct product_data *d, struct sb_decision *decision, enum sb_status *status,
		    int *finished)
{
	float *before = malloc(d->c_count * sizeof *before);
	struct sb_as_found found;
	int right;

	memcpy(before, d->c, d->c_count * sizeof *before);
	*finished = 0;
	*decision = (struct sb_decision){0};
	CHECK(sb_process_enter(&found));
	*status = sb_offload(&d->call, decision, product_compute, finished);
	sb_process_leave(&found);
	if (*status == SB_OK)
		right = product_right(d);
	else
		right = memcmp(before, d->c, d->c_count * sizeof *before) == 0;
	memcpy(d->c, before, d->c_count * sizeof *before);
	free(before);
	return right;
}

static int run_product(const struct product *p, struct sb_decision *decision,
		       enum sb_status *status, int *finished)
{
	struct product_data d = product_make(p);
	int right = run_call(&d, decision, status, finished);

	product_free(&d);
	return right;
}

static int bits_in(unsigned mask)
{
	int bits = 0;

	for (; mask; mask >>= 1)
		bits += (mask & 1) != 0;
	return bits;
}

static void all_shapes(const void *unused)
{
	int shared = 0;

	(void)unused;
	CHECK(start() == SB_HEALTH_READY);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		struct sb_decision decision;
		enum sb_status status;
		int finished;

		CHECK(run_call(&prepared[i], &decision, &status, &finished));
		CHECK(status == SB_OK && finished == 0);
		shared += bits_in(decision.devices) == sb_device_team()->count;
	}
	CHECK(shared > 3);
}

static void any_number_of_devices_gives_the_same_bits(void)
{
	for (int devices = 1; devices <= SB_DEVICES; devices++)
		for (int linked = 0; linked < 2; linked++)
			for (int form = 0; form < 2; form++) {
				char text[300];
				int seed = 4 * devices + 2 * linked + form;

				snprintf(text, sizeof text,
					 "SB_STAND_IN=devices=%d,nopeer=%d,seed=%d "
					 "SHIMBLAS_DEVICE=all SHIMBLAS_PANELS=%d "
					 "SHIMBLAS_PINNED_MEMORY=2M SHIMBLAS_KERNEL=%s",
					 devices, !linked, seed, 1 + seed % 9, form ? bulk : plain);
				CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
			}
}

static void every_order_of_late_devices_gives_them_too(void)
{
	for (int seed = 0; seed < 12; seed++) {
		char text[300];

		snprintf(text, sizeof text,
			 "SB_STAND_IN=devices=%d,seed=%d SHIMBLAS_DEVICE=all "
			 "SHIMBLAS_PANELS=5 SHIMBLAS_PINNED_MEMORY=512K SHIMBLAS_KERNEL=%s%s",
			 2 + seed % 3, seed, seed % 2 ? bulk : plain,
			 seed % 4 == 3 ? " SHIMBLAS_DEVICE_MEMORY=500K" : "");
		CU_ASSERT_EQUAL(in_child(text, all_shapes, NULL), 0);
	}
}

/* What the stand-in has counted, of all devices or of one. */
static long bytes(const char *way, int device)
{
	void *library = dlopen(getenv("SHIMBLAS_DRIVER"), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	long (*count)(const char *, int) = NULL;
	long sum = 0;

	*(void **)&count = dlsym(library, "stand_in_bytes");
	for (int i = 0; i < SB_DEVICES; i++)
		if (device < 0 || device == i)
			sum += count(way, i);
	return sum;
}

/* A multiple of every panel and tile, so that no padding travels. */
static const struct product even = {512, 2048, 64, 0, 1, 0, 0, 0, 1, 0};

static void count_bytes(const void *linked)
{
	const long common = even.m * even.k * 4, own = even.k * even.n * 4;
	struct sb_decision decision;
	enum sb_status status;
	int finished, devices;

	CHECK(start() == SB_HEALTH_READY);
	devices = sb_device_team()->count;
	CHECK(sb_device_team()->linked == *(const int *)linked);
	CHECK(run_product(&even, &decision, &status, &finished) && status == SB_OK);
	CHECK(bits_in(decision.devices) == devices);
	CHECK(bytes("down", -1) == even.m * even.n * 4);
	if (*(const int *)linked) {
		CHECK(bytes("up", -1) == common + own);
		CHECK(bytes("peer", -1) == common * (devices - 1));
	} else {
		CHECK(bytes("up", -1) == devices * common + own);
		CHECK(bytes("peer", -1) == 0);
	}
	/* As many on each wire as on any other, where they can be dealt out so. */
	for (int i = 0; devices != 3 && i < devices; i++)
		CHECK(bytes("up", i) * devices == bytes("up", -1) &&
		      bytes("peer", i) * devices == bytes("peer", -1));
}

static void each_byte_crosses_a_wire_once(void)
{
	for (int devices = 2; devices <= 4; devices++)
		for (int linked = 0; linked < 2; linked++) {
			char text[200];

			snprintf(text, sizeof text,
				 "SB_STAND_IN=devices=%d,nopeer=%d SHIMBLAS_DEVICE=all "
				 "SHIMBLAS_PANELS=8 SHIMBLAS_KERNEL=%s",
				 devices, !linked, plain);
			CU_ASSERT_EQUAL(in_child(text, count_bytes, &linked), 0);
		}
}

static void a_team_is_linked_where_all_are(void)
{
	int no = 0;

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=4,island=2 SHIMBLAS_DEVICE=all "
				 "SHIMBLAS_PANELS=8 SHIMBLAS_KERNEL=sgemm_plain_64x64x16",
				 count_bytes, &no),
			0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=2,fail=context_enable_peer:2:NOT_SUPPORTED "
				 "SHIMBLAS_DEVICE=all SHIMBLAS_PANELS=8 "
				 "SHIMBLAS_KERNEL=sgemm_plain_64x64x16",
				 count_bytes, &no),
			0);
}

/* The program's own use of CUDA comes first, and is not disturbed. */
static void link_before(const void *unused)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context contexts[2], found;
	int yes = 1;

	(void)unused;
	CHECK(cu->init(0) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(cu->primary_retain(&contexts[i], i) == 0);
	CHECK(cu->context_push(contexts[1]) == 0);
	CHECK(cu->context_enable_peer(contexts[0], 0) == 0);
	count_bytes(&yes);
	CHECK(cu->context_current(&found) == 0 && found == contexts[1]);
	CHECK(cu->context_pop(&found) == 0);
	CHECK(cu->context_current(&found) == 0 && found == NULL);
}

static void links_of_the_programs_own_are_used(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=2 SHIMBLAS_DEVICE=0,1 SHIMBLAS_PANELS=8 "
				 "SHIMBLAS_KERNEL=sgemm_plain_64x64x16",
				 link_before, NULL),
			0);
}

static void expect_team(const void *argument)
{
	const int *ordinals = argument;

	CHECK(start() == SB_HEALTH_READY);
	for (int i = 0; i < 4; i++) {
		CHECK((i < sb_device_team()->count) == (ordinals[i] >= 0));
		if (ordinals[i] >= 0)
			CHECK(sb_device_team()->devices[i].ordinal == ordinals[i]);
	}
}

static void expect_none(const void *unused)
{
	(void)unused;
	CHECK(start() == SB_HEALTH_UNUSABLE);
}

static void the_team_is_the_one_asked_for(void)
{
	static const int one[] = {0, -1, -1, -1}, list[] = {2, 0, 3, -1}, all[] = {0, 1, 2, -1};

	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=4", expect_team, one), 0);
	CU_ASSERT_EQUAL(
		in_child("SB_STAND_IN=devices=4 SHIMBLAS_DEVICE=2,0,2,3,0", expect_team, list), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3 SHIMBLAS_DEVICE=all", expect_team, all), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3 SHIMBLAS_DEVICE=0,3", expect_none, NULL),
			0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3,fail=primary_retain:2 SHIMBLAS_DEVICE=all",
				 expect_none, NULL),
			0);
}

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

static const struct product small = {150, 300, 9, 1, 0, 1, 0, 2, 2, 0.5f};

static void any_driver_call_may_fail(void)
{
	static const char *const slots[] = {
#define SB_DRIVER(slot, base, symbol, version, parameters) #slot,
#include "driver.def"
#undef SB_DRIVER
	};
	static const char *const faults[] = {"fail=%s:%d:INVALID_VALUE", "from=%s:%d:OUT_OF_MEMORY",
					     "lose=%s:%d", "crash=%s:%d"};
	/* Processes are dear under a sanitizer. */
	const char *sanitized = getenv("SB_SANITIZED");
	int step = sanitized && strcmp(sanitized, "yes") == 0 ? 40 : 11, seen = 0;
	char report[200], text[400];

	snprintf(report, sizeof report, "%s/calls", suite_scratch());
	snprintf(text, sizeof text,
		 "SB_STAND_IN=devices=2,report=%s SHIMBLAS_DEVICE=all SHIMBLAS_PANELS=4 "
		 "SHIMBLAS_PINNED_MEMORY=256K SHIMBLAS_KERNEL=%s",
		 report, plain);
	CU_ASSERT_EQUAL(in_child(text, survive, &small), 0);
	for (size_t s = 0; s < COUNT(slots); s++)
		for (size_t f = 0; f < COUNT(faults); f++) {
			long calls = calls_of(slots[s], report);
			/* Those at the start are made as one device makes them. */
			int first = calls > 300 ? (int)calls - 100 : 1;

			for (int n = first; n <= calls; n += step) {
				char fault[100];
				int result;

				snprintf(fault, sizeof fault, faults[f], slots[s], n);
				snprintf(text, sizeof text,
					 "SB_STAND_IN=devices=2,seed=%d,%s SHIMBLAS_DEVICE=all "
					 "SHIMBLAS_LOGFILE=/dev/null SHIMBLAS_PANELS=4 "
					 "SHIMBLAS_PINNED_MEMORY=256K SHIMBLAS_KERNEL=%s",
					 n, fault, plain);
				result = in_child(text, survive, &small);
				if (result != 0 && result != 50)
					fprintf(stderr, "with %s: %d\n", text, result);
				CU_ASSERT(result == 0 || result == 50);
				seen++;
			}
		}
	CU_ASSERT(seen > 150 || step > 11);
}

static const struct product large = {530, 1400, 9, 1, 0, 3, 1, 5, 1.5f, 0.5f};

static void what_a_lost_device_has_left_of_c_the_cpu_computes(void)
{
	static const char *const faults[] = {"lose=copy_2d:%d", "crash=copy_2d:%d",
					     "hang=copy_2d:%d", "crash=launch:%d",
					     "fail=copy_2d:%d:INVALID_VALUE"};

	for (size_t i = 0; i < COUNT(faults); i++) {
		int seen = 0;

		for (int n = 6; n <= 150; n += i == 2 ? 48 : 12) {
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
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3,fail=memory_alloc:2 SHIMBLAS_DEVICE=all",
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
	sb_cu_context context, popped;
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

/* On the first device of the team, or on another one. */
static void multiply_there(const void *argument)
{
	static const struct product p = {150, 340, 40, 0, 1, 1, 0, 2, 1, 0};
	struct product_data d = product_make(&p);
	const int there = *(const int *)argument;
	const size_t size = (size_t)(d.call.lda * d.call.k) * sizeof(float);
	struct sb_decision decision = {0};
	struct sb_as_found found;
	struct sb_visit visit;
	struct sb_device *device;
	sb_cu_deviceptr a = 0;
	int finished = 0;

	CHECK(start() == SB_HEALTH_READY);
	device = &sb_device_team()->devices[there];
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->memory_alloc(&a, size) == 0);
	CHECK(device->cu->copy_up(a, d.a, size, NULL) == 0);
	sb_device_leave(device, &visit);
	d.call.a = (const void *)(uintptr_t)a;
	CHECK(sb_process_enter(&found));
	CHECK(sb_offload(&d.call, &decision, product_compute, &finished) == SB_OK);
	sb_process_leave(&found);
	CHECK(finished == 0 && decision.on_device);
	CHECK(decision.devices == 1u << there);
	CHECK(product_right(&d));
	product_free(&d);
}

static void what_lies_on_a_device_is_multiplied_there(void)
{
	for (int there = 0; there < 3; there++)
		CU_ASSERT_EQUAL(in_child("SB_STAND_IN=devices=3,sealed SHIMBLAS_DEVICE=all",
					 multiply_there, &there),
				0);
}

int main(void)
{
	/* Faults can only be asked of the stand-in. */
	const struct suite_case tests[] = {
		{"any number of devices gives the same bits",
		 any_number_of_devices_gives_the_same_bits},
		{"every order of late devices gives them too",
		 every_order_of_late_devices_gives_them_too},
		{"each byte crosses a wire once", each_byte_crosses_a_wire_once},
		{"a team is linked where all are", a_team_is_linked_where_all_are},
		{"links of the program's own are used", links_of_the_programs_own_are_used},
		{"the team is the one asked for", the_team_is_the_one_asked_for},
		{"any driver call may fail", any_driver_call_may_fail},
		{"what a lost device has left of C the CPU computes",
		 what_a_lost_device_has_left_of_c_the_cpu_computes},
		{"a device short of memory gets a smaller plan",
		 a_device_short_of_memory_gets_a_smaller_plan},
		{"where one cannot the first does it alone",
		 where_one_cannot_the_first_does_it_alone},
		{"what lies on a device is multiplied there",
		 what_lies_on_a_device_is_multiplied_there},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	if (!child_driver_is_stand_in())
		return suite_skip("a test of the stand-in");
	prepare();
	return SUITE("team", tests);
}
