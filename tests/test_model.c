/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions, and the judge that rests on them, by the shipped profile. */
#include "child.h"

#include <math.h>

#include "model.h"
#include "route.h"
#include "sized.h"

static struct sb_situation ready(int threads)
{
	return (struct sb_situation){.health = SB_HEALTH_READY, .threads = threads};
}

static double on_cpu(struct sb_situation s, struct sb_call call)
{
	return sb_model_cpu(sb_profile_shipped(), &s, &call).seconds;
}

static double on_gpu(struct sb_situation s, struct sb_call call)
{
	return sb_model_gpu(sb_profile_shipped(), &s, &call).seconds;
}

/* The process judges by the shipped profile too, but for its own number of processors. */
static struct sb_decision judge(int64_t n, struct sb_situation situation)
{
	struct sb_call call = sized_square(n);

	return sb_route_judge(&call, situation, (struct sb_decision){0});
}

static bool gpu_is_faster(int64_t n, struct sb_situation s)
{
	return on_gpu(s, sized_square(n)) < on_cpu(s, sized_square(n));
}

static void the_backend_takes_longer_for_more(void)
{
	for (int threads = 1; threads <= 64; threads = threads * 3 / 2 + 1)
		for (int64_t m = 1; m <= 20000; m = m * 5 / 2 + 1)
			for (int64_t n = 1; n <= 20000; n = n * 5 / 2 + 1) {
				double before = 0;

				for (int64_t k = 1; k <= 20000; k = k * 5 / 3 + 1) {
					double now = on_cpu(ready(threads), sized_call(m, n, k));
					double turned = on_cpu(ready(threads), sized_call(k, n, m));

					/* But for rounding. */
					CU_ASSERT(now > 0 && now > before * (1 - 1e-9));
					CU_ASSERT(turned <=
						  on_cpu(ready(threads), sized_call(2 * k, n, m)));
					before = now;
				}
			}
}

static void the_gpu_takes_longer_for_more(void)
{
	double before = 0;

	for (int64_t n = 64; n <= 32768; n *= 2) {
		double now = on_gpu(ready(16), sized_square(n));

		CU_ASSERT(now > before);
		before = now;
	}
}

static void more_threads_are_never_slower_in_large_products(void)
{
	for (int threads = 1; threads < 40; threads++)
		CU_ASSERT(on_cpu(ready(threads + 1), sized_square(4096)) <=
			  on_cpu(ready(threads), sized_square(4096)));
}

static void predictions_are_near_what_was_measured(void)
{
	static const struct {
		int64_t n;
		double cpu, gpu; /* ms: OpenBLAS with 16 threads; a whole call, pageable */
	} measured[] = {
		{512, 0.49, 0.18}, {1024, 2.45, 0.38}, {2048, 15.1, 1.0},
		{4096, 115, 4.2},  {8192, 1006, 24.5},
	};

	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
		double cpu = 1e3 * on_cpu(ready(16), sized_square(measured[i].n)) / measured[i].cpu;
		double gpu = 1e3 * on_gpu(ready(16), sized_square(measured[i].n)) / measured[i].gpu;

		/* OpenBLAS of one version to the next, and one machine to the next: a third. */
		CU_ASSERT(cpu > 0.65 && cpu < 1.5);
		CU_ASSERT(gpu > 0.65 && gpu < 1.5);
		printf("  %lld: predicted over measured %.2f on the CPU, %.2f on the GPU\n",
		       (long long)measured[i].n, cpu, gpu);
	}
}

static void squares_go_where_they_are_faster(void)
{
	for (int64_t n = 512; n <= 16384; n += n / 4)
		CU_ASSERT(gpu_is_faster(n, ready(16)));
	for (int64_t n = 256; n <= 16384; n += n / 4)
		CU_ASSERT(gpu_is_faster(n, ready(1)));
	CU_ASSERT_FALSE(gpu_is_faster(128, ready(16)));
	CU_ASSERT_FALSE(gpu_is_faster(128, ready(1)));
	CU_ASSERT_EQUAL(judge(8192, ready(16)).side, SB_GPU);
	CU_ASSERT_EQUAL(judge(8192, ready(16)).reason, SB_REASON_FASTER);
	CU_ASSERT_EQUAL(judge(128, ready(16)).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(128, ready(16)).reason, SB_REASON_FASTER);
}

