/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of ours: bounded, given back, kept within the manners. */
#include "child.h"

#include "arena.h"
#include "process.h"
#include "start.h"

#define MIB ((size_t)1 << 20)

static struct sb_device *begin(struct sb_visit *visit)
{
	if (child_start() != SB_HEALTH_READY || sb_device_enter(sb_device(), visit) != SB_OK)
		exit(99);
	return sb_device();
}

static void keep(const void *plain)
{
	struct sb_visit visit;
	struct sb_device *device = begin(&visit);
	sb_cu_deviceptr one, two, three;

	/* 1 GiB of card: a sixteenth is 64 MiB. */
	CHECK(sb_arena_keep(device) == 64 * MIB);
	CHECK(sb_arena_take(device, 10 * MIB, &one) == SB_OK);
	sb_arena_give(device);
	CHECK(sb_arena_held(device) >= 10 * MIB);
	CHECK(sb_arena_take(device, 5 * MIB, &two) == SB_OK && two == one);
	sb_arena_give(device);
	CHECK(sb_arena_take(device, 100 * MIB, &one) == SB_OK && one % 256 == 0);
	CHECK(sb_arena_held(device) == 100 * MIB);
	sb_arena_give(device);
	/* What can be kept of a larger one stays where it is. */
	CHECK(sb_arena_held(device) == (plain ? 0 : 64 * MIB));
	CHECK(sb_arena_take(device, 60 * MIB, &two) == SB_OK && (plain || two == one));
	sb_arena_give(device);
	CHECK(sb_arena_take(device, 80 * MIB, &three) == SB_OK && (plain || three == one));
	CHECK(device->cu->set_words(three, 0, 20 * MIB, device->streams[0]) == 0);
	CHECK(device->cu->stream_synchronize(device->streams[0]) == 0);
	sb_arena_give(device);
}

static void no_more_than_the_manners_is_kept(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=memory=1G", keep, NULL), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=memory=1G,whole", keep, "plain"), 0);
	/* A driver that says it can, and then cannot reserve the addresses. */
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=memory=1G,fail=memory_reserve:1", keep, "plain"), 0);
}

static void bound(const void *unused)
{
	struct sb_visit visit;
	struct sb_device *device = begin(&visit);
	sb_cu_deviceptr base;

	(void)unused;
	CHECK(sb_arena_bound(device) == 20 * MIB);
	CHECK(sb_arena_keep(device) == 20 * MIB);
	CHECK(sb_arena_take(device, 21 * MIB, &base) == SB_NO_MEMORY);
	CHECK(sb_arena_take(device, 20 * MIB, &base) == SB_OK);
	sb_arena_give(device);
}

static void the_users_bound_holds(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_DEVICE_MEMORY=20M", bound, NULL), 0);
}

static void full(const void *unused)
{
	struct sb_visit visit;
	struct sb_device *device = begin(&visit);
	sb_cu_deviceptr base;

	(void)unused;
	CHECK(sb_arena_bound(device) < 64 * MIB);
	CHECK(sb_arena_take(device, 65 * MIB, &base) == SB_NO_MEMORY);
	CHECK(sb_arena_held(device) == 0);
	CHECK(sb_arena_take(device, 3 * MIB, &base) == SB_OK);
	sb_arena_give(device);
}

static void a_full_card_is_told_and_harmless(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=memory=64M", full, NULL), 0);
}

/* What fails on the way to a larger region leaves nothing behind. */
static void short_of(const void *unused)
{
	struct sb_visit visit;
	struct sb_device *device = begin(&visit);
	sb_cu_deviceptr base;

	(void)unused;
	CHECK(sb_arena_take(device, 10 * MIB, &base) == SB_OK);
	sb_arena_give(device);
	CHECK(sb_arena_take(device, 100 * MIB, &base) == SB_NO_MEMORY);
	CHECK(sb_arena_held(device) == 0);
	sb_arena_give(device);
	CHECK(sb_arena_take(device, 100 * MIB, &base) == SB_OK);
	CHECK(sb_arena_held(device) == 100 * MIB);
	sb_arena_give(device);
}

static void a_region_that_cannot_grow_is_whole(void)
{
	/* Call 1 is the first region; then the part that is kept, and what is beyond it. Of
	 * memory_alloc the first is the device's mark. */
	static const char *const settings[] = {
		"SB_STAND_IN=memory=1G,fail=memory_create:2",
		"SB_STAND_IN=memory=1G,fail=memory_create:3",
		"SB_STAND_IN=memory=1G,fail=memory_map:3:OUT_OF_MEMORY",
		"SB_STAND_IN=memory=1G,fail=memory_access:2:OUT_OF_MEMORY",
		"SB_STAND_IN=memory=1G,fail=memory_access:3:OUT_OF_MEMORY",
		"SB_STAND_IN=memory=1G,whole,fail=memory_alloc:3",
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		CU_ASSERT_EQUAL(in_child(settings[i], short_of, NULL), 0);
}

static void pinned(const void *expected)
{
	struct sb_visit visit;
	struct sb_device *device = begin(&visit);
	size_t bytes, wanted = *(const size_t *)expected;
	void *base, *again;
	enum sb_status status = sb_arena_pinned(device, 64 << 10, 8 * MIB, &base, &bytes);

	CHECK(status == (wanted ? SB_OK : SB_NO_MEMORY));
	if (status != SB_OK)
		return;
	CHECK(bytes == wanted);
	memset(base, 1, bytes);
	CHECK(sb_arena_pinned(device, 64 << 10, 8 * MIB, &again, &bytes) == SB_OK && again == base);
}

static void pinned_memory_is_bounded_and_made_once(void)
{
	size_t most = 8 * MIB, asked = 1 * MIB, half = 4 * MIB, none = 0;

	CU_ASSERT_EQUAL(in_child("SHIMBLAS_PINNED_MEMORY=0", pinned, &most), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_PINNED_MEMORY=1M", pinned, &asked), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_PINNED_MEMORY=32K", pinned, &none), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=fail=host_alloc:1:OUT_OF_MEMORY", pinned, &half), 0);
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=from=host_alloc:1:OUT_OF_MEMORY", pinned, &none), 0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"no more than the manners is kept", no_more_than_the_manners_is_kept},
		{"the user's bound holds", the_users_bound_holds},
		{"a full card is told and harmless", a_full_card_is_told_and_harmless},
		{"a region that cannot grow is whole", a_region_that_cannot_grow_is_whole},
		{"pinned memory is bounded and made once", pinned_memory_is_bounded_and_made_once},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("arena", tests);
}
