/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copy barriers and bulk copies of the exact engine. A copy reads its source when a thread waits
 * for it and not before; from when it is asked for until then its destination belongs to nobody.
 */
#include "exact_state.h"
#include "exact_calls.h"
#include "tensor_map.h"

#include <algorithm>
#include <cstring>

static const char ended[] = "the other block of the cluster may have ended";

/* The barrier at that place in the shared memory of the cluster's block number `rank`. */
static sb_exact_copy_barrier *find(uint64_t *barrier, int rank, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	size_t offset = sb_exact_offset(barrier, sizeof *barrier, line) % launch->stride;

	if (rank < 0 || rank >= (int)launch->together)
		sb_exact_fail(SB_EXACT_COPY, line, "no block of rank %d in the cluster", rank);
	offset += (size_t)rank * launch->stride;
	for (sb_exact_copy_barrier &b : launch->barriers)
		if (b.offset == offset && sb_exact_ordered(launch, b.made, sb_exact_now.fiber))
			return &b;
	sb_exact_fail(SB_EXACT_COPY, line, "no copy barrier was made at shared byte %zu of rank %d",
		      offset % launch->stride, rank);
	return nullptr;
}

static sb_exact_copy_barrier *find(uint64_t *barrier, sb_exact_line line)
{
	return find(barrier, sb_exact_now.rank, line);
}

static bool lives(const sb_exact_launch *launch, int rank)
{
	for (const sb_exact_thread &thread : launch->thread)
		if ((int)thread.rank == rank && thread.waits != SB_ENDED)
			return true;
	return false;
}

static size_t number(const sb_exact_copy_barrier *barrier)
{
	return (size_t)(barrier - sb_exact_launch_now->barriers.data());
}

void sb_exact_copy_init(uint64_t *barrier, unsigned arrivals, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	size_t offset = sb_exact_offset(barrier, sizeof *barrier, line);

	if (offset % 8 != 0)
		sb_exact_fail(SB_EXACT_SHARED, line, "a copy barrier at shared byte %zu", offset);
	if (launch->barriers.size() == SB_EXACT_COPY_BARRIERS || arrivals == 0)
		sb_exact_fail(SB_EXACT_COPY, line, "too many copy barriers, or no arrivals");
	launch->barriers.push_back({offset,
				    arrivals,
				    arrivals,
				    sb_exact_moment_of(launch, sb_exact_now.fiber),
				    0,
				    0,
				    false,
				    0,
				    {},
				    {},
				    {}});
}

void sb_exact_copy_publish()
{
	sb_exact_launch *launch = sb_exact_launch_now;

	for (sb_exact_copy_barrier &barrier : launch->barriers)
		if (barrier.offset / launch->stride == (size_t)sb_exact_now.rank)
			barrier.published = true;
}

/* Ends the phase if nothing is missing: what its arrivals had seen, those who wait will see. */
static void complete(sb_exact_copy_barrier *barrier)
{
	if (barrier->pending != 0 || barrier->expected != 0)
		return;
	barrier->completed = barrier->seen;
	barrier->seen.clear();
	barrier->phase++;
	barrier->pending = barrier->arrivals;
}

static void arrive(sb_exact_copy_barrier *barrier, unsigned bytes, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	std::vector<uint32_t> &mine = sb_exact_self().seen;

	if (barrier->pending == 0)
		sb_exact_fail(SB_EXACT_COPY, line, "an arrival more than the phase expects");
	if (barrier->epoch != launch->epoch) {
		barrier->epoch = launch->epoch;
		barrier->seen.clear();
		barrier->completed.clear();
	}
	barrier->seen.resize(mine.size());
	for (size_t w = 0; w < mine.size(); w++)
		barrier->seen[w] = std::max(barrier->seen[w], mine[w]);
	mine[(size_t)sb_exact_now.fiber]++;
	barrier->expected += bytes;
	barrier->pending--;
	complete(barrier);
}

void sb_exact_copy_arrive(uint64_t *barrier, sb_exact_line line)
{
	arrive(find(barrier, line), 0, line);
}

void sb_exact_copy_arrive_at(uint64_t *barrier, int rank, sb_exact_line line)
{
	sb_exact_copy_barrier *b = find(barrier, rank, line);

	if (!lives(sb_exact_launch_now, rank))
		sb_exact_fail(SB_EXACT_COPY, line, ended);
	arrive(b, 0, line);
}

void sb_exact_copy_expect(uint64_t *barrier, unsigned bytes, sb_exact_line line)
{
	sb_exact_copy_barrier *b = find(barrier, line);

	if (bytes == 0)
		sb_exact_fail(SB_EXACT_COPY, line, "a copy of nothing");
	arrive(b, bytes, line);
}

void sb_exact_copy_box(float *to, int rows, int columns, const sb_tensor_map *map, int x, int y,
		       uint64_t *barrier, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	sb_exact_copy_barrier *b = find(barrier, line);
	size_t bytes = (size_t)rows * (size_t)columns * 4;
	size_t offset = sb_exact_offset(to, bytes, line);
	sb_stand_in_map m;

	memcpy(&m, map->opaque, sizeof m);
	if (!b->published)
		sb_exact_fail(SB_EXACT_COPY, line, "the copy engine has not seen the barrier");
	if (m.magic != SB_TENSOR_MAP_MAGIC || m.rank != 2 || m.swizzle != 0)
		sb_exact_fail(SB_EXACT_COPY, line, "no tensor map of rank 2 without swizzle");
	if (m.box[0] != columns || m.box[1] != rows)
		sb_exact_fail(SB_EXACT_COPY, line, "the map's box is %dx%d, the tile %dx%d",
			      (int)m.box[0], (int)m.box[1], columns, rows);
	if (offset % 128 != 0)
		sb_exact_fail(SB_EXACT_COPY, line, "a copy of %zu bytes to shared byte %zu", bytes,
			      offset);
	sb_exact_copy_asked(launch, offset / 4, (offset + bytes) / 4, line);
	b->copies.push_back({offset, bytes, rows, columns, *map, x, y, nullptr});
}