/* What is decided without a look at the operands is decided as with one. */
static void the_least_is_less(void)
{
	for (int64_t m = 1; m <= 10000; m = m * 3 / 2 + 1)
		for (int64_t n = 1; n <= 10000; n = n * 3 / 2 + 1)
			for (int64_t k = 1; k <= 10000; k = k * 3 / 2 + 1) {
				struct sb_call call = sized_call(m, n, k);
				struct sb_situation s = ready(16);
				double least = sb_model_gpu_least(sb_profile_shipped(), &s, &call);

				double unseen =
					sb_model_gpu_unseen(sb_profile_shipped(), &s, &call);

				CU_ASSERT(least > 0);
				for (int places = 0; places < 8; places++) {
					for (int i = 0; i < 3; i++)
						s.places[i] = places >> i & 1 ? SB_PLACE_PINNED
									      : SB_PLACE_PAGEABLE;
					CU_ASSERT(least <= on_gpu(s, call));
					CU_ASSERT(unseen <= on_gpu(s, call));
					CU_ASSERT(sb_model_gpu_copies(sb_profile_shipped(), &s,
								      &call) <= on_gpu(s, call));
				}
				s.devices = 4;
				s.linked = true;
				least = sb_model_gpu_least(sb_profile_shipped(), &s, &call);
				CU_ASSERT(least > 0 && least <= on_gpu(s, call));
				CU_ASSERT(sb_model_gpu_copies(sb_profile_shipped(), &s, &call) <=
					  on_gpu(s, call));
			}
}

static void the_parts_make_the_whole(void)
{
	struct sb_situation s = ready(16);
	struct sb_call call = sized_square(3000);
	struct sb_gpu_parts p = sb_model_gpu(sb_profile_shipped(), &s, &call);
	double longest = p.up > p.computing ? p.up : p.computing;

	if (p.down > longest)
		longest = p.down;
	CU_ASSERT_PTR_NOT_NULL(p.kernel);
	CU_ASSERT_EQUAL(p.panels, 6);
	CU_ASSERT(p.launch > 0 && p.up > 0 && p.down > 0 && p.computing > 0 && p.seen < 1);
	CU_ASSERT_DOUBLE_EQUAL(p.seconds,
			       p.measured * (p.launch + longest +
					     p.seen * (p.up + p.down + p.computing - longest)),
			       1e-9);
}

static struct sb_situation team(int devices, bool linked)
{
	struct sb_situation s = ready(16);

	s.devices = devices;
	s.linked = linked;
	return s;
}

/* Two H200 of one host, whose threads and memory fill the rings of both no faster than of one. */
static void a_team_is_predicted_near_what_was_measured(void)
{
	static const struct {
		int64_t n;
		double two; /* ms, a whole call, pageable */
	} measured[] = {{2048, 1.07}, {4096, 4.25}, {8192, 18.4}, {16384, 122}};

	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
		double two =
			1e3 * on_gpu(team(2, true), sized_square(measured[i].n)) / measured[i].two;

		CU_ASSERT(two > 0.75 && two < 1.25);
		printf("  %lld on two: predicted over measured %.2f\n", (long long)measured[i].n,
		       two);
	}
}

