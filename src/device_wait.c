/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "clock.h"
#include "process.h"

#define SPIN_SECONDS  50e-6
#define YIELD_SECONDS 200e-6 /* waits are mostly shorter than a sleep's wake-up */
#define PATIENCE_MOST 86400.0
#define STEP_MOST     0.1 /* between two looks at the clock, on however loaded a host */

double sb_device_least_patience = 10.0;

/* What has been waited since the device was taken: while `waiters` wait, since `last`, and `sum`.
 */
static struct {
	pthread_mutex_t lock;
	int waiters;
	double last, sum;
} waits = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sb_device_forget_waits(void)
{
	pthread_mutex_lock(&waits.lock);
	waits.sum = 0;
	pthread_mutex_unlock(&waits.lock);
}

enum sb_status sb_device_poll(struct sb_device *device, sb_cu_event event, bool *happened)
{
	sb_cu_result result = device->cu->event_query(event);
	enum sb_status status;

	*happened = result == SB_CU_SUCCESS;
	if (*happened || result == SB_CU_ERROR_NOT_READY)
		return SB_OK;
	/* A query reports what earlier work died of: whatever it is, it is fatal. */
	status = sb_device_check(device, result, "its work");
	return status == SB_LOST ? status : sb_device_lose(device, "its work");
}

static void begin_wait(void)
{
	pthread_mutex_lock(&waits.lock);
	if (waits.waiters++ == 0)
		waits.last = sb_clock_now();
	pthread_mutex_unlock(&waits.lock);
}

/* Counts what has passed since anybody counted, and returns the sum. */
static double count_wait(void)
{
	double time, step, sum;

	pthread_mutex_lock(&waits.lock);
	time = sb_clock_now();
	step = time - waits.last;
	/* Naps are short: the process has been stopped, and so may the device have been. */
	waits.sum += step < STEP_MOST ? step : STEP_MOST;
	waits.last = time;
	sum = waits.sum;
	pthread_mutex_unlock(&waits.lock);
	return sum;
}

static void end_wait(void)
{
	pthread_mutex_lock(&waits.lock);
	waits.waiters--;
	pthread_mutex_unlock(&waits.lock);
}

/*
 * A moment of a wait that began at `start`. Who yields where threads of a backend still spin goes
 * to the end of a long queue, so that comes second; but it comes, as who is waited for may need
 * this very processor.
 */
static void rest_a_moment(double start)
{
	const struct timespec nap = {.tv_nsec = 20000};
	double waited = sb_clock_now() - start;

	if (waited < SPIN_SECONDS)
		sb_process_relax();
	else if (waited < YIELD_SECONDS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

static enum sb_status poll_event(struct sb_device *device, sb_cu_event event, double seconds)
{
	double start = sb_clock_now();

	for (;;) {
		double sum = count_wait();
		bool happened;
		enum sb_status status = sb_device_poll(device, event, &happened);

		if (status != SB_OK || happened)
			return status;
		if (sum > seconds)
			return sb_device_lose(device, "it does not answer");
		rest_a_moment(start);
	}
}

enum sb_status sb_device_wait(struct sb_device *device, sb_cu_event event, double seconds)
{
	enum sb_status status;

	begin_wait();
	status = poll_event(device, event, seconds);
	end_wait();
	return status;
}

enum sb_status sb_device_pause(struct sb_device *device, double *since, double seconds)
{
	double sum;

	begin_wait();
	if (*since == 0)
		*since = sb_clock_now();
	rest_a_moment(*since);
	sum = count_wait();
	end_wait();
	return sum > seconds ? sb_device_lose(device, "it does not answer") : SB_OK;
}

double sb_device_patience(double prediction)
{
	double twenty = 20 * prediction;

	/* Nobody waits without a deadline, whatever a profile makes of a call. */
	if (!(twenty > sb_device_least_patience))
		return sb_device_least_patience;
	return twenty < PATIENCE_MOST ? twenty : PATIENCE_MOST;
}
