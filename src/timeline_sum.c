/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline_tell.h"

#include <math.h>
#include <stdlib.h>

#include "settings.h"
#include "trace.h"

struct interval {
	double begin, end;
};

const char *sb_timeline_track(enum sb_stream stream)
{
	static const char *const words[SB_STREAMS] = {
		[SB_STREAM_UP] = "up",		 [SB_STREAM_PACK] = "pack",
		[SB_STREAM_COMPUTE] = "compute", [SB_STREAM_COMPUTE_TOO] = "compute 2",
		[SB_STREAM_DOWN] = "down",	 [SB_STREAM_PEER] = "peer",
	};

	return words[stream];
}

static bool known(const struct sb_timeline_span *span)
{
	return !isnan(span->begin) && !isnan(span->end);
}

static bool multiplies(const struct sb_timeline_span *span)
{
	return span->kind == SB_TIMELINE_STEP && span->flops > 0;
}

static bool copies(const struct sb_timeline_span *span, enum sb_stream stream)
{
	return span->kind == SB_TIMELINE_COPY && span->stream == stream;
}

static int by_begin(const void *a, const void *b)
{
	double first = ((const struct interval *)a)->begin;
	double second = ((const struct interval *)b)->begin;

	return (first > second) - (first < second);
}

/* Seconds in which at least one of them was at work. */
static double together(struct interval *intervals, size_t count)
{
	double sum = 0, end = 0;

	qsort(intervals, count, sizeof *intervals, by_begin);
	for (size_t i = 0; i < count; i++) {
		double begin = intervals[i].begin > end ? intervals[i].begin : end;

		if (intervals[i].end > begin) {
			sum += intervals[i].end - begin;
			end = intervals[i].end;
		}
	}
	return sum;
}

/* Products of different streams overlap; copies of one direction on several devices do, too. */
static double busy(const struct sb_timeline *timeline, bool products, enum sb_stream stream)
{
	struct interval *intervals = calloc(timeline->count + 1, sizeof *intervals);
	size_t count = 0;
	double sum;

	for (size_t i = 0; intervals && i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];

		if (known(span) && (products ? multiplies(span) : copies(span, stream)))
			intervals[count++] = (struct interval){span->begin, span->end};
	}
	sum = intervals ? together(intervals, count) : 0;
	free(intervals);
	return sum;
}

/* Is it the first span of its thread? */
static bool first_of_thread(const struct sb_timeline *timeline, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!timeline->spans[i].device &&
		    timeline->spans[i].thread == timeline->spans[index].thread)
			return false;
	return true;
}

static void add_thread(struct sb_timeline_sums *sums, const struct sb_timeline *timeline,
		       size_t index)
{
	const struct sb_timeline_span *span = &timeline->spans[index];
	double seconds = span->end - span->begin;

	if (!span->caller) {
		sums->threads += seconds;
		sums->thread_count += first_of_thread(timeline, index);
	} else if (span->kind == SB_TIMELINE_WAIT || span->kind == SB_TIMELINE_TAKE) {
		sums->waited += seconds;
	} else if (span->kind != SB_TIMELINE_PREPARE && span->kind != SB_TIMELINE_BACKEND &&
		   span->thread == timeline->caller) {
		sums->helped += seconds;
	}
}

struct sb_timeline_sums sb_timeline_sum(const struct sb_timeline *timeline)
{
	struct sb_timeline_sums sums = {.total = timeline->end - timeline->begin};
	double first = INFINITY, last = -INFINITY;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];

		sums.bytes_up += copies(span, SB_STREAM_UP) ? span->bytes : 0;
		sums.bytes_down += copies(span, SB_STREAM_DOWN) ? span->bytes : 0;
		if (!known(span)) {
			sums.unknown++;
			continue;
		}
		if (!span->device)
			add_thread(&sums, timeline, i);
		if (!multiplies(span))
			continue;
		first = span->begin < first ? span->begin : first;
		last = span->end > last ? span->end : last;
	}
	sums.first = isinf(first) ? NAN : first - timeline->begin;
	sums.last = isinf(last) ? NAN : timeline->end - last;
	sums.up = busy(timeline, false, SB_STREAM_UP);
	sums.down = busy(timeline, false, SB_STREAM_DOWN);
	sums.compute = busy(timeline, true, SB_STREAM_COMPUTE);
	return sums;
}

void sb_timeline_write(void)
{
	const struct sb_timeline *timeline = sb_timeline_here;

	if (timeline->recorded) {
		if (sb_trace_wanted(2) && timeline->on_device)
			sb_timeline_write_text(timeline);
		if (*sb_settings()->trace)
			sb_timeline_write_json(timeline);
	}
	sb_timeline_drop();
}
