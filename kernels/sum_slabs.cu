/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C from the chains of the slabs, for each element in their order; or from the sums of the chunks of
 * an emulated product whose k is cut (args.h). Of few elements all warps of a block fetch and one
 * adds; so the additions, which must wait for each other, wait for no memory. Where a block has as
 * many elements as threads, each adds up what it has fetched itself.
 */
#include "tile.cuh"

template <int BE, int BS, int threads> struct sb_slabs {
	static constexpr int rows = threads / BE, count = BS / rows;
	static_assert(rows * BE == threads && count * rows == BS, "the threads share a chunk evenly");
	/* Or each thread has an element of its own. */
	static constexpr bool alone = rows == 1;
	struct shared {
		float chunk[alone ? 1 : BS][BE];
	};

	/* This thread's share of slabs [s0, s0 + BS) of the elements. */
	SB_DEVICE static void load(float (&values)[count], const float *from, int64_t extent,
	                           bool exists, int s0, int slabs)
	{
		from += (int64_t)(s0 + sb_thread() / BE) * extent;
		SB_UNROLL
		for (int s = 0; s < count; s++, from += rows * extent) {
			int slab = s0 + s * rows + sb_thread() / BE;

			values[s] = exists && slab < slabs ? sb_load(from) : 0.0f;
		}
	}

	/* Each thread the sum of its own element; `count` of its chains are on their way at once. */
	SB_DEVICE static float add_alone(const float *from, int64_t extent, int slabs, float total)
	{
		SB_ROLLED
		for (; slabs > 0; slabs -= count) {
			float values[count];

			SB_UNROLL
			for (int s = 0; s < count; s++, from += extent)
				if (s < slabs)
					values[s] = sb_load(from);
			SB_UNROLL
			for (int s = 0; s < count; s++)
				if (s < slabs)
					total = sb_add(total, values[s]);
		}
		return total;
	}

	SB_DEVICE static float add_together(const sb_gemm_args &args, shared &tile, int64_t element,
	                                    int64_t extent, bool exists, int slabs, float total)
	{
		const float *from = args.work + element;
		float values[count];

		load(values, from, extent, exists, 0, slabs);
		for (int s0 = 0; s0 < slabs; s0 += BS) {
			int here = slabs - s0 < BS ? slabs - s0 : BS;

			SB_UNROLL
			for (int s = 0; s < count; s++)
				sb_put(tile.chunk, s * rows + sb_thread() / BE, sb_thread() % BE,
				       values[s]);
			sb_barrier();
			if (s0 + BS < slabs)
				load(values, from, extent, exists, s0 + BS, slabs);
			if (sb_thread() < BE)
				for (int s = 0; s < here; s++)
					total = sb_add(total, sb_get(tile.chunk, s, sb_thread()));
			sb_barrier();
		}
		return total;
	}

	/* Of an emulated product, an element whose tile the strict kernel computes. */
	SB_DEVICE static bool left_alone(const sb_gemm_args &args, int i, int j)
	{
		return args.part && args.flags_a && i < args.m && j < args.n &&
		       (sb_tile_flags(args, i / 128, j / 128) & SB_NOT_BF16);
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tile)
	{
		static_assert(alone || BE == 32, "a warp has one of each element");
		int64_t extent = (int64_t)args.m * args.n;
		int64_t element = (int64_t)sb_block() * BE + sb_thread() % BE;
		int length = args.part ? args.chunk : SB_SLAB;
		int slabs = (args.k + length - 1) / length;
		int side = args.work_i == 1 ? args.m : args.n;
		/* Division of 64 bits takes longer than all else here. */
		bool small = extent <= INT32_MAX;
		int other = (int)(small ? (int)element / side : element / side);
		int along = (int)(element - (int64_t)other * side);
		int i = args.work_i == 1 ? along : other, j = args.work_i == 1 ? other : along;
		bool exists = element < extent && !left_alone(args, i, j);

		/* Where not each thread has an element, all warps have the same ones. */
		if (!sb_warp_any(exists))
			return;
		bool adds = sb_thread() < BE && exists;
		float total = adds && args.resume ? sb_left(args, i, j) : 0.0f;

		if (!alone)
			total = add_together(args, tile, element, extent, exists, slabs, total);
		else if (adds)
			total = add_alone(args.work + element, extent, slabs, total);
		if (adds)
			sb_finish(args, i, j, total);
	}
};

#define SB_METHOD_slabs 0, SB_MAKE_SUM
#include "instantiate.cuh"
