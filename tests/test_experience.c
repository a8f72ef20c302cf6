/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls took corrects what is predicted: in worlds that are not as the profile says. */
#include "child.h"

#include <math.h>

#include "distance.h"
#include "experience.h"
#include "route.h"
#include "shimblas.h"
#include "sized.h"

/* How many times what the model says each side takes there. */
struct world {
	double cpu, gpu;
};

/* A product in a world. */
struct life {
	struct sb_call call;
	bool emulate;
	double spent, best; /* seconds, and by always the faster side */
	int on_gpu, tried, calls;
};

static struct life life_of(int64_t size)
{
	return (struct life){.call = sized_square(size)};
}

static struct sb_decision judged(const struct life *life)
{
	struct sb_situation situation = {.health = SB_HEALTH_READY,
					 .threads = 16,
					 .emulate = life->emulate,
					 .experience =
						 sb_experience_of(&life->call, life->emulate)};

	return sb_route_judge(&life->call, situation,
			      (struct sb_decision){.emulate = life->emulate});
}

static struct sb_decision live(struct life *life, struct world world)
{
	struct sb_decision d = judged(life);
	const double cpu = world.cpu * d.cpu_seconds / d.experience.cpu;
	const double gpu = world.gpu * d.gpu_seconds / d.experience.gpu;
	const double took = d.side == SB_GPU ? gpu : cpu;

	d.nanoseconds = (int64_t)(1e9 * took);
	sb_experience_add(&life->call, &d);
	life->spent += took;
	life->best += fmin(cpu, gpu);
	life->on_gpu += d.side == SB_GPU;
	life->tried += d.reason == SB_REASON_TRIED;
	life->calls++;
	return d;
}

static void live_on(struct life *life, struct world world, int calls)
{
	for (int i = 0; i < calls; i++)
		live(life, world);
}

static void the_model_is_enough_where_it_is_right(void)
{
	const struct world as_said = {1, 1};
	struct life large = life_of(4096), small = life_of(200);

	sb_experience_reset();
	live_on(&large, as_said, 1000);
	live_on(&small, as_said, 1000);
	CU_ASSERT(large.on_gpu == 1000 && large.tried == 0);
	CU_ASSERT(small.on_gpu == 0 && small.tried == 0);
}

static void one_slow_call_changes_nothing(void)
{
	const struct world as_said = {1, 1}, once = {1, 100};
	struct life life = life_of(1024);

	sb_experience_reset();
	live(&life, once);
	CU_ASSERT(judged(&life).side == SB_GPU);
	live_on(&life, as_said, 50);
	live(&life, once);
	live_on(&life, as_said, 50);
	CU_ASSERT(life.on_gpu == life.calls);
}

/* The product is one that the model would have answered by `side`, which is slow there. */
static void slow_side_is_left(int64_t size, enum sb_side side, struct world world)
{
	struct life life = life_of(size);

	sb_experience_reset();
	CU_ASSERT_EQUAL(live(&life, world).side, side);
	live(&life, world);
	/* These two taught it. */
	life.spent = life.best = 0;
	CU_ASSERT_NOT_EQUAL(live(&life, world).side, side);
	live_on(&life, world, 997);
	CU_ASSERT(life.tried > 0 && life.tried <= 3);
	CU_ASSERT_EQUAL(side == SB_GPU ? life.on_gpu : life.calls - life.on_gpu, 2 + life.tried);
	CU_ASSERT(life.spent < 1.05 * life.best);
	live_on(&life, world, 9000);
	CU_ASSERT(life.tried <= 5);
	CU_ASSERT(life.spent < 1.01 * life.best);
}

static void a_side_that_is_slow_here_is_left(void)
{
	slow_side_is_left(1024, SB_GPU, (struct world){1, 20});
	slow_side_is_left(1024, SB_GPU, (struct world){0.5, 10});
	slow_side_is_left(200, SB_CPU, (struct world){40, 1});
}

static void what_has_passed_is_forgotten(void)
{
	const struct world slow = {1, 20}, as_said = {1, 1};
	struct life life = life_of(1024);
	int before;

	sb_experience_reset();
	live_on(&life, slow, 40);
	before = life.on_gpu;
	/* At the next try all is well, and that is believed. */
	live_on(&life, as_said, 200);
	CU_ASSERT(life.on_gpu > before + 60);
	CU_ASSERT(judged(&life).side == SB_GPU);
	/* And it may come again: as quickly learnt as the first time. */
	before = life.on_gpu;
	live_on(&life, slow, 30);
	CU_ASSERT(life.on_gpu <= before + 2);
}

static void noise_costs_little(void)
{
	struct life life = life_of(1024);

	sb_experience_reset();
	for (int i = 0; i < 5000; i++) {
		/* The better side's calls vary by a factor of two either way. */
		double noise = exp2((double)(suite_random() % 2001) / 1000 - 1);

		live(&life, (struct world){1, noise});
	}
	CU_ASSERT(life.on_gpu > 4950);
}