static void a_team_shares_what_there_is_to_share(void)
{
	struct sb_situation one = team(1, false), two = team(2, true), apart = team(2, false);
	struct sb_call large = sized_square(16384), flat = sized_call(16384, 16384, 512);
	struct sb_gpu_parts alone = sb_model_gpu(sb_profile_shipped(), &one, &large);
	struct sb_gpu_parts both = sb_model_gpu(sb_profile_shipped(), &two, &large);
	double pageable, pinned;

	CU_ASSERT_EQUAL(alone.devices, 1);
	CU_ASSERT_EQUAL(both.devices, 2);
	CU_ASSERT(both.computing > 0.45 * alone.computing &&
		  both.computing < 0.6 * alone.computing);
	/* One memory fills all rings; and where devices are not linked, one operand twice. */
	CU_ASSERT_DOUBLE_EQUAL(both.up, alone.up, 1e-3 * alone.up);
	CU_ASSERT_DOUBLE_EQUAL(sb_model_gpu(sb_profile_shipped(), &apart, &large).up,
			       1.5 * alone.up, 2e-2 * alone.up);
	/* What needs no ring has a wire for each. */
	pageable = on_gpu(one, flat) / on_gpu(two, flat);
	for (int i = 0; i < 3; i++)
		one.places[i] = two.places[i] = SB_PLACE_PINNED;
	pinned = on_gpu(one, flat) / on_gpu(two, flat);
	CU_ASSERT(pinned > pageable && pinned > 1.6 && pinned <= 2);
	/* What is too small to share is one device's. */
	CU_ASSERT_EQUAL(on_gpu(team(8, true), sized_square(512)),
			on_gpu(ready(16), sized_square(512)));
	for (int i = 0; i < 3; i++)
		two.places[i] = SB_PLACE_DEVICE;
	CU_ASSERT_EQUAL(sb_model_gpu(sb_profile_shipped(), &two, &large).devices, 1);
}

static void pinned_operands_are_copied_faster(void)
{
	struct sb_situation s = ready(16);
	double pageable = on_gpu(s, sized_square(2048));

	for (int i = 0; i < 3; i++)
		s.places[i] = SB_PLACE_PINNED;
	CU_ASSERT(on_gpu(s, sized_square(2048)) < pageable);
	for (int i = 0; i < 3; i++)
		s.places[i] = SB_PLACE_DEVICE;
	CU_ASSERT_EQUAL(sb_model_copy(sb_profile_shipped(), SB_PINNED_UP, 0), 0);
	CU_ASSERT(on_gpu(s, sized_square(2048)) < 0.7 * pageable);
}

static void a_queue_makes_a_device_busy(void)
{
	struct sb_situation s = ready(16);

	s.queue = 100;
	CU_ASSERT_EQUAL(judge(4096, s).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(4096, s).reason, SB_REASON_BUSY);
}

static void callers_share_the_processors(void)
{
	struct sb_situation alone = ready(16), crowd = ready(16), apart = ready(2);
	double before;

	crowd.processors = 16;
	before = on_cpu(crowd, sized_square(1024));
	CU_ASSERT_DOUBLE_EQUAL(before, on_cpu(alone, sized_square(1024)), 1e-12);
	for (crowd.callers = 1; crowd.callers < 40; crowd.callers++) {
		double now = on_cpu(crowd, sized_square(1024));

		CU_ASSERT(now > before);
		before = now;
	}
	/* Sixteen with a processor each; and thirty-two, two to a processor. */
	crowd.callers = 15;
	CU_ASSERT_DOUBLE_EQUAL(on_cpu(crowd, sized_square(1024)),
			       on_cpu(ready(1), sized_square(1024)), 1e-9);
	crowd.callers = 31;
	CU_ASSERT_DOUBLE_EQUAL(on_cpu(crowd, sized_square(1024)),
			       2 * on_cpu(ready(1), sized_square(1024)), 1e-9);
	/* Those who have room do not disturb each other. */
	apart.processors = 16;
	apart.callers = 7;
	CU_ASSERT_DOUBLE_EQUAL(on_cpu(apart, sized_square(1024)),
			       on_cpu(ready(2), sized_square(1024)), 1e-12);
}

static void what_lies_on_the_device_stays_there(void)
{
	struct sb_situation s = ready(16);

	s.places[1] = SB_PLACE_DEVICE;
	CU_ASSERT_EQUAL(judge(128, s).side, SB_GPU);
}

