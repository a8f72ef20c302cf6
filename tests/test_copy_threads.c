/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that copy: every piece once, whoever is there; nobody awake when copying is closed; and
 * nothing of the caller's in them but his memory.
 */
#include "child.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "copy_threads.h"
#include "process.h"
#include "threads.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PIECES = 200, JOBS = 300 };

static int refuse_threads;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	return refuse_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

static void nap(double seconds)
{
	const struct timespec time = {.tv_nsec = (long)(1e9 * seconds)};

	nanosleep(&time, NULL);
}

struct tally {
	struct sb_copy_job job;
	atomic_int done[PIECES];
};

static void count(void *context, size_t piece)
{
	struct tally *tally = context;

	atomic_fetch_add(&tally->done[piece], 1);
}

static void submit(struct tally *tally, size_t pieces, enum sb_copy_rank rank)
{
	memset(tally->done, 0, sizeof tally->done);
	tally->job.work = count;
	tally->job.context = tally;
	tally->job.pieces = pieces;
	CHECK(sb_copy_threads_submit(&tally->job, rank));
}

static int once_each(const struct tally *tally, size_t pieces)
{
	for (size_t i = 0; i < PIECES; i++)
		if (tally->done[i] != (i < pieces))
			return 0;
	return 1;
}

static void many_jobs(const void *unused)
{
	static struct tally tallies[SB_COPY_RANKS];

	(void)unused;
	for (size_t j = 0; j < JOBS; j++) {
		if (j % 20 == 0) {
			sb_copy_threads_open();
			CHECK(sb_copy_threads_made() == sb_copy_threads_count());
		}
		for (size_t r = 0; r < SB_COPY_RANKS; r++)
			submit(&tallies[r], 1 + (j * 7 + r) % PIECES, (enum sb_copy_rank)r);
		for (size_t r = 0; r < SB_COPY_RANKS; r++) {
			sb_copy_threads_finish(&tallies[r].job);
			CHECK(once_each(&tallies[r], 1 + (j * 7 + r) % PIECES));
		}
		if (j % 20 == 19)
			sb_copy_threads_close();
	}
}

static void every_piece_is_done_once_whoever_is_there(void)
{
	static const char *const threads[] = {"1", "2", "3", "8"};

	for (size_t i = 0; i < COUNT(threads); i++) {
		char text[60];

		snprintf(text, sizeof text, "SHIMBLAS_THREADS=%s", threads[i]);
		CU_ASSERT_EQUAL(in_child(text, many_jobs, NULL), 0);
	}
}

static void alone(const void *unused)
{
	static struct tally up, down;

	(void)unused;
	refuse_threads = 1;
	sb_copy_threads_open();
	CHECK(sb_copy_threads_made() == 0);
	/* Whoever helps takes what the wire upwards waits for first. */
	submit(&down, 3, SB_COPY_DOWN);
	submit(&up, 2, SB_COPY_UP);
	CHECK(sb_copy_threads_help() && sb_copy_threads_help());
	CHECK(sb_copy_threads_done(&up.job) && down.done[0] == 0);
	sb_copy_threads_finish(&down.job);
	CHECK(once_each(&up, 2) && once_each(&down, 3));
	CHECK(!sb_copy_threads_help());
	sb_copy_threads_close();
}

static void without_threads_the_caller_does_everything(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=4", alone, NULL), 0);
}

static void overfull(const void *unused)
{
	static struct tally tallies[8];
	int taken = 0;

	(void)unused;
	sb_copy_threads_open();
	for (size_t i = 0; i < COUNT(tallies); i++) {
		tallies[i].job = (struct sb_copy_job){count, &tallies[i], PIECES, 0};
		taken += sb_copy_threads_submit(&tallies[i].job, SB_COPY_UP);
	}
	CHECK(taken > 0 && taken < (int)COUNT(tallies));
	for (int i = 0; i < taken; i++) {
		sb_copy_threads_finish(&tallies[i].job);
		CHECK(once_each(&tallies[i], PIECES));
	}
	CHECK(once_each(&tallies[taken], 0));
	submit(&tallies[0], PIECES, SB_COPY_UP);
	sb_copy_threads_finish(&tallies[0].job);
	sb_copy_threads_close();
}

