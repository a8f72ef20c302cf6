/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in driver's faults, and the mistakes of a caller that it does not let pass. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "stand_in_fixture.h"

static void nth_call_fails_once_or_from_then_on(void)
{
	sb_cu_deviceptr p;
	const char *name;

	begin("fail=memory_alloc:2,from=event_create:2:INVALID_VALUE,fail=set_words:1:719");
	OK(cu_memory_alloc(&p, 64));
	CU_ASSERT_EQUAL(cu_memory_alloc(&p, 64), SB_CU_ERROR_OUT_OF_MEMORY);
	OK(cu_memory_alloc(&p, 64));
	CU_ASSERT_EQUAL(stand_in_calls("memory_alloc"), 3);
	event();
	for (int i = 0; i < 3; i++) {
		sb_cu_event e;

		CU_ASSERT_EQUAL(cu_event_create(&e, 0), SB_CU_ERROR_INVALID_VALUE);
	}
	CU_ASSERT_EQUAL(cu_set_words(p, 0, 1, first), SB_CU_ERROR_LAUNCH_FAILED);
	OK(cu_set_words(p, 0, 1, first));
	OK(cu_error_name(SB_CU_ERROR_LAUNCH_FAILED, &name));
	CU_ASSERT_STRING_EQUAL(name, "CUDA_ERROR_LAUNCH_FAILED");
	CU_ASSERT_EQUAL(cu_error_name(12345, &name), SB_CU_ERROR_INVALID_VALUE);
	end();
}

static void lost_context_stays_lost(void)
{
	sb_cu_deviceptr p;
	sb_cu_context current;
	int mode = SB_CU_CAPTURE_MODE_RELAXED;

	begin("lose=stream_synchronize:2");
	OK(cu_memory_alloc(&p, 64));
	OK(cu_stream_synchronize(first));
	CU_ASSERT_EQUAL(cu_stream_synchronize(first), SB_CU_ERROR_LAUNCH_FAILED);
	CU_ASSERT_EQUAL(cu_stream_synchronize(first), SB_CU_ERROR_LAUNCH_FAILED);
	CU_ASSERT_EQUAL(cu_set_words(p, 0, 1, second), SB_CU_ERROR_LAUNCH_FAILED);
	CU_ASSERT_EQUAL(cu_memory_free(p), SB_CU_ERROR_LAUNCH_FAILED);
	/* the caller can still put things back as they were */
	OK(cu_context_pop(&current));
	OK(cu_context_push(current));
	OK(cu_capture_mode(&mode));
	CU_ASSERT_EQUAL(mode, SB_CU_CAPTURE_MODE_GLOBAL);
	OK(cu_capture_mode(&mode));
	end();
}

static void crash_is_seen_where_the_work_is_waited_for(void)
{
	sb_cu_deviceptr p;

	begin("seed=0,crash=set_words:2:ILLEGAL_ADDRESS");
	p = device_words(1);
	OK(cu_set_words(p, 0, 1, first));
	OK(cu_set_words(p, 0, 1, second));
	OK(cu_stream_synchronize(first));
	CU_ASSERT_EQUAL(cu_stream_synchronize(second), SB_CU_ERROR_ILLEGAL_ADDRESS);
	CU_ASSERT_EQUAL(cu_set_words(p, 0, 1, first), SB_CU_ERROR_ILLEGAL_ADDRESS);
	end();
}

static void *synchronise(void *stream)
{
	sb_cu_stream s = stream;

	cu_stream_synchronize(s);
	_exit(3); /* it must not return */
}

/* The status with which a child ends that runs the body; -signal if one killed it. */
static int child(void (*body)(void))
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		body();
		exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void hang(void)
{
	struct timespec moment = {.tv_nsec = 50000000};
	pthread_t thread;
	sb_cu_deviceptr p;
	sb_cu_event e;

	begin("hang=set_words:1");
	p = device_words(1);
	e = event();
	cu_set_words(p, 0, 1, first);
	cu_event_record(e, first);
	cu_stream_wait_event(second, e, 0);
	cu_set_words(p, 0, 1, second);
	for (int i = 0; i < 1000; i++)
		if (cu_event_query(e) != SB_CU_ERROR_NOT_READY ||
		    cu_stream_query(second) != SB_CU_ERROR_NOT_READY)
			_exit(2);
	if (pthread_create(&thread, NULL, synchronise, second))
		_exit(4);
	nanosleep(&moment, NULL);
	if (cu_event_query(e) != SB_CU_ERROR_NOT_READY) /* nobody else is held up */
		_exit(5);
	exit(0);
}

static void hung_work_never_completes_but_the_process_ends(void)
{
	CU_ASSERT_EQUAL(child(hang), 0);
}

