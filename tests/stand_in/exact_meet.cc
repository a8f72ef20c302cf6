/* SPDX-License-Identifier: BSD-3-Clause */
/* The barriers of the exact engine: who has met, and what they know of each other then. */
#include "exact_state.h"

#include <algorithm>

/* How many of the fibers [first, last) have not ended, if all those wait for `waits`; else 0. */
static unsigned all_at(const sb_exact_launch *launch, unsigned first, unsigned last,
		       sb_exact_waits waits)
{
	unsigned live = 0;

	for (unsigned f = first; f < last; f++) {
		if (launch->thread[f].waits == SB_ENDED)
			continue;
		if (launch->thread[f].waits != waits)
			return 0;
		live++;
	}
	return live;
}

static void run(sb_exact_launch *launch, unsigned first, unsigned last, sb_exact_waits waits)
{
	for (unsigned f = first; f < last; f++)
		if (launch->thread[f].waits == waits)
			launch->thread[f].waits = SB_RUNS;
}

/* All fibers: what was before is another epoch. */
static void meet_all(sb_exact_launch *launch)
{
	launch->epoch++;
	for (unsigned f = 0; f < launch->fibers; f++) {
		std::vector<uint32_t> &seen = launch->thread[f].seen;

		std::fill_n(seen.begin(), launch->fibers, 0u);
		seen[f] = 1;
	}
}

/* Some fibers: each learns what any of them had seen. */
static void meet(sb_exact_launch *launch, const std::vector<unsigned> &fibers)
{
	std::vector<uint32_t> all(launch->thread[fibers[0]].seen);

	for (unsigned f : fibers)
		for (size_t w = 0; w < all.size(); w++)
			all[w] = std::max(all[w], launch->thread[f].seen[w]);
	for (unsigned f : fibers) {
		launch->thread[f].seen = all;
		launch->thread[f].seen[f]++;
	}
}

static void meet(sb_exact_launch *launch, unsigned first, unsigned last)
{
	std::vector<unsigned> fibers;

	for (unsigned f = first; f < last; f++)
		fibers.push_back(f);
	meet(launch, fibers);
}

static void count_barrier(sb_exact_launch *launch)
{
	if (launch->counts == nullptr)
		return;
	launch->counts->barriers++;
	sb_exact_count_close(launch);
}

static bool release_block(sb_exact_launch *launch, unsigned rank)
{
	unsigned first = rank * launch->threads, last = first + launch->threads;

	if (all_at(launch, first, last, SB_AT_BARRIER) == 0)
		return false;
	if (launch->together == 1)
		meet_all(launch);
	else
		meet(launch, first, last);
	count_barrier(launch);
	run(launch, first, last, SB_AT_BARRIER);
	return true;
}

/* Those at a numbered barrier of a block, once there are as many as it waits for. */
static bool release_groups(sb_exact_launch *launch, unsigned rank)
{
	std::vector<unsigned> fibers[16];
	bool any = false;

	for (unsigned f = rank * launch->threads; f < (rank + 1) * launch->threads; f++)
		if (launch->thread[f].waits == SB_AT_GROUP_BARRIER)
			fibers[launch->thread[f].group].push_back(f);
	for (const std::vector<unsigned> &group : fibers) {
		if (group.empty() || group.size() < launch->thread[group[0]].group_threads)
			continue;
		for (unsigned f : group)
			if (launch->thread[f].group_threads != group.size())
				sb_exact_fail(SB_EXACT_DEADLOCK, {"", 0},
					      "%zu threads at barrier %u, which waits for %u",
					      group.size(), launch->thread[f].group,
					      launch->thread[f].group_threads);
		meet(launch, group);
		for (unsigned f : group)
			launch->thread[f].waits = SB_RUNS;
		any = true;
	}
	return any;
}

/* A warp whose lanes all exchange: they do it at once, and know no more of each other's memory. */
static bool release_exchange(sb_exact_launch *launch, unsigned first, unsigned last)
{
	void *lanes[32];

	if (last - first != 32 || all_at(launch, first, last, SB_AT_EXCHANGE) != 32)
		return false;
	for (unsigned f = first; f < last; f++) {
		if (launch->thread[f].exchange != launch->thread[first].exchange)
			sb_exact_fail(SB_EXACT_DEADLOCK, {"", 0},
				      "the lanes of a warp exchange by different functions");
		lanes[f - first] = launch->thread[f].exchanged;
	}
	if (launch->result == SB_EXACT_OK)
		launch->thread[first].exchange(lanes);
	run(launch, first, last, SB_AT_EXCHANGE);
	return true;
}

static bool release_warps(sb_exact_launch *launch)
{
	bool any = false;

	for (unsigned first = 0; first < launch->fibers; first += 32) {
		unsigned last = std::min(first + 32, launch->fibers);

		any = release_exchange(launch, first, last) || any;
		if (all_at(launch, first, last, SB_AT_WARP_BARRIER) == 0)
			continue;
		any = true;
		meet(launch, first, last);
		run(launch, first, last, SB_AT_WARP_BARRIER);
	}
	return any;
}

bool sb_exact_release(sb_exact_launch *launch)
{
	bool any = false;

	if (all_at(launch, 0, launch->fibers, SB_AT_CLUSTER_BARRIER) > 0) {
		meet_all(launch);
		count_barrier(launch);
		run(launch, 0, launch->fibers, SB_AT_CLUSTER_BARRIER);
		return true;
	}
	for (unsigned rank = 0; rank < launch->together; rank++) {
		any = release_block(launch, rank) || any;
		any = release_groups(launch, rank) || any;
	}
	any = release_warps(launch) || any;
	return sb_exact_products_release(launch) || any;
}
