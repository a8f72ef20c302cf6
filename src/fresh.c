/* SPDX-License-Identifier: BSD-3-Clause */
#include "fresh.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "element.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define LEAST  ((size_t)1 << 20) /* bytes; less is not worth the looking */
#define PIECE  ((size_t)2 << 20) /* a huge page of most systems */
#define PIECES 512
#define LOOKS  8

static void populate(void *context, size_t index)
{
	struct sb_fresh *fresh = context;
	size_t start = index * fresh->piece;
	size_t bytes = fresh->bytes - start < fresh->piece ? fresh->bytes - start : fresh->piece;
	int kept = errno;
	double begin;

	if (atomic_load_explicit(&fresh->over, memory_order_relaxed))
		return;
	begin = sb_timeline_begin(fresh->timeline, SB_TIMELINE_PAGES);
	/* A system that cannot puts them there as they are written, as ever. */
	if (madvise(fresh->base + start, bytes, MADV_POPULATE_WRITE) != 0)
		atomic_store_explicit(&fresh->over, true, memory_order_relaxed);
	sb_timeline_end(fresh->timeline, SB_TIMELINE_PAGES, 0, begin, bytes);
	errno = kept;
}

static bool some_missing(const struct sb_fresh *fresh, size_t page)
{
	size_t pages = fresh->bytes / page;
	unsigned char there;

	for (size_t i = 0; i < LOOKS; i++) {
		size_t looked = pages * (2 * i + 1) / (2 * LOOKS);

		if (mincore(fresh->base + looked * page, page, &there) != 0)
			return false;
		if (!(there & 1))
			return true;
	}
	return false;
}

void sb_fresh_begin(struct sb_fresh *fresh, const struct sb_call *call)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), element = sb_element(call->type)->bytes;
	uintptr_t first = (uintptr_t)call->c, end = first + sb_call_bytes_c(call);

	fresh->begun = false;
	first = (first + page - 1) / page * page;
	end = end / page * page;
	if (sb_copy_threads_made() == 0 || end <= first || end - first < LEAST ||
	    (size_t)(call->ldc - call->m) * element >= page)
		return;
	fresh->base = (char *)first;
	fresh->bytes = end - first;
	if (!some_missing(fresh, page))
		return;
	/* All of it is going to be written. Where the system gives huge pages to who asks, it can.
	 */
	(void)madvise(fresh->base, fresh->bytes, MADV_HUGEPAGE);
	fresh->piece = (fresh->bytes / PIECES + PIECE) / PIECE * PIECE;
	atomic_store(&fresh->over, false);
	fresh->timeline = sb_timeline_here;
	fresh->job.work = populate;
	fresh->job.context = fresh;
	fresh->job.pieces = (fresh->bytes + fresh->piece - 1) / fresh->piece;
	fresh->begun = sb_copy_threads_submit(&fresh->job, SB_COPY_PAGES);
}

void sb_fresh_end(struct sb_fresh *fresh)
{
	if (!fresh->begun)
		return;
	atomic_store(&fresh->over, true);
	sb_copy_threads_finish(&fresh->job);
	fresh->begun = false;
}
