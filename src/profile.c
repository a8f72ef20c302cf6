/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

static const struct sb_profile shipped = {
	.cpu_thread_rate = 75e9,
	.cpu_thread_latency = 6e-6,
	.staged_thread = 6e9,
	.staged_up = 43e9,
	.staged_down = 42e9,
	.staged_latency = 300e-6,
	.pinned_up = 50e9,
	.pinned_down = 50e9,
	.call_latency = 100e-6,
	.gpu_peak = 66.9e12,
	.gpu_share = 0.7,
	.gpu_tile = 128,
	.overlap = 0.25,
};

const struct sb_profile *sb_profile(void)
{
	return &shipped;
}