void sb_exact_copy_piece(void *to, const void *from, unsigned bytes, uint64_t *barrier,
			 unsigned mask, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	size_t offset = sb_exact_offset(to, bytes, line) % launch->stride;

	if (bytes == 0 || bytes % 16 != 0 || offset % 16 != 0 ||
	    reinterpret_cast<uintptr_t>(from) % 16 != 0)
		sb_exact_fail(SB_EXACT_COPY, line, "a copy of %u bytes from %p to shared byte %zu",
			      bytes, from, offset);
	if (mask == 0 || mask >> launch->together != 0)
		sb_exact_fail(SB_EXACT_COPY, line, "a copy to the blocks of mask %u", mask);
	for (int rank = 0; rank < (int)launch->together; rank++) {
		size_t there = offset + (size_t)rank * launch->stride;

		if (!(mask >> rank & 1))
			continue;
		sb_exact_copy_barrier *b = find(barrier, rank, line);

		if (!b->published)
			sb_exact_fail(SB_EXACT_COPY, line,
				      "the copy engine has not seen the barrier");
		if (!lives(launch, rank))
			sb_exact_fail(SB_EXACT_COPY, line, ended);
		sb_exact_copy_asked(launch, there / 4, (there + bytes) / 4, line);
		b->copies.push_back({there, bytes, 0, 0, sb_tensor_map(), 0, 0, from});
	}
}

static bool may_copy(sb_exact_launch *launch, const void *from, size_t bytes)
{
	if (launch->memory->check(launch->memory->context, from, bytes, false))
		return true;
	sb_exact_fail(SB_EXACT_GLOBAL, {"", 0},
		      "a bulk copy reads %zu bytes at %p, which it may not", bytes, from);
	return false;
}

static bool land_box(sb_exact_launch *launch, const sb_exact_copy &copy)
{
	float *to = reinterpret_cast<float *>(launch->shared + copy.offset);
	sb_stand_in_map m;

	memcpy(&m, copy.map.opaque, sizeof m);
	for (int r = 0; r < copy.rows; r++) {
		float *row = to + (size_t)r * (size_t)copy.columns;
		int64_t y = (int64_t)copy.y + r;
		int64_t first = std::max<int64_t>(copy.x, 0);
		int64_t last =
			std::min<int64_t>((int64_t)copy.x + copy.columns, (int64_t)m.size[0]);

		std::fill_n(row, copy.columns, 0.0f);
		if (y < 0 || y >= (int64_t)m.size[1] || first >= last)
			continue;
		const unsigned char *from = reinterpret_cast<const unsigned char *>(m.address) +
					    (uint64_t)y * m.stride[0] + (uint64_t)first * 4;
		size_t bytes = (size_t)(last - first) * 4;
		if (!may_copy(launch, from, bytes))
			return false;
		memcpy(row + (first - copy.x), from, bytes);
	}
	return true;
}

static bool land(sb_exact_launch *launch, size_t barrier, const sb_exact_copy &copy)
{
	if (copy.rows > 0) {
		if (!land_box(launch, copy))
			return false;
	} else {
		if (!may_copy(launch, copy.from, copy.bytes))
			return false;
		memcpy(launch->shared + copy.offset, copy.from, copy.bytes);
	}
	sb_exact_copy_landed(launch, copy.offset / 4, (copy.offset + copy.bytes) / 4, barrier);
	return true;
}

bool sb_exact_copy_poll(sb_exact_launch *launch, size_t barrier, unsigned parity, int fiber)
{
	sb_exact_copy_barrier *b = &launch->barriers[barrier];
	std::vector<uint32_t> &mine = launch->thread[(size_t)fiber].seen;

	if (b->phase % 2 == parity && b->pending == 0) {
		size_t bytes = 0;

		for (const sb_exact_copy &copy : b->copies)
			bytes += copy.bytes;
		if (bytes > b->expected)
			sb_exact_fail(SB_EXACT_COPY, {"", 0},
				      "%zu bytes copied where %u are expected", bytes, b->expected);
		if (bytes != b->expected)
			return false; /* or not yet all asked for */
		/* The last asked for comes first. */
		while (!b->copies.empty()) {
			if (!land(launch, barrier, b->copies.back()))
				return false;
			b->copies.pop_back();
		}
		if (launch->counts != nullptr) {
			launch->counts->copies++;
			launch->counts->copied_bytes += bytes;
		}
		b->expected = 0;
		complete(b);
	}
	if (b->phase % 2 == parity)
		return false;
	if (b->epoch == launch->epoch)
		for (size_t w = 0; w < b->completed.size(); w++)
			mine[w] = std::max(mine[w], b->completed[w]);
	size_t id = sb_exact_id_of_barrier(launch, barrier);

	mine[id] = std::max(mine[id], b->phase);
	return true;
}

void sb_exact_copy_wait(uint64_t *barrier, unsigned parity, sb_exact_line line)
{
	sb_exact_thread &self = sb_exact_self();

	self.barrier = number(find(barrier, line));
	self.parity = parity;
	sb_exact_wait(SB_AT_COPY);
}

bool sb_exact_copy_idle(const sb_exact_launch *launch)
{
	for (const sb_exact_copy_barrier &barrier : launch->barriers)
		if (!barrier.copies.empty())
			return false;
	for (const sb_exact_thread &thread : launch->thread)
		if (!thread.copies.empty())
			return false;
	return true;
}
