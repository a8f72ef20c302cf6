/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in with several devices: what one may do with another's memory, and what it loses. */
#include "stand_in_fixture.h"

static sb_cu_context other;
static sb_cu_stream elsewhere;

/* A second device with a stream; the first one's context stays the current one. */
static void begin_two(const char *text)
{
	sb_cu_context popped;

	begin(text);
	OK(cu_primary_retain(&other, 1));
	OK(cu_context_push(other));
	OK(cu_stream_create(&elsewhere, SB_CU_STREAM_NON_BLOCKING));
	OK(cu_context_pop(&popped));
}

static void end_two(void)
{
	OK(stand_in_configure("devices=8"));
	OK(cu_primary_release(1));
	end();
}

static sb_cu_deviceptr words_there(size_t count)
{
	sb_cu_context popped;
	sb_cu_deviceptr p;

	OK(cu_context_push(other));
	p = device_words(count);
	OK(cu_context_pop(&popped));
	return p;
}

static sb_cu_result copy_lines(sb_cu_deviceptr to, sb_cu_deviceptr from, sb_cu_stream stream)
{
	const struct sb_cu_memcpy2d copy = {
		.src_type = SB_CU_MEMORY_DEVICE,
		.src_device = from,
		.src_pitch = 64,
		.dst_type = SB_CU_MEMORY_DEVICE,
		.dst_device = to,
		.dst_pitch = 64,
		.width_bytes = 16,
		.height = 4,
	};

	return cu_copy_2d(&copy, stream);
}

static void a_copy_between_devices_needs_access(void)
{
	sb_cu_deviceptr here, there;

	begin_two("devices=2");
	here = device_words(64);
	there = words_there(64);
	CU_ASSERT_EQUAL(copy_lines(here, there, first), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("without peer access"));
	OK(stand_in_configure("seed=0"));
	OK(cu_context_enable_peer(other, 0));
	OK(copy_lines(here, there, first));
	/* The other way round it was not enabled. */
	CU_ASSERT_EQUAL(copy_lines(here, there, elsewhere), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("without peer access"));
	OK(cu_stream_synchronize(first));
	end_two();
}

static void links_are_within_an_island(void)
{
	static const int linked[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 2, 0}, {2, 3, 1},
					{0, 3, 0}, {4, 4, 0}, {4, 5, 1}};
	int can;

	begin_two("devices=6,island=2");
	for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
		OK(cu_device_can_access(&can, linked[i][0], linked[i][1]));
		CU_ASSERT_EQUAL(can, linked[i][2]);
	}
	OK(cu_context_enable_peer(other, 0));
	OK(stand_in_configure("island=1"));
	CU_ASSERT_NOT_EQUAL(cu_context_enable_peer(other, 0), 0);
	end_two();
}

static void bytes_are_counted_by_way_and_device(void)
{
	unsigned *host;
	sb_cu_deviceptr here, there;

	begin_two("devices=2");
	OK(cu_context_enable_peer(other, 0));
	host = host_words(64);
	here = device_words(64);
	there = words_there(64);
	OK(cu_copy_up(there, host, 256, elsewhere));
	OK(cu_stream_synchronize(elsewhere));
	OK(copy_lines(here, there, first));
	OK(cu_copy_across(here, here + 128, 32, first));
	OK(cu_copy_down(host, here, 8, first));
	OK(cu_stream_synchronize(first));
	CU_ASSERT(stand_in_bytes("up", 0) == 0 && stand_in_bytes("up", 1) == 256);
	CU_ASSERT(stand_in_bytes("peer", 0) == 64 && stand_in_bytes("peer", 1) == 0);
	CU_ASSERT(stand_in_bytes("down", 0) == 8 && stand_in_bytes("down", 1) == 0);
	CU_ASSERT(stand_in_bytes("sideways", 0) == -1 && stand_in_bytes("up", 8) == -1);
	OK(cu_host_free(host));
	end_two();
}

static void a_launch_needs_the_context_of_its_stream(void)
{
	struct sb_pack_args args = {0};
	void *parameters[] = {&args};
	sb_cu_context popped;
	sb_cu_module module;
	sb_cu_function function;

	begin_two("devices=2");
	OK(cu_context_push(other));
	OK(cu_module_load(&module, "image"));
	OK(cu_module_function(&function, module, "pack_along_128x8"));
	OK(cu_context_pop(&popped));
	CU_ASSERT_EQUAL(cu_launch(function, 1, 1, 1, 256, 1, 1, 0, elsewhere, parameters, NULL),
			SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT(violated("another context is current"));
	end_two();
}

/* Work of the other device goes on; what waits for the lost one waits for ever. */
static void a_device_is_lost_alone(void)
{
	sb_cu_context popped;
	sb_cu_deviceptr here, there;
	sb_cu_event never;

	begin_two("devices=2,crash=set_words:2");
	here = device_words(1);
	there = words_there(1);
	OK(cu_context_push(other));
	never = event();
	OK(cu_context_pop(&popped));
	OK(cu_set_words(here, 1, 1, first));
	OK(cu_set_words(there, 1, 1, elsewhere));
	OK(cu_event_record(never, elsewhere));
	OK(cu_stream_wait_event(second, never, 0));
	CU_ASSERT_EQUAL(cu_stream_synchronize(elsewhere), SB_CU_ERROR_LAUNCH_FAILED);
	OK(cu_stream_synchronize(first));
	OK(cu_set_words(here, 2, 1, first));
	OK(cu_stream_synchronize(first));
	for (int i = 0; i < 50; i++)
		CU_ASSERT_EQUAL(cu_stream_query(second), SB_CU_ERROR_NOT_READY);
	CU_ASSERT_EQUAL(cu_event_query(never), SB_CU_ERROR_LAUNCH_FAILED);
	OK(cu_context_push(other));
	CU_ASSERT_EQUAL(cu_set_words(there, 3, 1, elsewhere), SB_CU_ERROR_LAUNCH_FAILED);
	OK(cu_context_pop(&popped));
	end_two();
}

int main(void)
{
	static const struct suite_case cases[] = {
		{"a copy between devices needs access", a_copy_between_devices_needs_access},
		{"links are within an island", links_are_within_an_island},
		{"bytes are counted by way and device", bytes_are_counted_by_way_and_device},
		{"a launch needs the context of its stream",
		 a_launch_needs_the_context_of_its_stream},
		{"a device is lost alone", a_device_is_lost_alone},
	};

	return SUITE("stand_in_devices", cases);
}
