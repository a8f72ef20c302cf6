/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of the exact engine: extents, what was written, and who met whom in a word. */
#include "exact_state.h"

#include <algorithm>
#include <cstring>

void sb_exact_shared_begin(sb_exact_launch *launch)
{
	size_t words = launch->stride * launch->together / 4;
	size_t ids = sb_exact_id_of_warpgroup(launch, launch->warpgroups);

	memset(launch->shared, 0xff, launch->stride * launch->together);
	launch->written.assign(words, sb_exact_moment());
	launch->read.assign(words * sb_exact_readers(launch), sb_exact_moment());
	launch->in_flight.assign(words, false);
	launch->multiplied.assign(launch->warpgroups > 0 ? words : 0, 0);
	launch->epoch = 0;
	launch->barriers.clear();
	for (unsigned f = 0; f < launch->fibers; f++) {
		launch->thread[f].seen.assign(ids, 0);
		launch->thread[f].seen[f] = 1;
		launch->thread[f].copies.clear();
		launch->thread[f].groups = 0;
	}
}

bool sb_exact_ordered(const sb_exact_launch *launch, const sb_exact_moment &before, int fiber)
{
	return !before.happened || before.epoch < launch->epoch || before.who == fiber ||
	       launch->thread[(size_t)fiber].seen[before.who] >= before.clock;
}

size_t sb_exact_offset(const void *p, size_t bytes, sb_exact_line line)
{
	const sb_exact_launch *launch = sb_exact_launch_now;
	size_t begin = (size_t)sb_exact_now.rank * launch->stride;
	size_t offset = (size_t)(static_cast<const unsigned char *>(p) - launch->shared) - begin;

	if (offset > launch->shared_bytes || offset + bytes > launch->shared_bytes)
		sb_exact_fail(SB_EXACT_SHARED, line, "beyond the block's %zu bytes",
			      launch->shared_bytes);
	return begin + offset;
}

