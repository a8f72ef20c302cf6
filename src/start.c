/* SPDX-License-Identifier: BSD-3-Clause */
#include "start.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "process.h"
#include "trace.h"

#define EXIT_PATIENCE 10.0

static atomic_llong missed_nanoseconds;
static _Atomic double price = SB_START_PRICE;
static _Atomic double bought; /* when, in seconds */
static atomic_bool waited_in_vain;
static atomic_bool ending;
/*
 * Calls that have waited for the start and are not over yet; and whether this thread has one. The
 * call of a thread that ends within it is over too, which the key's destructor sees.
 */
static atomic_int delayed;
static pthread_key_t delayed_key;
static atomic_bool delayed_watched;
static _Thread_local bool delayed_here __attribute__((tls_model("initial-exec")));
/* Held while the helper registers our exit handler. */
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static struct sb_device_wish wish;
static void (*_Atomic meeting)(struct sb_device *device);

void sb_start_meet(void (*meet)(struct sb_device *device))
{
	atomic_store(&meeting, meet);
}

static void show_device(void)
{
	void (*meet)(struct sb_device * device) = atomic_load(&meeting);

	if (meet)
		meet(sb_device_made()->devices);
}

static enum sb_health await(double seconds)
{
	const struct timespec nap = {.tv_nsec = 200000};
	double end = sb_clock_now() + seconds;
	enum sb_reason why;

	while (sb_device_health(&why) == SB_HEALTH_STARTING && sb_clock_now() < end)
		nanosleep(&nap, NULL);
	return sb_device_health(&why);
}

/*
 * Without us these calls would be over by now. A BLAS takes its memory away when the process ends,
 * from under whoever is in it; and they go to it when nothing came of the start. The caller's own,
 * which a signal handler that exits has cut off, is not waited for.
 */
static void await_delayed(double end)
{
	const struct timespec nap = {.tv_nsec = 200000};

	while (atomic_load(&delayed) > (delayed_here ? 1 : 0) && sb_clock_now() < end)
		nanosleep(&nap, NULL);
}

static void end_delayed(void *unused)
{
	(void)unused;
	sb_start_over();
}

/* Registered after the driver was opened, so it runs before the driver's own handlers. */
static void at_exit(void)
{
	double end = sb_clock_now() + EXIT_PATIENCE;
	enum sb_reason why;

	atomic_store(&ending, true);
	/* A child of fork has no helper to wait for. */
	if (sb_process_forked_live())
		return;
	if (sb_device_health(&why) == SB_HEALTH_STARTING)
		await(EXIT_PATIENCE);
	(void)sb_device_turn(SB_HEALTH_READY, SB_HEALTH_LOST, SB_REASON_LOST);
	await_delayed(end);
}

static void fail(enum sb_reason why)
{
	(void)sb_device_turn(SB_HEALTH_STARTING, SB_HEALTH_UNUSABLE, why);
}

/*
 * The lock of the list of exit handlers is not made new in a child of fork, whose exit() would wait
 * for the helper it does not have: no fork while the helper may hold it.
 */
static void hold_registering(void)
{
	pthread_mutex_lock(&registering);
}

static void release_registering(void)
{
	pthread_mutex_unlock(&registering);
}

static bool register_exit(void)
{
	bool registered;

	hold_registering();
	registered = atexit(at_exit) == 0;
	release_registering();
	return registered;
}

static void *start(void *unused)
{
	const struct sb_driver *cu = sb_driver_open();
	double began = sb_clock_now();

	(void)unused;
	if (!cu) {
		fail(sb_driver_status().state == SB_DRIVER_TOO_OLD ? SB_REASON_OLD_DRIVER
								   : SB_REASON_NO_GPU);
		return NULL;
	}
	/* If nothing would wait for us at exit, cuInit could be cut down in the middle. */
	if (!register_exit() || atomic_load(&ending) || sb_device_birth(cu, wish) != SB_OK) {
		fail(SB_REASON_NO_GPU);
		return NULL;
	}
	sb_trace_line(2, "CUDA started in %d ms", (int)(1e3 * (sb_clock_now() - began)));
	show_device();
	/* Where the process has begun to end meanwhile, the device must not come up any more. */
	if (atomic_load(&ending))
		fail(SB_REASON_NO_GPU);
	else
		(void)sb_device_turn(SB_HEALTH_STARTING, SB_HEALTH_READY, SB_REASON_STARTING);
	return NULL;
}

static bool make_helper(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t helper;
	bool made;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	made = pthread_create(&helper, &attributes, start, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return made;
}

void sb_start_buy(void)
{
	int error_number = errno;

	if (sb_process_forked_live() ||
	    !sb_device_turn(SB_HEALTH_UNBORN, SB_HEALTH_STARTING, SB_REASON_STARTING))
		return;
	atomic_store(&bought, sb_clock_now());
	atomic_store(&delayed_watched, pthread_key_create(&delayed_key, end_delayed) == 0);
	(void)pthread_atfork(hold_registering, release_registering, release_registering);
	sb_process_mark_live();
	wish = sb_device_wish();
	wish.vain = &ending;
	if (!make_helper())
		fail(SB_REASON_NO_GPU);
	errno = error_number;
}

void sb_start_set_price(double seconds)
{
	atomic_store(&price, seconds);
}

double sb_start_missed(double saving)
{
	const double whole = atomic_load(&price);
	enum sb_reason why;
	long long sum;

	if (sb_device_health(&why) != SB_HEALTH_UNBORN || !(saving > 0))
		return 1e-9 * (double)atomic_load(&missed_nanoseconds);
	if (saving > whole)
		saving = whole; /* keeps the sum far from overflow */
	sum = atomic_fetch_add(&missed_nanoseconds, (long long)(1e9 * saving)) +
	      (long long)(1e9 * saving);
	if ((double)sum >= 0.999e9 * whole)
		sb_start_buy();
	return 1e-9 * (double)sum;
}

double sb_start_left(void)
{
	double begun = atomic_load(&bought);
	/* Another thread may be just about to say when. */
	double taken = begun > 0 ? sb_clock_now() - begun : 0;
	double left = atomic_load(&price) - taken;

	return left > 0 ? left : taken;
}

enum sb_health sb_start_wait(double seconds)
{
	int error_number = errno, cancel_state;
	enum sb_health health;
	enum sb_reason why;

	health = sb_device_health(&why);
	if (health != SB_HEALTH_STARTING || atomic_load(&waited_in_vain))
		return health;
	if (!delayed_here && atomic_load(&delayed_watched) &&
	    pthread_setspecific(delayed_key, &delayed) == 0) {
		atomic_fetch_add(&delayed, 1);
		delayed_here = true;
	}
	/* The naps of a wait are cancellation points, a product is none. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	health = await(seconds);
	pthread_setcancelstate(cancel_state, NULL);
	if (health == SB_HEALTH_STARTING && seconds >= SB_START_PATIENCE)
		atomic_store(&waited_in_vain, true);
	errno = error_number;
	return health;
}

void sb_start_over(void)
{
	if (delayed_here)
		atomic_fetch_sub(&delayed, 1);
	delayed_here = false;
}
