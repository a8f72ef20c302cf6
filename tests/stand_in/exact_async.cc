/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous copies that threads make for themselves, in groups. A copy reads its source when its
 * thread waits for its group and not before; from when it is asked for until then its destination
 * belongs to nobody, and afterwards it is a write of that thread, for others to see by a barrier.
 */
#include "exact_state.h"

#include <cstring>

void sb_exact_async_copy(float *to, const float *from, unsigned bytes, unsigned whole,
			 sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	size_t offset = sb_exact_offset(to, whole, line);

	if (bytes > 0 && (uintptr_t)from % whole != 0)
		sb_exact_fail(SB_EXACT_GLOBAL, line, "a copy of %u bytes from %p", whole,
			      (const void *)from);
	for (unsigned word = 0; word < bytes; word += whole == bytes ? bytes : 4)
		sb_exact_global(from + word / 4, whole == bytes ? bytes : 4, false, line);
	if (offset % whole != 0)
		sb_exact_fail(SB_EXACT_SHARED, line, "a copy of %u bytes to shared byte %zu", whole,
			      offset);
	sb_exact_copy_asked(launch, offset / 4, (offset + whole) / 4, line);
	if (launch->counts != nullptr)
		sb_exact_count(launch, true, to, whole, true, line);
	sb_exact_self().copies.push_back({offset, from, bytes, whole, sb_exact_self().groups});
}

void sb_exact_async_commit()
{
	sb_exact_self().groups++;
}

void sb_exact_async_wait(unsigned left)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	std::vector<sb_exact_async> &copies = sb_exact_self().copies;
	size_t landed = 0;

	while (landed < copies.size() && copies[landed].group + left < sb_exact_self().groups) {
		const sb_exact_async &copy = copies[landed++];

		if (copy.bytes > 0)
			memcpy(launch->shared + copy.offset, copy.from, copy.bytes);
		memset(launch->shared + copy.offset + copy.bytes, 0, copy.whole - copy.bytes);
		sb_exact_async_landed(launch, copy.offset / 4, (copy.offset + copy.whole) / 4);
	}
	copies.erase(copies.begin(), copies.begin() + (ptrdiff_t)landed);
}
