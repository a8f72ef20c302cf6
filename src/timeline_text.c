/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline_tell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace.h"

static struct sb_fixed ms(double seconds)
{
	return sb_trace_fixed(1e3 * seconds, 3);
}

/* What it did and how fast, for those that moved or multiplied something. */
static void say_rate(const struct sb_timeline_span *span, char *text, size_t size)
{
	double seconds = span->end - span->begin;

	text[0] = '\0';
	if (isnan(seconds))
		return;
	if (span->flops > 0 && seconds > 0)
		snprintf(text, size, ", %s TFLOP/s, %s",
			 sb_trace_fixed(1e-12 * span->flops / seconds, 2).text, span->kernel);
	else if (span->bytes && seconds > 0)
		snprintf(text, size, ", %s MB, %s GB/s",
			 sb_trace_fixed(1e-6 * (double)span->bytes, 3).text,
			 sb_trace_fixed(1e-9 * (double)span->bytes / seconds, 1).text);
}

static void write_stream(const struct sb_timeline *timeline, const struct sb_device *device,
			 enum sb_stream stream)
{
	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];
		char rate[160];

		if (span->kind != SB_TIMELINE_STEP || span->device != device ||
		    span->stream != stream)
			continue;
		say_rate(span, rate, sizeof rate);
		sb_trace_line(2, "  %-9s %9s %9s  %s%s", sb_timeline_track(stream),
			      ms(span->begin - timeline->begin).text,
			      ms(span->end - timeline->begin).text, span->name, rate);
	}
}

static bool seen_before(const struct sb_timeline *timeline, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (timeline->spans[i].device == timeline->spans[index].device)
			return true;
	return false;
}

static void write_streams(const struct sb_timeline *timeline)
{
	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_device *device = timeline->spans[i].device;

		if (timeline->spans[i].kind != SB_TIMELINE_STEP || seen_before(timeline, i))
			continue;
		sb_trace_line(2, "  device %d: %s", device->ordinal, device->name);
		for (int stream = 0; stream < SB_STREAMS; stream++)
			write_stream(timeline, device, (enum sb_stream)stream);
	}
}

/* A line a thread: what it did, how often and how long in all. */
static void write_thread(const struct sb_timeline *timeline, pid_t thread, int number)
{
	char text[400] = "", track[24] = "caller";

	for (int kind = SB_TIMELINE_FILL; kind < SB_TIMELINE_KINDS; kind++) {
		double sum = 0, first = 0, last = 0;
		size_t count = 0, used = strlen(text);

		for (size_t i = 0; i < timeline->count; i++) {
			const struct sb_timeline_span *span = &timeline->spans[i];

			if (span->device || span->thread != thread || (int)span->kind != kind)
				continue;
			first = count++ ? first : span->begin;
			last = span->end;
			sum += span->end - span->begin;
		}
		if (count)
			snprintf(text + used, sizeof text - used, "%s%zu x %s %s (%s to %s)",
				 used ? ", " : "", count, sb_timeline_words[kind], ms(sum).text,
				 ms(first - timeline->begin).text, ms(last - timeline->begin).text);
	}
	if (thread != timeline->caller)
		snprintf(track, sizeof track, "thread %d", number);
	sb_trace_line(2, "  %-9s %s", track, text);
}

static void write_threads(const struct sb_timeline *timeline)
{
	pid_t seen[128];
	int count = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct sb_timeline_span *span = &timeline->spans[i];
		int at = 0;

		if (span->device)
			continue;
		while (at < count && seen[at] != span->thread)
			at++;
		if (at < count || count == (int)(sizeof seen / sizeof *seen))
			continue;
		seen[count++] = span->thread;
		write_thread(timeline, span->thread, count);
	}
}

void sb_timeline_write_text(const struct sb_timeline *timeline)
{
	struct sb_timeline_sums sums = sb_timeline_sum(timeline);
	char bound[100] = "";

	sb_trace_line(2, "timeline of %s, ms since the call began:", timeline->name);
	write_streams(timeline);
	write_threads(timeline);
	if (timeline->bound > 0 && sums.total > 0)
		snprintf(bound, sizeof bound, ", %s of the bound %s",
			 sb_trace_fixed(timeline->bound / sums.total, 2).text,
			 ms(timeline->bound).text);
	sb_trace_line(2,
		      "timeline: upload busy %s, compute busy %s, download busy %s, "
		      "%d copy threads busy %s, caller helped %s, waited %s, first panel in %s, "
		      "last block out %s, total %s%s",
		      ms(sums.up).text, ms(sums.compute).text, ms(sums.down).text,
		      sums.thread_count, ms(sums.threads).text, ms(sums.helped).text,
		      ms(sums.waited).text, ms(sums.first).text, ms(sums.last).text,
		      ms(sums.total).text, bound);
	if (sums.unknown || timeline->dropped)
		sb_trace_line(2, "timeline: %zu times not known, %zu spans left out", sums.unknown,
			      timeline->dropped);
}