/* Whatever the shape, whoever asks for emulation is never predicted to wait longer for it. */
static void emulated_products_are_predicted_apart(void)
{
	struct sb_situation strict = ready(16), emulated = ready(16);
	const struct sb_profile *profile = sb_profile_shipped();
	struct sb_call few = sized_call(512, 512, 65536); /* elements of C: k is cut */
	int faster = 0;

	emulated.emulate = true;
	for (int64_t m = 16; m <= 20000; m *= 3)
		for (int64_t n = 16; n <= 20000; n *= 3)
			for (int64_t k = 16; k <= 20000; k *= 2) {
				struct sb_call call = sized_call(m, n, k);
				struct sb_gpu_parts parts = sb_model_gpu(profile, &emulated, &call);
				bool is = parts.kernel->arithmetic != SB_STRICT;

				CU_ASSERT(on_gpu(emulated, call) <= on_gpu(strict, call) + 1e-9);
				CU_ASSERT_EQUAL(is, parts.fallback == SB_FALLBACK_NONE ||
							    parts.fallback == SB_FALLBACK_SHORT);
				faster += is;
			}
	CU_ASSERT(faster > 50);
	CU_ASSERT(2 * sb_model_gpu(profile, &emulated, &few).computing <
		  sb_model_gpu(profile, &strict, &few).computing);
	for (int64_t n = 2048; n <= 16384; n *= 2) {
		struct sb_call call = sized_square(n);
		struct sb_gpu_parts parts = sb_model_gpu(profile, &emulated, &call);
		double rate = 2e-12 * (double)n * (double)n * (double)n / parts.computing;

		CU_ASSERT_STRING_EQUAL(parts.kernel->source, "sgemm_fp16x3");
		CU_ASSERT(rate > 140 && rate < 230);
	}
}

static void health_gives_the_reason(void)
{
	struct sb_situation s = ready(16);

	s.health = SB_HEALTH_UNBORN;
	CU_ASSERT_EQUAL(judge(8192, s).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(8192, s).reason, SB_REASON_STARTING);
	CU_ASSERT_EQUAL(judge(128, s).reason, SB_REASON_FASTER);
	s.health = SB_HEALTH_UNUSABLE;
	s.unusable = SB_REASON_OLD_DRIVER;
	CU_ASSERT_EQUAL(judge(8192, s).reason, SB_REASON_OLD_DRIVER);
	s.health = SB_HEALTH_LOST;
	s.unusable = SB_REASON_LOST;
	CU_ASSERT_EQUAL(judge(8192, s).side, SB_CPU);
	CU_ASSERT_EQUAL(judge(8192, s).reason, SB_REASON_LOST);
}

/* Older than every kernel: the GPU never ends, which is a number that can be compared. */
static void a_device_without_a_kernel_never_ends(void)
{
	static struct sb_profile old;
	struct sb_situation s = ready(16);
	struct sb_call call = sized_square(4096);
	double seconds;

	old = *sb_profile_shipped();
	old.target.arch = 40;
	seconds = sb_model_gpu(&old, &s, &call).seconds;
	CU_ASSERT(isinf(seconds) && seconds > 0);
	CU_ASSERT(sb_model_gpu_copies(&old, &s, &call) < seconds);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"the backend takes longer for more", the_backend_takes_longer_for_more},
		{"the GPU takes longer for more", the_gpu_takes_longer_for_more},
		{"more threads are never slower in large products",
		 more_threads_are_never_slower_in_large_products},
		{"predictions are near what was measured", predictions_are_near_what_was_measured},
		{"squares go where they are faster", squares_go_where_they_are_faster},
		{"the least is less", the_least_is_less},
		{"the parts make the whole", the_parts_make_the_whole},
		{"a team is predicted near what was measured",
		 a_team_is_predicted_near_what_was_measured},
		{"a team shares what there is to share", a_team_shares_what_there_is_to_share},
		{"pinned operands are copied faster", pinned_operands_are_copied_faster},
		{"a queue makes a device busy", a_queue_makes_a_device_busy},
		{"callers share the processors", callers_share_the_processors},
		{"what lies on the device stays there", what_lies_on_the_device_stays_there},
		{"emulated products are predicted apart", emulated_products_are_predicted_apart},
		{"health gives the reason", health_gives_the_reason},
		{"a device without a kernel never ends", a_device_without_a_kernel_never_ends},
	};

	return SUITE("model", tests);
}
