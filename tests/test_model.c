/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions, and the judge that rests on them. */
#include "child.h"

#include "model.h"
#include "route.h"

static struct sb_call square(int64_t n)
{
	return (struct sb_call){.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n, .alpha = 1};
}

static struct sb_situation ready(int threads)
{
	return (struct sb_situation){.health = SB_HEALTH_READY, .threads = threads};
}

static struct sb_decision judge(int64_t n, struct sb_situation situation)
{
	struct sb_call call = square(n);

	return sb_route_judge(&call, situation, (struct sb_decision){0});
}

static void seconds_grow_with_every_size(void)
{
	struct sb_situation s = ready(16);
	double cpu = 0, gpu = 0;

	for (int64_t n = 64; n <= 32768; n *= 2) {
		struct sb_call call = square(n);
		double c = sb_model_cpu(sb_profile(), &s, &call);
		double g = sb_model_gpu(sb_profile(), &s, &call);

		CU_ASSERT(c > cpu && g > gpu);
		cpu = c;
		gpu = g;
	}
}

static void predictions_are_near_what_was_measured(void)
{
	static const struct {
		int64_t n;
		double cpu; /* measured, 16 threads */
	} measured[] = {{1024, 2.45e-3}, {2048, 15.1e-3}, {4096, 115e-3}, {8192, 1.006}};

	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
		struct sb_situation s = ready(16);
		struct sb_call call = square(measured[i].n);
		double ratio = sb_model_cpu(sb_profile(), &s, &call) / measured[i].cpu;

		CU_ASSERT(ratio > 0.7 && ratio < 1.4);
	}
}

static void large_goes_to_the_gpu_and_small_does_not(void)
{
	CU_ASSERT_EQUAL(judge(8192, ready(16)).side, SB_GPU);
	CU_ASSERT_EQUAL(judge(8192, ready(16)).reason, SB_REASON_FASTER);
	CU_ASSERT_EQUAL(judge(256, ready(16)).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(256, ready(16)).reason, SB_REASON_FASTER);
}

/* By how much depends on the processors here, which copy what is pageable. */
static void pinned_operands_are_copied_faster(void)
{
	struct sb_situation s = ready(16);
	double pageable = judge(2048, s).gpu_seconds;

	for (int i = 0; i < 3; i++)
		s.places[i] = SB_PLACE_PINNED;
	CU_ASSERT(judge(2048, s).gpu_seconds < pageable);
	CU_ASSERT_EQUAL(judge(768, s).side, SB_GPU);
}

static void a_queue_makes_a_device_busy(void)
{
	struct sb_situation s = ready(16);

	s.queue = 40;
	CU_ASSERT_EQUAL(judge(4096, s).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(4096, s).reason, SB_REASON_BUSY);
}

static void what_lies_on_the_device_stays_there(void)
{
	struct sb_situation s = ready(16);

	s.places[1] = SB_PLACE_DEVICE;
	CU_ASSERT_EQUAL(judge(128, s).side, SB_GPU);
}

static void health_gives_the_reason(void)
{
	struct sb_situation s = ready(16);

	s.health = SB_HEALTH_UNBORN;
	CU_ASSERT_EQUAL(judge(8192, s).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(8192, s).reason, SB_REASON_STARTING);
	CU_ASSERT_EQUAL(judge(256, s).reason, SB_REASON_FASTER);
	s.health = SB_HEALTH_UNUSABLE;
	s.unusable = SB_REASON_OLD_DRIVER;
	CU_ASSERT_EQUAL(judge(8192, s).reason, SB_REASON_OLD_DRIVER);
	s.health = SB_HEALTH_LOST;
	s.unusable = SB_REASON_LOST;
	CU_ASSERT_EQUAL(judge(8192, s).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(8192, s).reason, SB_REASON_LOST);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"seconds grow with every size", seconds_grow_with_every_size},
		{"predictions are near what was measured", predictions_are_near_what_was_measured},
		{"large goes to the GPU and small does not",
		 large_goes_to_the_gpu_and_small_does_not},
		{"pinned operands are copied faster", pinned_operands_are_copied_faster},
		{"a queue makes a device busy", a_queue_makes_a_device_busy},
		{"what lies on the device stays there", what_lies_on_the_device_stays_there},
		{"health gives the reason", health_gives_the_reason},
	};

	return SUITE("model", tests);
}