static void fork_with_live_driver(void)
{
	int status = 0;
	pid_t pid;

	begin("");
	if (cu_stream_query(first))
		exit(8);
	pid = fork();
	if (pid == 0) {
		sb_cu_context current;

		_exit(cu_init(0) == SB_CU_ERROR_NOT_INITIALIZED &&
				      cu_context_current(&current) == SB_CU_ERROR_NOT_INITIALIZED
			      ? 0
			      : 1);
	}
	waitpid(pid, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

static void driver_is_dead_in_a_forked_child(void)
{
	CU_ASSERT_EQUAL(child(fork_with_live_driver), 0);
}

static void violate(void)
{
	begin("abort=1");
	cu_copy_up(device_words(1), "12345", 5, first);
}

static void violation_ends_the_process(void)
{
	CU_ASSERT_EQUAL(child(violate), -SIGABRT);
}

static void operations_and_the_start_take_their_time(void)
{
	struct timespec before, after;
	sb_cu_deviceptr p;

	begin("slow=20");
	p = device_words(1);
	clock_gettime(CLOCK_MONOTONIC, &before);
	OK(cu_set_words(p, 0, 1, first));
	OK(cu_set_words(p, 0, 1, first));
	OK(cu_set_words(p, 0, 1, second)); /* beside the others */
	OK(cu_stream_synchronize(first));
	OK(cu_stream_synchronize(second));
	clock_gettime(CLOCK_MONOTONIC, &after);
	CU_ASSERT(1e3 * (double)(after.tv_sec - before.tv_sec) +
			  1e-6 * (double)(after.tv_nsec - before.tv_nsec) >=
		  39);
	end();
}

static void before_the_start_nothing_works(void)
{
	int count;

	CU_ASSERT_EQUAL(cu_device_count(&count), SB_CU_ERROR_NOT_INITIALIZED);
	OK(cu_driver_version(&count));
	OK(stand_in_configure("fail=init:1,devices=0"));
	CU_ASSERT_EQUAL(cu_init(0), SB_CU_ERROR_NO_DEVICE);
	CU_ASSERT_EQUAL(cu_init(0), SB_CU_ERROR_NO_DEVICE);
}

static void without_a_context_nothing_is_made(void)
{
	sb_cu_context popped;
	sb_cu_deviceptr p = 0;
	sb_cu_stream s;
	sb_cu_event e;
	void *h;
	size_t size;
	int device;

	begin("");
	e = event();
	OK(cu_context_pop(&popped));
	CU_ASSERT_EQUAL(cu_memory_alloc(&p, 64), SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT_EQUAL(cu_host_alloc(&h, 64, 0), SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT_EQUAL(cu_stream_create(&s, 0), SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT_EQUAL(cu_memory_info(&size, &size), SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT_EQUAL(cu_context_device(&device), SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT_EQUAL(cu_stream_synchronize(NULL), SB_CU_ERROR_INVALID_CONTEXT);
	/* a handle brings its own context along */
	OK(cu_event_record(e, first));
	OK(cu_stream_synchronize(first));
	CU_ASSERT_PTR_NULL(stand_in_error());
	CU_ASSERT_EQUAL(cu_context_pop(&popped), SB_CU_ERROR_INVALID_CONTEXT);
	CU_ASSERT(violated("popped"));
	OK(cu_context_push(context));
	end();
}

static void capture_of_another_thread_is_respected(void)
{
	int mode = SB_CU_CAPTURE_MODE_RELAXED;
	sb_cu_deviceptr p;

	begin("capturing");
	CU_ASSERT_NOT_EQUAL(cu_memory_alloc(&p, 64), 0);
	CU_ASSERT(violated("capture"));
	OK(stand_in_configure(""));
	OK(cu_capture_mode(&mode));
	OK(cu_memory_alloc(&p, 64));
	CU_ASSERT_PTR_NULL(stand_in_error());
	OK(cu_capture_mode(&mode));
	CU_ASSERT_EQUAL(mode, SB_CU_CAPTURE_MODE_RELAXED);
	end();
}

static void stale_handles_are_recognised(void)
{
	sb_cu_event e;

	begin("");
	e = event();
	OK(cu_event_destroy(e));
	CU_ASSERT_EQUAL(cu_event_record(e, first), SB_CU_ERROR_INVALID_HANDLE);
	CU_ASSERT(violated("event"));
	OK(stand_in_configure(""));
	OK(cu_stream_destroy(second));
	CU_ASSERT_EQUAL(cu_stream_query(second), SB_CU_ERROR_INVALID_HANDLE);
	CU_ASSERT(violated("stream"));
	end();
}

static void errno_is_not_kept(void)
{
	begin("");
	errno = 0;
	OK(cu_stream_query(first));
	CU_ASSERT_NOT_EQUAL(errno, 0);
	end();
}

static void settings_that_make_no_sense_are_refused(void)
{
	static const char *const texts[] = {
		"devices=9",	   "cc=x",
		"nothing=1",	   "fail=nothing:1",
		"fail=init",	   "fail=init:1:NOTHING",
		"engine=fast",	   "memory=4T",
		"seed=",	   "hang=launch:0",
		"lose=launch:1:x",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		CU_ASSERT_EQUAL(stand_in_configure(texts[i]), -1);
	OK(stand_in_configure("memory=139G,devices=8,seed=7,,nopeer,engine=exact"));
	OK(stand_in_configure(NULL));
}

int main(void)
{
	static const struct suite_case cases[] = {
		/* children first: none may be forked once this process has started the driver */
		{"before the start nothing works", before_the_start_nothing_works},
		{"hung work never completes, but the process ends",
		 hung_work_never_completes_but_the_process_ends},
		{"the driver is dead in a forked child", driver_is_dead_in_a_forked_child},
		{"a violation ends the process", violation_ends_the_process},
		{"the n-th call fails, once or from then on", nth_call_fails_once_or_from_then_on},
		{"a lost context stays lost", lost_context_stays_lost},
		{"a crash is seen where the work is waited for",
		 crash_is_seen_where_the_work_is_waited_for},
		{"operations take their time", operations_and_the_start_take_their_time},
		{"without a context nothing is made", without_a_context_nothing_is_made},
		{"the capture of another thread is respected",
		 capture_of_another_thread_is_respected},
		{"stale handles are recognised", stale_handles_are_recognised},
		{"errno is not kept", errno_is_not_kept},
		{"settings that make no sense are refused",
		 settings_that_make_no_sense_are_refused},
	};

	return SUITE("stand_in_faults", cases);
}
