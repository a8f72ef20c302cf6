/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that several devices share: the bits of one device, and each byte once. */
#include "team.h"

static const char bulk[] = "sgemm_bulk_256x128x32";

/* Wide and tall ones, so that C is cut along n and along m; every transpose; ragged everywhere. */
static const struct product shapes[] = {
	{300, 700, 40, 0, 0, 0, 0, 0, 1, 0},	 {300, 1100, 70, 1, 0, 1, 2, 3, 1.5f, 0},
	{290, 1050, 33, 0, 1, 3, 0, 1, 1, 0.5f}, {310, 1030, 65, 1, 1, 0, 5, 0, -1, -2},
	{2100, 400, 30, 0, 0, 2, 1, 7, 1, 1},	 {1070, 257, 33, 1, 0, 0, 0, 0, 0.5f, 0},
	{1090, 130, 50, 0, 1, 0, 3, 2, 1, 0},	 {2050, 300, 34, 1, 1, 7, 0, 0, 1, 0.25f},
	{5, 1000, 300, 0, 0, 0, 0, 0, 1, 0},	 {64, 64, 64, 0, 0, 0, 0, 0, 1, 1},
};

/* Made before any child is: the oracle takes longer than all else. */
static struct product_data prepared[COUNT(shapes)];

static void prepare(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++)
		prepared[i] = product_make(&shapes[i]);
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

static void expect_two(const void *unused)
{
	(void)unused;
	CHECK(start() == SB_HEALTH_READY && sb_device_team()->count == 2);
}

static void real_devices_give_the_same_bits(void)
{
	static const char *const pairs[] = {
		"SHIMBLAS_DEVICE=all SHIMBLAS_KERNEL=sgemm_bulk_256x128x32",
		"SHIMBLAS_DEVICE=all SHIMBLAS_KERNEL=sgemm_plain_64x64x16 SHIMBLAS_PANELS=5",
		"SHIMBLAS_DEVICE=1,0 SHIMBLAS_PANELS=8 SHIMBLAS_PINNED_MEMORY=2M",
		"SHIMBLAS_DEVICE=0,1 SHIMBLAS_DEVICE_MEMORY=600K",
	};

	for (size_t i = 0; i < COUNT(pairs); i++)
		CU_ASSERT_EQUAL(in_child(pairs[i], all_shapes, NULL), 0);
}

int main(void)
{
	/* The stand-in can be asked for any number of devices. */
	const struct suite_case real[] = {
		{"real devices give the same bits", real_devices_give_the_same_bits},
	};
	const struct suite_case tests[] = {
		{"any number of devices gives the same bits",
		 any_number_of_devices_gives_the_same_bits},
		{"every order of late devices gives them too",
		 every_order_of_late_devices_gives_them_too},
		{"each byte crosses a wire once", each_byte_crosses_a_wire_once},
		{"a team is linked where all are", a_team_is_linked_where_all_are},
		{"links of the program's own are used", links_of_the_programs_own_are_used},
		{"the team is the one asked for", the_team_is_the_one_asked_for},
		{"what lies on a device is multiplied there",
		 what_lies_on_a_device_is_multiplied_there},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	if (!child_driver_is_stand_in() &&
	    in_child("SHIMBLAS_DEVICE=0,1 SHIMBLAS_LOGFILE=/dev/null", expect_two, NULL))
		return suite_skip("fewer than two devices");
	prepare();
	if (!child_driver_is_stand_in())
		return SUITE("team", real);
	return SUITE("team", tests);
}
