/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in driver's memory: bounds, kinds, sizes, who may touch what, and what is left over. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "stand_in_fixture.h"

sb_cu_result cuMemAllocManaged(sb_cu_deviceptr *pointer, size_t bytes, unsigned flags);
sb_cu_result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
sb_cu_result cuMemHostUnregister(void *pointer);
sb_cu_result cuCtxCreate_v2(sb_cu_context *context, unsigned flags, sb_cu_device device);
sb_cu_result cuCtxDestroy_v2(sb_cu_context context);

static sigjmp_buf landing;

static void land(int signal)
{
	(void)signal;
	siglongjmp(landing, 1);
}

/* Whether reading or writing the byte faults. */
static int faults(volatile char *p, int write)
{
	struct sigaction action = {.sa_handler = land}, segv, bus;
	volatile int faulted = 1;

	sigaction(SIGSEGV, &action, &segv);
	sigaction(SIGBUS, &action, &bus);
	if (!sigsetjmp(landing, 1)) {
		if (write)
			*p = 0;
		else
			(void)*p;
		faulted = 0;
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	return faulted;
}

static char *at(sb_cu_deviceptr p)
{
	return (char *)(uintptr_t)p;
}

static void copies_out_of_bounds_are_refused(void)
{
	unsigned *h;
	sb_cu_deviceptr d;

	begin("");
	h = host_words(4);
	d = device_words(4);
	OK(cu_copy_up(d, h, 16, first));
	CU_ASSERT_PTR_NULL(stand_in_error());
	CU_ASSERT_EQUAL(cu_copy_up(d + 4, h, 16, first), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("destination of a copy: 16 bytes"));
	OK(stand_in_configure(""));
	CU_ASSERT_EQUAL(cu_copy_up(d, h + 1, 16, first), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("source of a copy"));
	OK(stand_in_configure(""));
	CU_ASSERT_EQUAL(cu_set_words(d, 0, 5, first), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("destination of a set"));
	OK(stand_in_configure(""));
	CU_ASSERT_EQUAL(cu_copy_up(64, h, 16, first), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("in no allocation"));
	end();
}

static void guards_catch_what_nobody_checks(void)
{
	char *p;

	begin("");
	p = at(device_words(64));
	CU_ASSERT(!faults(p, 1) && !faults(p + 255, 1));
	CU_ASSERT(faults(p + 256, 1) && faults(p + 256, 0));
	p = (char *)host_words(1 << 20);
	CU_ASSERT(faults(p - 1, 0) && faults(p + (4 << 20), 0));
	OK(cu_host_free(p));
	CU_ASSERT(faults(p, 0));
	end();
}

static void new_memory_is_full_of_nans(void)
{
	static const size_t sizes[] = {4, 4096, 5 << 20};

	begin("");
	for (size_t i = 0; i < 3; i++) {
		unsigned *p = host_words(sizes[i]);
		size_t clean = 0;

		for (size_t j = 0; j < sizes[i]; j++)
			clean += p[j] == 0xffffffff;
		CU_ASSERT_EQUAL(clean, sizes[i]);
	}
	end();
}

static void device_memory_can_be_sealed_from_the_host(void)
{
	unsigned *h;
	sb_cu_deviceptr d;

	begin("sealed");
	h = host_words(2);
	d = device_words(1);
	h[0] = 3;
	CU_ASSERT(faults(at(d), 0));
	OK(cu_copy_up(d, h, 4, first));
	OK(cu_copy_down(h + 1, d, 4, first));
	OK(cu_stream_synchronize(first));
	CU_ASSERT_EQUAL(h[1], 3);
	CU_ASSERT(faults(at(d), 0));
	end();
}

static void freeing_waits_for_device_memory_and_forbids_it_for_pinned(void)
{
	unsigned *h;
	sb_cu_deviceptr d;

	begin("seed=0");
	h = host_words(1);
	d = device_words(1);
	OK(cu_copy_up(d, h, 4, first));
	OK(cu_memory_free(d));
	CU_ASSERT_EQUAL(stand_in_live().pending, 0);
	CU_ASSERT_PTR_NULL(stand_in_error());
	CU_ASSERT_EQUAL(cu_copy_up(d, h, 4, first), SB_CU_ERROR_INVALID_VALUE);
	OK(stand_in_configure(""));
	d = device_words(1);
	OK(cu_copy_up(d, h, 4, first));
	OK(cu_host_free(h));
	CU_ASSERT(violated("queued"));
	CU_ASSERT_EQUAL(cu_stream_synchronize(first), SB_CU_ERROR_ILLEGAL_ADDRESS);
	OK(stand_in_configure(""));
	CU_ASSERT_EQUAL(cu_memory_free(d + 256), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("no allocation"));
	OK(cu_memory_free(0));
	OK(cu_host_free(NULL));
	end();
}

static void sizes_are_claimed_not_used(void)
{
	size_t left, total;
	sb_cu_deviceptr p, q;
	struct rusage before, after;

	begin("memory=64G");
	getrusage(RUSAGE_SELF, &before);
	OK(cu_memory_alloc(&p, (size_t)40 << 30));
	OK(cu_memory_info(&left, &total));
	CU_ASSERT(left == (size_t)24 << 30 && total == (size_t)64 << 30);
	CU_ASSERT_EQUAL(cu_memory_alloc(&q, (size_t)30 << 30), SB_CU_ERROR_OUT_OF_MEMORY);
	at(p)[(size_t)39 << 30] = 1;
	CU_ASSERT_EQUAL((unsigned char)at(p)[(size_t)33 << 30], 0xff);
	getrusage(RUSAGE_SELF, &after);
	CU_ASSERT(after.ru_maxrss - before.ru_maxrss < 200 << 10);
	OK(cu_memory_free(p));
	OK(stand_in_configure("short=1M"));
	CU_ASSERT_EQUAL(cu_memory_alloc(&p, (1 << 20) + 1), SB_CU_ERROR_OUT_OF_MEMORY);
	OK(cu_memory_alloc(&p, 1 << 20));
	end();
}

struct attributes {
	sb_cu_context context;
	unsigned type, managed;
	int device;
};

static struct attributes ask(const void *pointer)
{
	struct attributes a = {(sb_cu_context)8, 8, 8, 8};
	int which[] = {SB_CU_POINTER_CONTEXT, SB_CU_POINTER_MEMORY_TYPE, SB_CU_POINTER_IS_MANAGED,
		       SB_CU_POINTER_DEVICE_ORDINAL};
	void *values[] = {&a.context, &a.type, &a.managed, &a.device};

	OK(cu_pointer_attributes(4, which, values, (sb_cu_deviceptr)(uintptr_t)pointer));
	return a;
}

static void pointers_are_told_apart(void)
{
	char plain[64];
	sb_cu_deviceptr managed;
	struct attributes a;

	begin("");
	a = ask(plain);
	CU_ASSERT(!a.context && a.type == 0 && a.managed == 0 && a.device == -2);
	a = ask(host_words(8) + 2);
	CU_ASSERT(a.context == context && a.type == SB_CU_MEMORY_HOST && a.device == 0);
	a = ask(at(device_words(8)) + 4);
	CU_ASSERT(a.context == context && a.type == SB_CU_MEMORY_DEVICE && !a.managed);
	OK(cuMemAllocManaged(&managed, 64, 1));
	CU_ASSERT_EQUAL(ask(at(managed)).managed, 1);
	OK(cu_memory_free(managed));
	OK(cuMemHostRegister_v2(plain, sizeof plain, 0));
	CU_ASSERT_EQUAL(ask(plain + 63).type, SB_CU_MEMORY_HOST);
	OK(cuMemHostUnregister(plain));
	CU_ASSERT_EQUAL(ask(plain).type, 0);
	end();
}

static void devices_have_their_own_memory(void)
{
	sb_cu_context other, popped;
	sb_cu_deviceptr here, there;
	size_t left, total;
	int can;

	begin("devices=2,memory=1M");
	here = device_words(64);
	OK(cu_primary_retain(&other, 1));
	OK(cu_context_push(other));
	there = device_words(1 << 17);
	OK(cu_memory_info(&left, &total));
	CU_ASSERT_EQUAL(left, 1 << 19);
	OK(cu_context_pop(&popped));
	OK(cu_copy_peer(here, context, there, other, 256, first));
	OK(cu_stream_synchronize(first));
	CU_ASSERT_EQUAL(cu_copy_peer(here, other, there, other, 256, first),
			SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("copy_peer"));
	OK(stand_in_configure("nopeer"));
	CU_ASSERT_EQUAL(cu_copy_across(here, there, 256, first), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT(violated("without peer access"));
	OK(cu_device_can_access(&can, 0, 1));
	CU_ASSERT_EQUAL(can, 0);
	CU_ASSERT_NOT_EQUAL(cu_context_enable_peer(other, 0), 0);
	OK(stand_in_configure("nopeer=0"));
	OK(cu_context_enable_peer(other, 0));
	CU_ASSERT_EQUAL(cu_context_enable_peer(other, 0), SB_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	OK(cu_copy_across(here, there, 256, first));
	CU_ASSERT_PTR_NULL(stand_in_error());
	OK(cu_stream_synchronize(first));
	OK(cu_primary_release(1));
	CU_ASSERT_EQUAL(cu_primary_release(1), SB_CU_ERROR_INVALID_CONTEXT);
	end();
}

static void what_is_left_over_is_counted(void)
{
	struct stand_in_live live;
	sb_cu_context own, current;
	unsigned flags;
	int active;

	begin("");
	host_words(4);
	device_words(2);
	device_words(2);
	event();
	OK(cuCtxCreate_v2(&own, 0, 0));
	OK(cu_context_current(&current));
	CU_ASSERT_PTR_EQUAL(current, own);
	live = stand_in_live();
	CU_ASSERT(live.device_memory == 2 && live.device_bytes == 16 && live.host_memory == 1 &&
		  live.host_bytes == 16 && live.streams == 2 && live.events == 1 &&
		  live.modules == 0 && live.contexts == 2 && live.pending == 0);
	OK(cuCtxDestroy_v2(own));
	OK(cu_context_current(&current));
	CU_ASSERT_PTR_EQUAL(current, context);
	OK(cu_primary_state(0, &flags, &active));
	CU_ASSERT_EQUAL(active, 1);
	end();
	OK(cu_primary_state(0, &flags, &active));
	CU_ASSERT_EQUAL(active, 0);
}

int main(void)
{
	static const struct suite_case cases[] = {
		{"copies out of bounds are refused", copies_out_of_bounds_are_refused},
		{"guards catch what nobody checks", guards_catch_what_nobody_checks},
		{"new memory is full of NaNs", new_memory_is_full_of_nans},
		{"device memory can be sealed from the host",
		 device_memory_can_be_sealed_from_the_host},
		{"freeing waits for work on device memory, and is forbidden for pinned",
		 freeing_waits_for_device_memory_and_forbids_it_for_pinned},
		{"sizes are claimed, not used", sizes_are_claimed_not_used},
		{"pointers are told apart", pointers_are_told_apart},
		{"devices have their own memory", devices_have_their_own_memory},
		{"what is left over is counted", what_is_left_over_is_counted},
	};

	return SUITE("stand_in_memory", cases);
}
