/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the start of CUDA is bought: whole programs of calls and pauses, in a time of their own that
 * passes as the model says, against the best that they could have done had they known what comes.
 *
 * That is the better of never starting, and of starting first of all, waiting for it, and then
 * having each call on its faster side. No rule that starts nothing for less than the price comes
 * closer to it than the price.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "model.h"
#include "route.h"
#include "settings.h"
#include "sized.h"
#include "start.h"
#include "suite.h"

#define SPARE 0.05 /* seconds */

/* A call of a cube of that size, or a pause of so many seconds. */
struct step {
	int64_t size;
	double pause;
};
enum { MOST = 4000 };
static struct program {
	int count;
	struct step steps[MOST];
} program;

static double now, bought_at, start_takes;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	(void)thread, (void)attributes, (void)run, (void)argument;
	bought_at = now;
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	time->tv_sec = (time_t)now;
	time->tv_nsec = (long)(1e9 * (now - floor(now)));
	return 0;
}

enum sb_place __wrap_sb_device_place(struct sb_device *device, const void *pointer, size_t bytes);
enum sb_place __wrap_sb_device_place(struct sb_device *device, const void *pointer, size_t bytes)
{
	(void)device, (void)pointer, (void)bytes;
	return SB_PLACE_PAGEABLE;
}

static void let_start(void)
{
	if (bought_at >= 0 && now >= bought_at + start_takes)
		(void)sb_device_turn(SB_HEALTH_STARTING, SB_HEALTH_READY, SB_REASON_STARTING);
}

enum sb_health __wrap_sb_start_wait(double seconds);
enum sb_health __wrap_sb_start_wait(double seconds)
{
	enum sb_reason why;
	double left = bought_at + start_takes - now;

	if (sb_device_health(&why) == SB_HEALTH_STARTING && left > 0)
		now += left < seconds ? left : seconds;
	let_start();
	return sb_device_health(&why);
}

static double takes(enum sb_side side, int64_t size)
{
	struct sb_situation situation = {
		.health = SB_HEALTH_READY, .threads = 1, .processors = sb_profile_processors()};
	struct sb_call call = sized_square(size);

	return side == SB_CPU ? sb_model_cpu(sb_profile(NULL), &situation, &call).seconds
			      : sb_model_gpu(sb_profile(NULL), &situation, &call).seconds;
}

/* --- what programs do --- */

static void add(int64_t size, double pause)
{
	if (program.count < MOST)
		program.steps[program.count++] = (struct step){size, pause};
}

static void add_calls(int count, int64_t size, double pause)
{
	for (int i = 0; i < count; i++) {
		add(size, 0);
		if (pause > 0)
			add(0, pause);
	}
}

/* The largest size by which no more than so many seconds are gained. */
static int64_t size_that_gains(double seconds)
{
	int64_t size = 128;

	while (takes(SB_CPU, size + 8) - takes(SB_GPU, size + 8) <= seconds)
		size += 8;
	return size;
}

static void run(void)
{
	for (int i = 0; i < program.count; i++) {
		const struct step *step = &program.steps[i];
		struct sb_call call = sized_square(step->size);

		now += step->pause;
		let_start();
		if (!step->size)
			continue;
		/* It may wait, which takes its time. */
		now += takes(sb_route(&call, NULL).side, step->size);
	}
}

static double gained(void)
{
	double sum = 0;

	for (int i = 0; i < program.count; i++) {
		int64_t size = program.steps[i].size;
		double gain = size ? takes(SB_CPU, size) - takes(SB_GPU, size) : 0;

		sum += gain > 0 ? gain : 0;
	}
	return sum;
}

static double without(void)
{
	double sum = 0;

	for (int i = 0; i < program.count; i++)
		sum += program.steps[i].size ? takes(SB_CPU, program.steps[i].size)
					     : program.steps[i].pause;
	return sum;
}

