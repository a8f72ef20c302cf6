/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "process.h"
#include "suite.h"

static void enter_and_leave_keep_errno(void)
{
	struct sb_as_found found;

	errno = 4321;
	CU_ASSERT_TRUE(sb_process_enter(&found));
	errno = 5;
	sb_process_leave(&found);
	CU_ASSERT_EQUAL(errno, 4321);
}

static void inside_the_environment_is_the_default(void)
{
	struct sb_as_found found;
	int raised;

	fesetround(FE_UPWARD);
	feraiseexcept(FE_OVERFLOW);
	raised = fetestexcept(FE_ALL_EXCEPT);
	CU_ASSERT_TRUE(sb_process_enter(&found));
#ifdef __SSE__
	CU_ASSERT_EQUAL(_mm_getcsr(), 0x1f80);
#endif
	feraiseexcept(FE_INVALID | FE_DIVBYZERO);
	sb_process_leave(&found);
	CU_ASSERT_EQUAL(fegetround(), FE_UPWARD);
	CU_ASSERT(raised & FE_OVERFLOW);
	CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT), raised);
	fesetenv(FE_DFL_ENV);
}

#ifdef __SSE__
static void flush_to_zero_is_put_back(void)
{
	const unsigned before = _mm_getcsr(), flush = before | 0x8040; /* FTZ, DAZ */
	volatile float tiny = 1e-30f, product;
	struct sb_as_found found;

	_mm_setcsr(flush);
	product = tiny * 1e-12f;
	CU_ASSERT_EQUAL(product, 0);
	_mm_setcsr(flush);
	CU_ASSERT_TRUE(sb_process_enter(&found));
	product = tiny * 1e-12f;
	sb_process_leave(&found);
	CU_ASSERT_EQUAL(_mm_getcsr(), flush);
	_mm_setcsr(before);
	CU_ASSERT(product > 0);
}
#endif

static void traps_do_not_fire_inside(void)
{
#ifdef __SSE__
	const unsigned before = _mm_getcsr();
	volatile float zero = 0, result;
	struct sb_as_found found;

	_mm_setcsr(before & ~0x80u); /* FE_INVALID traps */
	CU_ASSERT_TRUE(sb_process_enter(&found));
	result = zero / zero;
	sb_process_leave(&found);
	CU_ASSERT_EQUAL(_mm_getcsr(), before & ~0x80u);
	_mm_setcsr(before);
	CU_ASSERT(result != result);
#endif
}

static void the_cancel_state_is_put_back(void)
{
	static const int states[] = {PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE};

	for (int i = 0; i < 2; i++) {
		struct sb_as_found found;
		int inside, after;

		pthread_setcancelstate(states[i], NULL);
		CU_ASSERT_TRUE(sb_process_enter(&found));
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &inside);
		sb_process_leave(&found);
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &after);
		CU_ASSERT_EQUAL(inside, PTHREAD_CANCEL_DISABLE);
		CU_ASSERT_EQUAL(after, states[i]);
	}
}

static void *enter_elsewhere(void *context)
{
	struct sb_as_found found;

	*(bool *)context = sb_process_enter(&found);
	sb_process_leave(&found);
	return NULL;
}

static void a_call_inside_a_call_is_refused_in_its_own_thread_only(void)
{
	struct sb_as_found found, again = {.error = 77};
	bool elsewhere = false;
	pthread_t thread;

	CU_ASSERT_FALSE(sb_process_nested());
	CU_ASSERT_TRUE(sb_process_enter(&found));
	CU_ASSERT_TRUE(sb_process_nested());
	CU_ASSERT_FALSE(sb_process_enter(&again));
	CU_ASSERT_EQUAL(again.error, 77);
	pthread_create(&thread, NULL, enter_elsewhere, &elsewhere);
	pthread_join(thread, NULL);
	CU_ASSERT_TRUE(elsewhere);
	sb_process_leave(&found);
	CU_ASSERT_FALSE(sb_process_nested());
}

static void child_of_live(void)
{
	SUITE_EXPECT(sb_process_forked_live());
}