void *sb_exact_shared_memory(size_t bytes, int dynamic)
{
	sb_exact_launch *launch = sb_exact_launch_now;

	/* An empty struct has a size of 1 and no words. */
	if (bytes > 1 && bytes > launch->shared_bytes)
		sb_exact_fail(SB_EXACT_LAUNCH, {"", 0},
			      "needs %zu bytes of %s shared memory, has %zu", bytes,
			      dynamic > 0 ? "dynamic" : "static", launch->shared_bytes);
	return launch->shared + (size_t)sb_exact_now.rank * launch->stride;
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

sb_exact_moment sb_exact_moment_of(const sb_exact_launch *launch, int fiber)
{
	return {launch->epoch, launch->thread[(size_t)fiber].seen[(size_t)fiber], (uint16_t)fiber,
		true};
}

static const char *kind_of(const sb_exact_launch *launch, size_t who)
{
	return who < launch->fibers			   ? "thread"
	       : who < sb_exact_id_of_warpgroup(launch, 0) ? "copy barrier"
							   : "warpgroup";
}

/* Its number among its kind; of threads, in the block. */
static size_t number_of(const sb_exact_launch *launch, size_t who)
{
	return who < launch->fibers ? who % launch->threads
	       : who < sb_exact_id_of_warpgroup(launch, 0)
		       ? who - launch->fibers
		       : who - sb_exact_id_of_warpgroup(launch, 0);
}

/* What a fiber reads, itself or through a product, must be there. */
static void may_read(sb_exact_launch *launch, size_t word, int fiber, sb_exact_line line)
{
	const sb_exact_moment &written = launch->written[word];

	if (launch->in_flight[word])
		sb_exact_fail(SB_EXACT_RACE, line, "read while a copy into it is in flight");
	if (!written.happened)
		sb_exact_fail(SB_EXACT_UNINITIALISED, line, "shared byte %zu was never written",
			      word * 4);
	if (!sb_exact_ordered(launch, written, fiber))
		sb_exact_fail(SB_EXACT_RACE, line,
			      "read without a barrier after the write by %s %zu",
			      kind_of(launch, written.who), number_of(launch, written.who));
}

static void may_write(sb_exact_launch *launch, size_t word, int fiber, sb_exact_line line)
{
	const sb_exact_moment &written = launch->written[word];
	size_t readers = sb_exact_readers(launch);

	if (launch->in_flight[word])
		sb_exact_fail(SB_EXACT_RACE, line, "written while a copy is in flight");
	if (launch->warpgroups > 0 && launch->multiplied[word] > 0)
		sb_exact_fail(SB_EXACT_RACE, line,
			      "written while a product that was not waited for reads it");
	if (!sb_exact_ordered(launch, written, fiber))
		sb_exact_fail(SB_EXACT_RACE, line,
			      "written without a barrier after the write by %s %zu",
			      kind_of(launch, written.who), number_of(launch, written.who));
	for (size_t r = word * readers; r < (word + 1) * readers; r++)
		if (!sb_exact_ordered(launch, launch->read[r], fiber))
			sb_exact_fail(SB_EXACT_RACE, line,
				      "written without a barrier after the read by %s %zu",
				      kind_of(launch, launch->read[r].who),
				      number_of(launch, launch->read[r].who));
}

void sb_exact_shared(const void *p, unsigned bytes, bool write, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	int fiber = sb_exact_now.fiber;
	size_t offset = sb_exact_offset(p, bytes, line);
	size_t warp = (size_t)sb_exact_now.thread / 32;

	if (offset % bytes != 0)
		sb_exact_fail(SB_EXACT_SHARED, line, "%u bytes at %zu", bytes, offset);
	for (size_t word = offset / 4; word < (offset + bytes) / 4; word++) {
		if (write) {
			may_write(launch, word, fiber, line);
			launch->written[word] = sb_exact_moment_of(launch, fiber);
		} else {
			may_read(launch, word, fiber, line);
			launch->read[word * sb_exact_readers(launch) + warp] =
				sb_exact_moment_of(launch, fiber);
		}
	}
	if (launch->counts != nullptr)
		sb_exact_count(launch, true, p, bytes, write, line);
}

void sb_exact_copy_asked(sb_exact_launch *launch, size_t first, size_t last, sb_exact_line line)
{
	for (size_t word = first; word < last; word++) {
		may_write(launch, word, sb_exact_now.fiber, line);
		launch->in_flight[word] = true;
	}
}

void sb_exact_copy_landed(sb_exact_launch *launch, size_t first, size_t last, size_t barrier)
{
	/* Ordered for those alone who waited for this phase, or met them since. */
	sb_exact_moment now = {launch->epoch, launch->barriers[barrier].phase + 1,
			       (uint16_t)sb_exact_id_of_barrier(launch, barrier), true};

	for (size_t word = first; word < last; word++) {
		launch->in_flight[word] = false;
		launch->written[word] = now;
	}
}

void sb_exact_async_landed(sb_exact_launch *launch, size_t first, size_t last)
{
	for (size_t word = first; word < last; word++) {
		launch->in_flight[word] = false;
		launch->written[word] = sb_exact_moment_of(launch, sb_exact_now.fiber);
	}
}

/* Whether the writer has made what it wrote visible to the tensor core, as the fiber knows. */
static bool fenced(const sb_exact_launch *launch, const sb_exact_moment &written, int fiber)
{
	const auto &fences = launch->thread[written.who].fences;
	auto first = std::lower_bound(fences.begin(), fences.end(),
				      std::make_pair(written.epoch, written.clock));

	return first != fences.end() &&
	       (written.who == fiber || first->first < launch->epoch ||
		launch->thread[(size_t)fiber].seen[written.who] > first->second);
}

void sb_exact_product_may_read(sb_exact_launch *launch, size_t first, size_t last,
			       sb_exact_line line)
{
	sb_exact_moment before = sb_exact_moment();
	int fiber = sb_exact_now.fiber;

	for (size_t word = first; word < last; word++) {
		const sb_exact_moment &written = launch->written[word];

		/* Most words have been written at once with the one before. */
		if (before.happened && written.happened && written.who == before.who &&
		    written.clock == before.clock && written.epoch == before.epoch &&
		    !launch->in_flight[word])
			continue;
		may_read(launch, word, fiber, line);
		if (written.who < launch->fibers && !fenced(launch, written, fiber))
			sb_exact_fail(SB_EXACT_RACE, line,
				      "the tensor core may not see what thread %zu wrote: no "
				      "fence before the barrier",
				      number_of(launch, written.who));
		before = written;
	}
}

void sb_exact_product_read(sb_exact_launch *launch, size_t first, size_t last, size_t warpgroup,
			   uint32_t clock)
{
	sb_exact_moment now = {launch->epoch, clock,
			       (uint16_t)sb_exact_id_of_warpgroup(launch, warpgroup), true};

	for (size_t word = first; word < last; word++) {
		launch->read[word * sb_exact_readers(launch) + launch->warps + warpgroup] = now;
		launch->multiplied[word]--;
	}
}
