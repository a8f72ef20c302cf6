/* SPDX-License-Identifier: BSD-3-Clause */
/* What the bench measures on a device, as it is queued there. */
#include "bench_launch.h"

#include "peer_cublas.h"

static sb_cu_stream stream(const struct sb_bench_launch *launch)
{
	return launch->device->streams[SB_STREAM_COMPUTE];
}

bool sb_bench_launch_gemm(struct sb_bench_launch *launch)
{
	if (launch->emulated)
		return sb_launch_tiers(launch->device, &launch->tiers, &launch->gemm,
				       SB_STREAM_COMPUTE) == SB_OK;
	return sb_launch_gemm(launch->device, launch->kernel, &launch->gemm, SB_STREAM_COMPUTE) ==
	       SB_OK;
}

static bool lower_flags(struct sb_bench_launch *launch)
{
	unsigned value = launch->tiers.fp16x3 ? 0 : SB_NOT_FP16;

	return sb_device_check(launch->device,
			       launch->device->cu->set_words(launch->flags, value,
							     launch->flag_words, stream(launch)),
			       "setting flags") == SB_OK;
}

/* An operand as it lies becomes its panel and what fp16x3 reads. */
static bool split_raw(struct sb_bench_launch *launch, const struct sb_pack_args *pack,
		      const struct sb_split_args *split)
{
	struct sb_split_args args = *split;

	args.from = pack->from;
	args.from_i = pack->from_i;
	args.from_k = pack->from_k;
	args.panel = pack->to;
	return sb_launch_split(launch->device, &args, SB_STREAM_COMPUTE) == SB_OK;
}

bool sb_bench_launch_pack_a(struct sb_bench_launch *launch)
{
	return !launch->panel_a ||
	       sb_launch_pack(launch->device, &launch->pack_a, SB_STREAM_COMPUTE) == SB_OK;
}

bool sb_bench_launch_pack_b(struct sb_bench_launch *launch)
{
	return !launch->panel_b ||
	       sb_launch_pack(launch->device, &launch->pack_b, SB_STREAM_COMPUTE) == SB_OK;
}

bool sb_bench_launch_pack(struct sb_bench_launch *launch)
{
	if (launch->split_a.planes)
		return lower_flags(launch) &&
		       split_raw(launch, &launch->pack_a, &launch->split_a) &&
		       split_raw(launch, &launch->pack_b, &launch->split_b);
	return sb_bench_launch_pack_a(launch) && sb_bench_launch_pack_b(launch);
}

bool sb_bench_launch_split(struct sb_bench_launch *launch)
{
	if (!lower_flags(launch))
		return false;
	return !launch->tiers.fp16x3 ||
	       (sb_launch_split(launch->device, &launch->split_a, SB_STREAM_COMPUTE) == SB_OK &&
		sb_launch_split(launch->device, &launch->split_b, SB_STREAM_COMPUTE) == SB_OK);
}

bool sb_bench_launch_emulated(struct sb_bench_launch *launch)
{
	return sb_bench_launch_split(launch) && sb_bench_launch_gemm(launch);
}

bool sb_bench_launch_as_it_lies(struct sb_bench_launch *launch)
{
	return sb_bench_launch_pack(launch) &&
	       (launch->tiers.fp16x3 || sb_bench_launch_split(launch)) &&
	       sb_bench_launch_gemm(launch);
}

bool sb_bench_launch_cublas(struct sb_bench_launch *launch)
{
	return sb_peer_cublas(launch->product, launch->a, launch->b, launch->c, stream(launch));
}