static void child_of_quiet(void)
{
	SUITE_EXPECT(!sb_process_forked_live());
	/* Its own CUDA is its own business. */
	sb_process_mark_live();
	SUITE_EXPECT(!sb_process_forked_live());
	SUITE_EXPECT(suite_child(child_of_live) == 0);
}

static void live(void)
{
	sb_process_start();
	SUITE_EXPECT(suite_child(child_of_quiet) == 0);
	sb_process_mark_live();
	SUITE_EXPECT(!sb_process_forked_live());
	SUITE_EXPECT(suite_child(child_of_live) == 0);
}

static void a_child_knows_whether_its_parent_was_live(void)
{
	SUITE_CHILD_PASSES(live);
}

static void grandchild(void)
{
	SUITE_EXPECT(sb_process_forked_live());
}

static void child_in_between(void)
{
	SUITE_EXPECT(suite_child(grandchild) == 0);
}

static void live_grandparent(void)
{
	sb_process_start();
	sb_process_mark_live();
	SUITE_EXPECT(suite_child(child_in_between) == 0);
}

static void so_does_a_grandchild(void)
{
	SUITE_CHILD_PASSES(live_grandparent);
}

static void not_nested(void)
{
	SUITE_EXPECT(!sb_process_nested());
}

static void forked_while_inside(void)
{
	struct sb_as_found found;

	sb_process_start();
	SUITE_EXPECT(sb_process_enter(&found));
	SUITE_EXPECT(suite_child(not_nested) == 0);
	sb_process_leave(&found);
}

static void a_child_forked_inside_a_call_is_outside(void)
{
	SUITE_CHILD_PASSES(forked_while_inside);
}

static void *ends_inside(void *unused)
{
	SUITE_EXPECT(sb_process_join_callers());
	return unused;
}

static void *see_callers(void *count)
{
	*(int *)count = sb_process_callers();
	return NULL;
}

/* As another thread sees them. */
static int callers_seen(void)
{
	pthread_t thread;
	int count = -1;

	SUITE_EXPECT(pthread_create(&thread, NULL, see_callers, &count) == 0);
	SUITE_EXPECT(pthread_join(thread, NULL) == 0);
	return count;
}

static void count_callers(void)
{
	pthread_t thread;

	sb_process_start();
	SUITE_EXPECT(sb_process_callers() == 0);
	SUITE_EXPECT(sb_process_join_callers());
	/* Who asks is not among the others. */
	SUITE_EXPECT(sb_process_callers() == 0);
	SUITE_EXPECT(callers_seen() == 1);
	/* One who calls from inside is the same caller. */
	SUITE_EXPECT(!sb_process_join_callers());
	SUITE_EXPECT(pthread_create(&thread, NULL, ends_inside, NULL) == 0);
	SUITE_EXPECT(pthread_join(thread, NULL) == 0);
	/* It has left, though it did not say so. */
	SUITE_EXPECT(callers_seen() == 1);
	if (fork() == 0)
		_exit(sb_process_callers() != 0);
	{
		int status = 1;

		SUITE_EXPECT(wait(&status) > 0 && status == 0);
	}
	sb_process_part_from_callers();
	SUITE_EXPECT(callers_seen() == 0);
}

static void callers_are_counted_once_and_not_for_ever(void)
{
	SUITE_CHILD_PASSES(count_callers);
}

static const struct suite_case cases[] = {
	{"callers are counted once and not for ever", callers_are_counted_once_and_not_for_ever},
	{"enter and leave keep errno", enter_and_leave_keep_errno},
	{"inside, the floating-point environment is the default",
	 inside_the_environment_is_the_default},
#ifdef __SSE__
	{"flush to zero is put back", flush_to_zero_is_put_back},
#endif
	{"traps do not fire inside", traps_do_not_fire_inside},
	{"the cancel state is put back", the_cancel_state_is_put_back},
	{"a call inside a call is refused, in its own thread only",
	 a_call_inside_a_call_is_refused_in_its_own_thread_only},
	{"a child knows whether its parent was live", a_child_knows_whether_its_parent_was_live},
	{"so does a grandchild", so_does_a_grandchild},
	{"a child forked inside a call is outside", a_child_forked_inside_a_call_is_outside},
};

int main(void)
{
	return SUITE("process", cases);
}
