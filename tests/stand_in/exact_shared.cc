/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of the exact engine: extents, what was written, and who met whom in a word. */
#include "exact_state.h"

#include <algorithm>
#include <cstring>

void sb_exact_shared_block(sb_exact_launch *launch)
{
	size_t words = launch->shared_bytes / 4;

	memset(launch->shared, 0xff, launch->shared_bytes);
	launch->written.assign(words, sb_exact_moment());
	launch->read.assign(words * launch->warps, sb_exact_moment());
	launch->in_flight.assign(words, false);
	launch->epoch = 0;
	launch->barriers.clear();
	for (unsigned t = 0; t < launch->threads; t++) {
		std::vector<uint32_t> &seen = launch->thread[t].seen;

		seen.assign(launch->threads + SB_EXACT_COPY_BARRIERS, 0);
		seen[t] = 1;
		launch->thread[t].copies.clear();
		launch->thread[t].groups = 0;
	}
}

bool sb_exact_ordered(const sb_exact_launch *launch, const sb_exact_moment &before, int thread)
{
	return !before.happened || before.epoch < launch->epoch || before.who == thread ||
	       launch->thread[(size_t)thread].seen[before.who] >= before.clock;
}

void sb_exact_meet_block(sb_exact_launch *launch)
{
	launch->epoch++;
	for (unsigned t = 0; t < launch->threads; t++) {
		std::vector<uint32_t> &seen = launch->thread[t].seen;

		std::fill_n(seen.begin(), launch->threads, 0u);
		seen[t] = 1;
	}
}

void sb_exact_meet_warp(sb_exact_launch *launch, unsigned warp)
{
	unsigned first = warp * 32, last = std::min(first + 32, launch->threads);
	std::vector<uint32_t> all(launch->thread[first].seen);

	for (unsigned t = first + 1; t < last; t++)
		for (size_t w = 0; w < all.size(); w++)
			all[w] = std::max(all[w], launch->thread[t].seen[w]);
	for (unsigned t = first; t < last; t++) {
		launch->thread[t].seen = all;
		launch->thread[t].seen[t]++;
	}
}

void *sb_exact_shared_memory(size_t bytes, int dynamic)
{
	sb_exact_launch *launch = sb_exact_launch_now;

	/* An empty struct has a size of 1 and no words. */
	if (bytes > 1 && bytes > launch->shared_bytes)
		sb_exact_fail(SB_EXACT_LAUNCH, {"", 0},
			      "needs %zu bytes of %s shared memory, has %zu", bytes,
			      dynamic > 0 ? "dynamic" : "static", launch->shared_bytes);
	return launch->shared;
}

void sb_exact_extent(int row, int rows, int column, int columns, unsigned words, sb_exact_line line)
{
	if (row < 0 || row >= rows || column < 0 || column + (int)words > columns)
		sb_exact_fail(SB_EXACT_SHARED, line, "element [%d][%d] of an array [%d][%d]", row,
			      column, rows, columns);
	if (column % (int)words != 0)
		sb_exact_fail(SB_EXACT_SHARED, line, "column %d is no multiple of %u", column,
			      words);
}

/* Now, as the thread's own clock has it. */
static sb_exact_moment moment(const sb_exact_launch *launch, int thread)
{
	return {launch->epoch, launch->thread[(size_t)thread].seen[(size_t)thread],
		(uint16_t)thread, true};
}

static void read_word(sb_exact_launch *launch, size_t word, int thread, sb_exact_line line)
{
	const sb_exact_moment &written = launch->written[word];

	if (launch->in_flight[word])
		sb_exact_fail(SB_EXACT_RACE, line, "read while a copy into it is in flight");
	if (!written.happened)
		sb_exact_fail(SB_EXACT_UNINITIALISED, line, "shared byte %zu was never written",
			      word * 4);
	if (!sb_exact_ordered(launch, written, thread))
		sb_exact_fail(SB_EXACT_RACE, line,
			      "read without a barrier after the write by %s %d",
			      written.who < launch->threads ? "thread" : "copy barrier",
			      written.who < launch->threads ? written.who
							    : written.who - (int)launch->threads);
	launch->read[word * launch->warps + (size_t)thread / 32] = moment(launch, thread);
}

static void write_word(sb_exact_launch *launch, size_t word, int thread, sb_exact_line line)
{
	const sb_exact_moment &written = launch->written[word];

	if (launch->in_flight[word])
		sb_exact_fail(SB_EXACT_RACE, line, "written while a copy is in flight");
	if (!sb_exact_ordered(launch, written, thread))
		sb_exact_fail(SB_EXACT_RACE, line,
			      "written without a barrier after the write by %d", written.who);
	for (size_t w = word * launch->warps; w < (word + 1) * launch->warps; w++)
		if (!sb_exact_ordered(launch, launch->read[w], thread))
			sb_exact_fail(SB_EXACT_RACE, line,
				      "written without a barrier after the read by thread %d",
				      launch->read[w].who);
}

void sb_exact_shared(const void *p, unsigned bytes, bool write, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	int thread = sb_exact_now.thread;
	size_t offset = (size_t)(static_cast<const unsigned char *>(p) - launch->shared);

	if (offset % bytes != 0)
		sb_exact_fail(SB_EXACT_SHARED, line, "%u bytes at %zu", bytes, offset);
	if (offset + bytes > launch->shared_bytes)
		sb_exact_fail(SB_EXACT_SHARED, line, "beyond the block's %zu bytes",
			      launch->shared_bytes);
	for (size_t word = offset / 4; word < (offset + bytes) / 4; word++) {
		if (write) {
			write_word(launch, word, thread, line);
			launch->written[word] = moment(launch, thread);
		} else {
			read_word(launch, word, thread, line);
		}
	}
	if (launch->counts != nullptr)
		sb_exact_count(launch, true, p, bytes, write, line);
}

void sb_exact_copy_asked(sb_exact_launch *launch, size_t first, size_t last, sb_exact_line line)
{
	for (size_t word = first; word < last; word++) {
		write_word(launch, word, sb_exact_now.thread, line);
		launch->in_flight[word] = true;
	}
}

void sb_exact_copy_landed(sb_exact_launch *launch, size_t first, size_t last, size_t barrier)
{
	/* Ordered for those alone who waited for this phase, or met them since. */
	sb_exact_moment now = {launch->epoch, launch->barriers[barrier].phase + 1,
			       (uint16_t)(launch->threads + barrier), true};

	for (size_t word = first; word < last; word++) {
		launch->in_flight[word] = false;
		launch->written[word] = now;
	}
}

void sb_exact_async_landed(sb_exact_launch *launch, size_t first, size_t last)
{
	for (size_t word = first; word < last; word++) {
		launch->in_flight[word] = false;
		launch->written[word] = moment(launch, sb_exact_now.thread);
	}
}
