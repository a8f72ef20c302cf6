/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operand on its way into shared memory by asynchronous copies, whatever its strides and
 * alignment; see gather.
 */
#ifndef SB_GATHER_CUH
#define SB_GATHER_CUH

#include "quads.cuh"

/*
 * One operand, and what of it the thread copies: of each AK rows of k one, there every
 * AI-th word or four. Loops that are not unrolled, since what they count would fill the
 * registers.
 */
template <int width, int BK, int threads, int stages, bool turns> struct sb_gathered {
	/* Rows are four words longer than they need be: a store of 8 along k by 4 meets no
	 * conflict. */
	static constexpr int gap = 4;
	/* Tiles as [k][i], or turned, as [i][k]. */
	union panel {
		alignas(16) float along[stages * BK][width + gap];
		alignas(16) float across[turns ? stages * width : 1][BK + gap];
	};
	static_assert(width % 8 == 0 && threads % 32 == 0 && threads <= 8 * width, "");
	/* Fours along i, if they go round; fours along k; words along i; 8 words along k.
	 */
	static constexpr bool may_wide = width / 4 <= threads && threads % (width / 4) == 0;
	static constexpr int wide_i = may_wide ? width : 8;
	static constexpr int turned_i = threads * 4 / BK;
	static constexpr int along_i = width % threads == 0   ? threads
				       : threads % width == 0 ? width
							      : 8;
	static constexpr int across_i = threads / 8;
	static_assert(width % across_i == 0, "the threads share a step evenly");
	static_assert((!may_wide || threads * 4 / wide_i <= BK) && threads / along_i <= BK, "");

	const float *at;
	int64_t stride_i, stride_k;
	int i, k;	   /* of the thread's first word in a step */
	int extent, depth; /* what is left of the operand from this tile and step on */
	bool along, wide, turned;

	SB_DEVICE sb_gathered(const sb_operand &from, int corner)
	{
		int t = sb_thread();

		along = from.stride_i == 1;
		wide = may_wide && sb_wide_along(from);
		turned = turns && !along && sb_wide_across(from);
		i = wide ? t * 4 % wide_i : turned ? t * 4 / BK : along ? t % along_i : t / 8;
		k = wide ? t * 4 / wide_i : turned ? t * 4 % BK : along ? t / along_i : t % 8;
		at = sb_at(from, corner + i, k);
		stride_i = from.stride_i;
		stride_k = from.stride_k;
		extent = from.extent - corner - i;
		depth = from.depth - k;
	}

	template <int AI, int AK> SB_DEVICE void fetch_words(panel &to, int stage, int deep)
	{
		SB_ROLLED
		for (int dk = 0; dk < deep; dk += AK) {
			const float *from = at;

			SB_UNROLL_BY(SB_GATHER_UNROLL)
			for (int di = 0; di < width; di += AI) {
				sb_async_fill(to.along, stage * BK + k + dk, i + di, from,
					      di < extent && dk < depth);
				from += AI * stride_i;
			}
			at += AK * stride_k;
		}
	}

	SB_DEVICE void fetch_along(panel &to, int stage, int deep)
	{
		constexpr int AK = threads * 4 / wide_i;
		int count = least(extent);

		SB_UNROLL_BY(SB_GATHER_UNROLL)
		for (int dk = 0; dk < deep; dk += AK) {
			sb_async_fill4(to.along, stage * BK + k + dk, i, at,
				       dk < depth ? count : 0);
			at += AK * stride_k;
		}
	}

	SB_DEVICE void fetch_across(panel &to, int stage)
	{
		const float *from = at;
		int count = least(depth);

		SB_UNROLL_BY(SB_GATHER_UNROLL)
		for (int di = 0; di < width; di += turned_i) {
			if (width % turned_i == 0 || i + di < width)
				sb_async_fill4(to.across, stage * width + i + di, k, from,
					       di < extent ? count : 0);
			from += turned_i * stride_i;
		}
		at += BK * stride_k;
	}

	SB_DEVICE static int least(int left)
	{
		return left < 0 ? 0 : left < 4 ? left : 4;
	}

	/* The next step into the stage, as far as it is `deep`, if not turned. */
	SB_DEVICE void fetch(panel &to, int stage, int deep)
	{
		if (wide)
			fetch_along(to, stage, deep);
		else if (turned)
			fetch_across(to, stage);
		else if (along)
			fetch_words<along_i, threads / along_i>(to, stage, deep);
		else
			fetch_words<across_i, 8>(to, stage, deep);
		depth -= BK;
	}
};

#endif