static void a_full_queue_takes_nothing(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=1", overfull, NULL), 0);
}

static double processor_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void close_and_watch(const void *unused)
{
	double before;

	many_jobs(unused);
	for (int i = 0; i < 200 && sb_copy_threads_awake() > 0; i++)
		nap(0.01);
	CHECK(sb_copy_threads_awake() == 0);
	before = processor_seconds();
	nap(0.2);
	CHECK(processor_seconds() - before < 0.01);
}

static void nobody_is_awake_when_copying_is_closed(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=6", close_and_watch, NULL), 0);
}

/* What a thread of ours finds around itself. */
static pthread_t caller;
static atomic_int looked, wrong;
static int processors, callers;

/* While it works a thread is on a processor of its own, not the caller's, or where it likes. */
static int own_or_whole(const cpu_set_t *mask)
{
	return CPU_COUNT(mask) == processors ||
	       (CPU_COUNT(mask) == 1 && !CPU_ISSET((size_t)callers, mask));
}

static void look_around(void *context, size_t piece)
{
	volatile float one = 1, three = 3, less = -1;
	sigset_t blocked;
	cpu_set_t mask;
	char name[32] = "";

	(void)context;
	(void)piece;
	nap(0.002);
	if (pthread_equal(pthread_self(), caller))
		return;
	atomic_fetch_add(&looked, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	sched_getaffinity(0, sizeof mask, &mask);
	pthread_getname_np(pthread_self(), name, sizeof name);
	if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGPROF) ||
	    !own_or_whole(&mask) || one / three != -(less / three) ||
	    strncmp(name, "shimblas", 8) != 0)
		atomic_fetch_add(&wrong, 1);
}

static void *call_bound(void *unused)
{
	struct sb_copy_job job = {look_around, NULL, 60, 0};
	cpu_set_t one;

	caller = pthread_self();
	CPU_ZERO(&one);
	callers = sched_getcpu();
	CPU_SET((size_t)callers, &one);
	CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
	fesetround(FE_UPWARD);
	sb_copy_threads_open();
	CHECK(sb_copy_threads_submit(&job, SB_COPY_UP));
	sb_copy_threads_finish(&job);
	sb_copy_threads_close();
	return unused;
}

static void bound_caller(const void *unused)
{
	pthread_t thread;
	cpu_set_t mask;

	(void)unused;
	sched_getaffinity(0, sizeof mask, &mask);
	processors = CPU_COUNT(&mask);
	CHECK(pthread_create(&thread, NULL, call_bound, NULL) == 0);
	pthread_join(thread, NULL);
	CHECK(looked > 0);
	CHECK(wrong == 0);
}

static void nothing_of_the_caller_is_in_them(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=4", bound_caller, NULL), 0);
}

