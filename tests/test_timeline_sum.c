/* SPDX-License-Identifier: BSD-3-Clause */
/* A timeline in numbers, of spans made by hand. */
#include <math.h>

#include "suite.h"
#include "timeline_tell.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct sb_timeline_span piece(enum sb_timeline_kind kind, pid_t thread, bool caller,
				     double begin, double end)
{
	return (struct sb_timeline_span){
		.kind = kind, .thread = thread, .caller = caller, .begin = begin, .end = end};
}

static struct sb_timeline_span work(enum sb_timeline_kind kind, enum sb_stream stream, double begin,
				    double end)
{
	static const struct sb_device device;

	return (struct sb_timeline_span){.kind = kind,
					 .device = &device,
					 .stream = stream,
					 .begin = begin,
					 .end = end,
					 .bytes = kind == SB_TIMELINE_COPY ? 100 : 0,
					 .flops = kind == SB_TIMELINE_STEP ? 1 : 0};
}

static void sums_count_what_overlaps_once(void)
{
	struct sb_timeline_span spans[] = {
		work(SB_TIMELINE_COPY, SB_STREAM_UP, 1, 2),
		work(SB_TIMELINE_COPY, SB_STREAM_UP, 3, 5),
		work(SB_TIMELINE_COPY, SB_STREAM_DOWN, 8, 9),
		work(SB_TIMELINE_STEP, SB_STREAM_COMPUTE_TOO, 5, 7),
		work(SB_TIMELINE_STEP, SB_STREAM_COMPUTE, 4, 6),
		work(SB_TIMELINE_STEP, SB_STREAM_COMPUTE, 7.5, 8),
		work(SB_TIMELINE_STEP, SB_STREAM_COMPUTE, NAN, NAN),
		piece(SB_TIMELINE_FILL, 7, false, 0, 1),
		piece(SB_TIMELINE_COMMIT, 8, false, 0, 2),
		piece(SB_TIMELINE_PAGES, 7, false, 1, 2),
		piece(SB_TIMELINE_FILL, 6, true, 0, .5),
		piece(SB_TIMELINE_WAIT, 6, true, 1, 4),
		piece(SB_TIMELINE_PREPARE, 6, true, 4, 5),
	};
	const struct sb_timeline timeline = {
		.caller = 6, .begin = 0, .end = 10, .spans = spans, .count = COUNT(spans)};
	struct sb_timeline_sums sums = sb_timeline_sum(&timeline);

	CU_ASSERT_EQUAL(sums.up, 3);
	CU_ASSERT_EQUAL(sums.down, 1);
	CU_ASSERT_EQUAL(sums.compute, 3.5);
	CU_ASSERT_EQUAL(sums.threads, 4);
	CU_ASSERT_EQUAL(sums.thread_count, 2);
	CU_ASSERT_EQUAL(sums.helped, .5);
	CU_ASSERT_EQUAL(sums.waited, 3);
	CU_ASSERT_EQUAL(sums.first, 4);
	CU_ASSERT_EQUAL(sums.last, 2);
	CU_ASSERT_EQUAL(sums.total, 10);
	CU_ASSERT_EQUAL(sums.bytes_up, 200);
	CU_ASSERT_EQUAL(sums.bytes_down, 100);
	CU_ASSERT_EQUAL(sums.unknown, 1);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"sums count what overlaps once", sums_count_what_overlaps_once},
	};

	return SUITE("timeline_sum", tests);
}