static void classes_are_apart(void)
{
	const struct world slow = {1, 20};
	struct life life = life_of(1024), other = life;

	sb_experience_reset();
	live_on(&life, slow, 10);
	CU_ASSERT_EQUAL(judged(&life).side, SB_CPU);
	other.call.trans_a = true;
	CU_ASSERT_EQUAL(judged(&other).side, SB_GPU);
	other = life;
	other.call.trans_b = true;
	CU_ASSERT_EQUAL(judged(&other).side, SB_GPU);
	other = life;
	other.call.beta = 1;
	CU_ASSERT_EQUAL(judged(&other).side, SB_GPU);
	other = life;
	other.emulate = true;
	CU_ASSERT_EQUAL(judged(&other).side, SB_GPU);
	other = life_of(1025);
	CU_ASSERT_EQUAL(judged(&other).side, SB_GPU);
	/* Sizes of one class learn from each other. */
	other = life_of(1000);
	CU_ASSERT_EQUAL(judged(&other).side, SB_CPU);
}

static void only_what_was_judged_teaches(void)
{
	const struct life life = life_of(1024);
	struct sb_decision good, d[6];

	sb_experience_reset();
	good = judged(&life);
	for (int i = 0; i < 6; i++) {
		d[i] = good;
		d[i].nanoseconds = (int64_t)1 << 40;
	}
	d[0].reason = SB_REASON_FORCED;
	d[1].compare = true;
	d[2].on_device = true;
	d[3].nanoseconds = 0;
	d[4].gpu_seconds = INFINITY;
	d[5].experience.gpu = 0;
	for (int i = 0; i < 6; i++)
		for (int again = 0; again < 3; again++)
			sb_experience_add(&life.call, &d[i]);
	CU_ASSERT_EQUAL(sb_experience_of(&life.call, false).gpu, 1);
	d[0].reason = SB_REASON_FASTER;
	for (int again = 0; again < 3; again++)
		sb_experience_add(&life.call, &d[0]);
	CU_ASSERT(sb_experience_of(&life.call, false).gpu > 1000);
}

/* More classes than there is room for: those that found it are remembered, the others judged. */
static void room_ends(void)
{
	const struct world slow = {1, 20};
	int left = 0, made = 0;

	sb_experience_reset();
	for (int m = 6; m < 20; m++)
		for (int n = 6; n < 20; n++)
			for (int k = 6; k < 20; k++) {
				struct life life = {.call = sized_call((int64_t)1 << m,
								       (int64_t)1 << n,
								       (int64_t)1 << k)};

				if (judged(&life).side != SB_GPU)
					continue;
				made++;
				live_on(&life, slow, 2);
				left += judged(&life).experience.gpu > 10;
			}
	CU_ASSERT(made > 1024);
	CU_ASSERT(left > 256 && left <= 1024);
}

enum { CALLS = 30, ROWS = 700 };

/* How many of some calls the GPU answers, once CUDA has started. */
static void calls_on_gpu(const void *unused)
{
	static float a[ROWS * ROWS], b[ROWS * ROWS], c[ROWS * ROWS];
	struct shimblas_decision last = {.size = sizeof last};
	distance_cblas *gemm;
	__typeof__(&shimblas_last_decision) last_decision;
	__typeof__(&shimblas_set_mode) set_mode;
	int on_gpu = 0;

	(void)unused;
	*(void **)&gemm = suite_symbol("cblas_sgemm");
	*(void **)&last_decision = suite_symbol("shimblas_last_decision");
	*(void **)&set_mode = suite_symbol("shimblas_set_mode");
	for (int i = -1; i < CALLS; i++) {
		CHECK(set_mode(i < 0 ? SHIMBLAS_MODE_GPU : SHIMBLAS_MODE_AUTO) == 0);
		gemm(COLUMN, NOTRANS, NOTRANS, ROWS, ROWS, ROWS, 1, a, ROWS, b, ROWS, 0, c, ROWS);
		CHECK(last_decision(&last) == 0);
		on_gpu += i >= 0 && strcmp(last.side, "gpu") == 0;
	}
	exit(child_failures ? 100 : on_gpu);
}

/* Each of the device's operations takes as long as all of the product does here. */
static void a_program_leaves_a_slow_device(void)
{
	int free = in_child("SB_STAND_IN=slow=40", calls_on_gpu, NULL);

	CU_ASSERT(free >= 1 && free <= 3);
	/* Where the side is the shape's nothing is learnt. */
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=slow=40 SHIMBLAS_REPRODUCIBLE=1", calls_on_gpu, NULL),
			CALLS);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"the model is enough where it is right", the_model_is_enough_where_it_is_right},
		{"one slow call changes nothing", one_slow_call_changes_nothing},
		{"a side that is slow here is left", a_side_that_is_slow_here_is_left},
		{"what has passed is forgotten", what_has_passed_is_forgotten},
		{"noise costs little", noise_costs_little},
		{"classes are apart", classes_are_apart},
		{"only what was judged teaches", only_what_was_judged_teaches},
		{"room ends", room_ends},
		{"a program leaves a slow device", a_program_leaves_a_slow_device},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	/* More threads than there are processors would make the CPU look faster than it is. */
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	return SUITE("experience", tests);
}