static void fork_amid(const void *unused)
{
	pid_t pid;
	int status = -1;

	sb_copy_threads_open();
	many_jobs(unused);
	pid = fork();
	if (pid == 0) {
		CHECK(sb_copy_threads_made() == 0);
		CHECK(sb_copy_threads_awake() == 0);
		many_jobs(unused);
		CHECK(sb_copy_threads_made() == sb_copy_threads_count());
		_exit(child_failures != 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	many_jobs(unused);
	sb_copy_threads_close();
}

static void a_child_of_fork_makes_its_own(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=3", fork_amid, NULL), 0);
}

static void take_long(void *context, size_t piece)
{
	(void)context;
	(void)piece;
	nap(0.9);
}

static void exit_amid(const void *unused)
{
	static struct sb_copy_job job = {take_long, NULL, 100, 0};

	(void)unused;
	sb_copy_threads_open();
	CHECK(sb_copy_threads_submit(&job, SB_COPY_UP));
	nap(0.05);
}

static void a_process_may_end_while_they_live(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=3", exit_amid, NULL), 0);
}

/* Work of the first rank that lasts until pages have been put there. */
static atomic_int pages_put, gave_up;

static void await_pages(void *context, size_t piece)
{
	(void)context;
	(void)piece;
	for (int i = 0; i < 100 && !atomic_load(&pages_put); i++)
		nap(1e-3);
	if (!atomic_load(&pages_put))
		atomic_fetch_add(&gave_up, 1);
}

static void put_pages(void *context, size_t piece)
{
	(void)context;
	(void)piece;
	atomic_store(&pages_put, 1);
}

static void pages_are_looked_for(const void *unused)
{
	struct sb_copy_job pages = {.work = put_pages, .pieces = 1};
	struct sb_copy_job copies = {.work = await_pages, .pieces = 40};

	(void)unused;
	sb_process_start();
	sb_copy_threads_open();
	CHECK(sb_copy_threads_submit(&copies, SB_COPY_UP));
	CHECK(sb_copy_threads_submit(&pages, SB_COPY_PAGES));
	while (!sb_copy_threads_done(&copies))
		nap(1e-3);
	/* At the latest when each of them had begun one before there were pages to put. */
	CHECK(atomic_load(&gave_up) <= sb_copy_threads_made());
	CHECK(sb_copy_threads_done(&pages));
	sb_copy_threads_close();
}

static void some_look_for_pages_first(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=5", pages_are_looked_for, NULL), 0);
}

static void few_are_wished_for(const void *unused)
{
	(void)unused;
	sb_process_start();
	CHECK(sb_copy_threads_count() == sb_threads_process() - 1 || sb_threads_process() > 16);
	sb_copy_threads_wish(1 << 20);
	CHECK(sb_copy_threads_count() == sb_threads_process() - 1);
	sb_copy_threads_wish(1);
	CHECK(sb_copy_threads_count() == 0);
	sb_copy_threads_open();
	CHECK(sb_copy_threads_made() == 0);
	sb_copy_threads_close();
}

static void the_user_says_how_many(const void *unused)
{
	(void)unused;
	sb_process_start();
	sb_copy_threads_wish(1);
	CHECK(sb_copy_threads_count() == 2);
}

static void a_wish_is_granted_within_the_processors(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=", few_are_wished_for, NULL), 0);
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=3", the_user_says_how_many, NULL), 0);
}

static void several_devices_want_more(void)
{
	CU_ASSERT_EQUAL(sb_copy_threads_for(16, 1, 256), 16);
	CU_ASSERT_EQUAL(sb_copy_threads_for(16, 2, 256), 32);
	CU_ASSERT_EQUAL(sb_copy_threads_for(16, 2, 32), 24);
	/* Never fewer than for one; whether there are so many is asked when they are made. */
	CU_ASSERT_EQUAL(sb_copy_threads_for(16, 8, 16), 16);
	CU_ASSERT_EQUAL(sb_copy_threads_for(4, 8, 2), 4);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"every piece is done once, whoever is there",
		 every_piece_is_done_once_whoever_is_there},
		{"without threads the caller does everything",
		 without_threads_the_caller_does_everything},
		{"a full queue takes nothing", a_full_queue_takes_nothing},
		{"nobody is awake when copying is closed", nobody_is_awake_when_copying_is_closed},
		{"nothing of the caller is in them", nothing_of_the_caller_is_in_them},
		{"a child of fork makes its own", a_child_of_fork_makes_its_own},
		{"a process may end while they live", a_process_may_end_while_they_live},
		{"some look for pages first", some_look_for_pages_first},
		{"a wish is granted within the processors",
		 a_wish_is_granted_within_the_processors},
		{"several devices want more", several_devices_want_more},
	};

	return SUITE("copy threads", tests);
}
