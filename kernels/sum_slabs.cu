/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C from the chains of the slabs. All warps of a block fetch, and one of them adds, for each element
 * in the order of the slabs; so the additions, which must wait for each other, wait for no memory.
 */
#include "tile.cuh"

template <int BE, int BS, int threads> struct sb_slabs {
	static constexpr int rows = threads / BE, count = BS / rows;
	static_assert(rows * BE == threads && count * rows == BS, "the threads share a chunk evenly");
	struct shared {
		float chunk[BS][BE];
	};

	/* This thread's share of slabs [s0, s0 + BS) of the elements. */
	SB_DEVICE static void load(float (&values)[count], const float *from, int64_t extent,
	                           bool exists, int s0, int slabs)
	{
		SB_UNROLL
		for (int s = 0; s < count; s++) {
			int slab = s0 + s * rows + sb_thread() / BE;

			values[s] = exists && slab < slabs ? sb_load(from + slab * extent) : 0.0f;
		}
	}

	SB_DEVICE static void run(const sb_gemm_args &args, shared &tile)
	{
		int64_t extent = (int64_t)args.m * args.n;
		int64_t element = (int64_t)sb_block() * BE + sb_thread() % BE;
		int slabs = (args.k + SB_SLAB - 1) / SB_SLAB;
		bool exists = element < extent;
		int i = (int)(args.work_i == 1 ? element % args.m : element / args.n);
		int j = (int)(args.work_i == 1 ? element / args.m : element % args.n);
		bool adds = sb_thread() < BE && exists;
		float values[count], total = adds && args.resume ? sb_left(args, i, j) : 0.0f;

		load(values, args.work + element, extent, exists, 0, slabs);
		for (int s0 = 0; s0 < slabs; s0 += BS) {
			int here = slabs - s0 < BS ? slabs - s0 : BS;

			SB_UNROLL
			for (int s = 0; s < count; s++)
				sb_put(tile.chunk, s * rows + sb_thread() / BE, sb_thread() % BE,
				       values[s]);
			sb_barrier();
			if (s0 + BS < slabs)
				load(values, args.work + element, extent, exists, s0 + BS, slabs);
			if (sb_thread() < BE)
				for (int s = 0; s < here; s++)
					total = sb_add(total, sb_get(tile.chunk, s, sb_thread()));
			sb_barrier();
		}
		if (adds)
			sb_finish(args, i, j, total);
	}
};

#define SB_METHOD_slabs 0, SB_MAKE_SUM
#include "instantiate.cuh"
