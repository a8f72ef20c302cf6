/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include <pthread.h>

#include "copy_threads.h"

/* Staged rates are those of one copying thread, and of as many as there may be. */
static const double staged_up_most = 43e9, staged_down_most = 42e9;

static struct sb_profile profile = {
	.cpu_thread_rate = 75e9,
	.cpu_thread_latency = 6e-6,
	.staged_up = 6.5e9,
	.staged_down = 5.0e9,
	.staged_latency = 300e-6,
	.pinned_up = 50e9,
	.pinned_down = 50e9,
	.call_latency = 100e-6,
	.gpu_peak = 66.9e12,
	.gpu_share = 0.75,
	.gpu_tile = 128,
	.overlap = 0.25,
};

static void count_threads(void)
{
	double threads = sb_copy_threads_count() + 1;
	double up = threads * profile.staged_up, down = threads * profile.staged_down;

	profile.staged_up = up < staged_up_most ? up : staged_up_most;
	profile.staged_down = down < staged_down_most ? down : staged_down_most;
}

const struct sb_profile *sb_profile(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, count_threads);
	return &profile;
}
