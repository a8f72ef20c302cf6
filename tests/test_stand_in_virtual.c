/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in's memory apart from its addresses. */
#include "stand_in_fixture.h"

enum { PART = 8192, ADDRESSES = 1 << 20 };

static const struct sb_cu_memory_kind kind = {
	.type = SB_CU_MEMORY_PINNED_ALLOCATION,
	.place = {.type = SB_CU_MEMORY_ON_DEVICE, .device = 0},
};

static sb_cu_deviceptr addresses(void)
{
	sb_cu_deviceptr p = 0;

	OK(cu_memory_reserve(&p, ADDRESSES, 0, 0, 0));
	return p;
}

static sb_cu_memory memory(void)
{
	sb_cu_memory made = 0;

	OK(cu_memory_create(&made, PART, &kind, 0));
	return made;
}

static void open_to(sb_cu_deviceptr at, int devices)
{
	struct sb_cu_memory_access access[2];

	for (int i = 0; i < devices; i++)
		access[i] = (struct sb_cu_memory_access){.place = {SB_CU_MEMORY_ON_DEVICE, i},
							 .flags = SB_CU_MEMORY_READ_WRITE};
	OK(cu_memory_access(at, PART, access, (size_t)devices));
}

/* One part behind the end of what is there. */
static void add(sb_cu_deviceptr at)
{
	sb_cu_memory made = memory();

	OK(cu_memory_map(at, PART, 0, made, 0));
	OK(cu_memory_release(made));
	open_to(at, 1);
}

static size_t used(void)
{
	size_t left, total;

	OK(cu_memory_info(&left, &total));
	return total - left;
}

static void it_grows_and_shrinks_at_its_end(void)
{
	sb_cu_deviceptr at;
	unsigned *h;

	begin("memory=1M");
	at = addresses();
	h = host_words(2);
	CU_ASSERT(used() == 0 && stand_in_live().device_memory == 0);
	CU_ASSERT_NOT_EQUAL(cu_copy_down(h, at, 4, first), 0);
	CU_ASSERT(violated("in no allocation"));
	OK(stand_in_configure("memory=1M"));
	add(at);
	add(at + PART);
	CU_ASSERT_EQUAL(used(), 2 * PART);
	CU_ASSERT_EQUAL(stand_in_live().device_bytes, 2 * PART);
	OK(cu_copy_down(h, at + PART - 4, 8, first));
	OK(cu_stream_synchronize(first));
	CU_ASSERT(h[0] == ~0u && h[1] == ~0u);
	OK(cu_memory_unmap(at + PART, PART));
	CU_ASSERT_EQUAL(used(), PART);
	CU_ASSERT_PTR_NULL(stand_in_error());
	CU_ASSERT_NOT_EQUAL(cu_copy_down(h, at + PART - 4, 8, first), 0);
	CU_ASSERT(violated("too many"));
	end();
}

static void memory_lives_while_it_is_held_or_mapped(void)
{
	sb_cu_deviceptr at;
	sb_cu_memory made;

	begin("memory=1M");
	at = addresses();
	made = memory();
	OK(cu_memory_map(at, PART, 0, made, 0));
	CU_ASSERT_EQUAL(cu_memory_map(at, PART, 0, made, 0), SB_CU_ERROR_INVALID_VALUE);
	OK(cu_memory_unmap(at, PART));
	CU_ASSERT_EQUAL(used(), PART);
	OK(cu_memory_release(made));
	CU_ASSERT_EQUAL(used(), 0);
	CU_ASSERT_EQUAL(cu_memory_release(made), SB_CU_ERROR_INVALID_VALUE);
	add(at);
	end(); /* and goes with the context */
	begin("memory=1M");
	CU_ASSERT_EQUAL(used(), 0);
	OK(stand_in_configure("short=4K"));
	CU_ASSERT_EQUAL(cu_memory_create(&made, PART, &kind, 0), SB_CU_ERROR_OUT_OF_MEMORY);
	end();
}

static void what_no_region_does_is_refused(void)
{
	sb_cu_deviceptr at;
	sb_cu_memory made;
	unsigned *h;

	begin("");
	at = addresses();
	made = memory();
	CU_ASSERT_NOT_EQUAL(cu_memory_map(at + PART, PART, 0, made, 0), 0);
	CU_ASSERT(violated("into a reservation"));
	OK(stand_in_configure(""));
	CU_ASSERT_NOT_EQUAL(cu_memory_map(at + ADDRESSES, PART, 0, made, 0), 0);
	CU_ASSERT(violated("not reserved"));
	OK(stand_in_configure(""));
	OK(cu_memory_release(made));
	add(at);
	h = host_words(1);
	OK(cu_copy_up(at, h, 4, first));
	OK(cu_memory_unmap(at, PART));
	CU_ASSERT(violated("is queued"));
	CU_ASSERT_EQUAL(cu_stream_synchronize(first), SB_CU_ERROR_ILLEGAL_ADDRESS);
	end();
}

static void each_device_must_be_let_in(void)
{
	sb_cu_context other, popped;
	sb_cu_deviceptr at, there;
	sb_cu_memory made;

	begin("devices=2");
	at = addresses();
	add(at);
	OK(cu_primary_retain(&other, 1));
	OK(cu_context_push(other));
	there = device_words(4);
	CU_ASSERT_NOT_EQUAL(cu_copy_across(there, at, 16, NULL), 0);
	CU_ASSERT(violated("without peer access"));
	OK(cu_context_pop(&popped));
	OK(stand_in_configure(""));
	OK(cu_memory_unmap(at, PART));
	made = memory();
	OK(cu_memory_map(at, PART, 0, made, 0));
	OK(cu_memory_release(made));
	open_to(at, 2);
	OK(cu_context_push(other));
	OK(cu_copy_across(there, at, 16, NULL));
	OK(cu_stream_synchronize(NULL));
	CU_ASSERT_PTR_NULL(stand_in_error());
	OK(cu_context_pop(&popped));
	OK(cu_primary_release(1));
	end();
}

int main(void)
{
	static const struct suite_case cases[] = {
		{"it grows and shrinks at its end", it_grows_and_shrinks_at_its_end},
		{"memory lives while it is held or mapped",
		 memory_lives_while_it_is_held_or_mapped},
		{"what no region does is refused", what_no_region_does_is_refused},
		{"each device must be let in", each_device_must_be_let_in},
	};

	return SUITE("stand_in_virtual", cases);
}