/* In a child; what it says is shown where something is wrong. */
static void holds(void)
{
	const double price = sb_profile(NULL)->start, gain = gained(), alone = without();
	const double best = gain > start_takes ? alone - gain + start_takes : alone;
	/* Where it takes what is expected of it; else what is lost by that comes on top. */
	const double more = start_takes > price ? start_takes : price;
	const double one_start = start_takes == price ? price : price + more;

	bought_at = -1;
	now = 0;
	run();
	if (now > best + one_start + SPARE || (gain < 0.99 * price && bought_at >= 0))
		fprintf(stderr, "%d steps: %.3f s, best %.3f, without %.3f, a start %.3f; %s\n",
			program.count, now, best, alone, one_start,
			bought_at >= 0 ? "bought" : "not bought");
	SUITE_EXPECT(now <= best + one_start + SPARE);
	SUITE_EXPECT(gain >= 0.99 * price || bought_at < 0);
	SUITE_EXPECT(gain < 2.01 * price || bought_at >= 0);
}

static void programs(void)
{
	const double price = sb_profile(NULL)->start;
	const double starts[] = {price, 0.3 * price, 4 * price};
	int64_t nearly = size_that_gains(0.95 * price);

	for (int kind = 0; kind < 10; kind++) {
		program.count = 0;
		switch (kind) {
		case 0: /* many of a middle size */
			add_calls(1000, 600, 0);
			break;
		case 1: /* not so many: they are not worth a start */
			add_calls((int)(0.9 * price / (takes(SB_CPU, 600) - takes(SB_GPU, 600))),
				  600, 0);
			break;
		case 2: /* a huge one */
			add_calls(1, 12000, 0);
			break;
		case 3: /* with pauses */
			add_calls(60, 1500, 0.4);
			break;
		case 4: /* they grow */
			for (int64_t size = 128; size < 9000; size += size / 4)
				add_calls(3, size, 0.01);
			break;
		case 5: /* they shrink */
			for (int64_t size = 6000; size > 128; size -= size / 4)
				add_calls(3, size, 0);
			break;
		case 6: /* each is nearly worth one */
			add_calls(5, nearly, 0);
			break;
		case 7: /* a start is nearly due, and then comes a huge one */
			add_calls(1, nearly, 0);
			add_calls(1, 10000, 0);
			break;
		case 8: /* small ones for ever */
			add_calls(3500, 100, 0);
			break;
		case 9: /* small ones, and one that gains */
			add_calls(2000, 100, 0);
			add_calls(1, 4096, 0);
			break;
		}
		for (int i = 0; i < 3; i++) {
			start_takes = starts[i];
			CU_ASSERT_EQUAL(suite_child(holds), 0);
			if (*suite_child_said())
				printf("    kind %d, start %d: %s", kind, i, suite_child_said());
		}
	}
}

static void programs_drawn_by_lot(void)
{
	const double price = sb_profile(NULL)->start;

	for (int i = 0; i < 150; i++) {
		int runs = (int)suite_between(1, 6);

		program.count = 0;
		for (int j = 0; j < runs; j++) {
			double largest = exp2(7 + 6 * (double)suite_between(0, 100) / 100);

			add_calls((int)suite_between(1, largest > 2000 ? 8 : 400),
				  suite_between(64, (int64_t)largest + 64),
				  suite_between(0, 2) ? 0 : 1e-3 * (double)suite_between(1, 300));
		}
		start_takes = price * exp2((double)suite_between(-2, 2));
		CU_ASSERT_EQUAL(suite_child(holds), 0);
		if (*suite_child_said())
			printf("    %d: %s", i, suite_child_said());
	}
}

static const struct suite_case cases[] = {
	{"programs come near their best", programs},
	{"programs drawn by lot come near their best", programs_drawn_by_lot},
};

int main(void)
{
	setenv("OMP_NUM_THREADS", "1", 1);
	setenv("SHIMBLAS_DRIVER", "/nowhere", 1);
	return SUITE("purchase", cases);
}
