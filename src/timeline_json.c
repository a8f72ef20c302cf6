/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline_tell.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"
#include "trace.h"

/* A device is shown as a process of its own; real process ids are below 2^22. */
#define DEVICE_PROCESS 10000000L

/* This process's file. Tracks are named once in it, as long as there is room to remember them. */
static struct {
	pthread_mutex_t lock;
	pid_t owner; /* 0: none yet; a child of fork finds its parent's */
	bool ended;  /* or cannot be written */
	char path[4096];
	unsigned long calls;
	long named[512][2];
	int named_count;
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Names come from the driver and the program; what JSON would have to escape is of no use here. */
static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		fputc(*text < 0x20 || *text > 0x7e || *text == '"' || *text == '\\' ? '?' : *text,
		      out);
	fputc('"', out);
}

/* Microseconds with their nanoseconds, which a double that counts microseconds still tells apart.
 */
static void write_time(FILE *out, const char *name, int64_t nanoseconds)
{
	fprintf(out, ",\"%s\":%" PRId64 ".%03d", name, nanoseconds / 1000,
		(int)(nanoseconds % 1000));
}

static int64_t nanoseconds(double seconds)
{
	return (int64_t)(1e9 * seconds + 0.5);
}

/* Every event begins with a comma; the first of a file with the bracket instead. */
static void write_event(FILE *out, const char *category, const char *name, long process,
			long thread, double begin, double end)
{
	int64_t from = nanoseconds(begin), to = nanoseconds(end);

	fputs(",\n{\"ph\":\"X\",\"cat\":", out);
	write_string(out, category);
	fputs(",\"name\":", out);
	write_string(out, name);
	fprintf(out, ",\"pid\":%ld,\"tid\":%ld", process, thread);
	write_time(out, "ts", from);
	write_time(out, "dur", to > from ? to - from : 0);
	fprintf(out, ",\"args\":{\"call\":%lu", file.calls);
}

static void write_rates(FILE *out, const struct sb_timeline_span *span)
{
	double seconds = span->end - span->begin;

	if (span->bytes)
		fprintf(out, ",\"bytes\":%" PRIu64, span->bytes);
	if (span->bytes && seconds > 0)
		fprintf(out, ",\"GB/s\":%s",
			sb_trace_fixed(1e-9 * (double)span->bytes / seconds, 3).text);
	if (span->flops > 0 && seconds > 0)
		fprintf(out, ",\"TFLOP/s\":%s",
			sb_trace_fixed(1e-12 * span->flops / seconds, 3).text);
	if (span->kernel) {
		fputs(",\"kernel\":", out);
		write_string(out, span->kernel);
	}
}

static bool named_already(long process, long thread)
{
	const int most = (int)(sizeof file.named / sizeof *file.named);

	for (int i = 0; i < file.named_count; i++)
		if (file.named[i][0] == process && file.named[i][1] == thread)
			return true;
	if (file.named_count < most) {
		file.named[file.named_count][0] = process;
		file.named[file.named_count++][1] = thread;
	}
	return false;
}

/* A process (thread 0) or one of its tracks; `rank` says where it is shown. */
static void write_name(FILE *out, long process, long thread, const char *name, int rank)
{
	const char *what = thread ? "thread" : "process";

	if (named_already(process, thread))
		return;
	fprintf(out, ",\n{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%ld,\"tid\":%ld,\"args\":{",
		what, process, thread);
	fputs("\"name\":", out);
	write_string(out, name);
	fprintf(out,
		"}},\n{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%ld,\"tid\":%ld,"
		"\"args\":{\"sort_index\":%d}}",
		what, process, thread, rank);
}

static long process_of(const struct sb_timeline_span *span)
{
	return span->device ? (span->device->ordinal + 1) * DEVICE_PROCESS + getpid() : getpid();
}

static long track_of(const struct sb_timeline_span *span)
{
	return span->device ? (long)span->stream + 1 : span->thread;
}

static void name_track(FILE *out, const struct sb_timeline_span *span)
{
	const struct sb_device *device = span->device;
	char name[160];

	if (device) {
		snprintf(name, sizeof name, "device %d: %s", device->ordinal, device->name);
		write_name(out, process_of(span), 0, name, device->ordinal + 1);
		write_name(out, process_of(span), track_of(span), sb_timeline_track(span->stream),
			   (int)span->stream);
	} else {
		write_name(out, getpid(), span->thread,
			   span->caller ? "calling thread" : "copy thread", !span->caller);
	}
}

static void write_span(FILE *out, const struct sb_timeline *timeline,
		       const struct sb_timeline_span *span)
{
	const char *step = span->step ? timeline->spans[span->step - 1].name : "";
	bool copy = span->kind == SB_TIMELINE_COPY;
	char name[160];

	/* Steps of copies overlap on their stream, and a track cannot show that; copies do not. */
	if (isnan(span->begin) || isnan(span->end) ||
	    (span->kind == SB_TIMELINE_STEP && span->bytes))
		return;
	snprintf(name, sizeof name, "%s%s%s",
		 *span->name || (copy && *step) ? span->name : sb_timeline_words[span->kind],
		 *step && !copy ? " " : "", step);
	name_track(out, span);
	write_event(out, sb_timeline_words[span->kind], name, process_of(span), track_of(span),
		    span->begin, span->end);
	write_rates(out, span);
	fputs("}}", out);
}

static void write_call(FILE *out, const struct sb_timeline *timeline)
{
	struct sb_timeline_sums sums = sb_timeline_sum(timeline);
	const struct sb_timeline_span caller = {.thread = timeline->caller, .caller = true};
	const struct {
		const char *name;
		double seconds;
	} parts[] = {
		{"upload busy ms", sums.up},	   {"compute busy ms", sums.compute},
		{"download busy ms", sums.down},   {"copy threads busy ms", sums.threads},
		{"first panel in ms", sums.first}, {"last block out ms", sums.last},
		{"bound ms", timeline->bound},
	};

	write_name(out, getpid(), 0, program_invocation_short_name, 0);
	name_track(out, &caller);
	write_event(out, "call", timeline->name, getpid(), timeline->caller, timeline->begin,
		    timeline->end);
	if (!timeline->on_device)
		fputs(",\"side\":\"cpu\"", out);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].seconds > 0)
			fprintf(out, ",\"%s\":%s", parts[i].name,
				sb_trace_fixed(1e3 * parts[i].seconds, 3).text);
	if (timeline->dropped)
		fprintf(out, ",\"spans left out\":%zu", timeline->dropped);
	fputs("}}", out);
}

/* Begins this process's file: under the name given or, if that is there, with the process id. */
static bool create(char *text, size_t length)
{
	const char *wanted = sb_settings()->trace;

	text[0] = '[';
	snprintf(file.path, sizeof file.path, "%s", wanted);
	if (sb_trace_create(file.path, text, length))
		return true;
	if ((size_t)snprintf(file.path, sizeof file.path, "%s.%%p", wanted) >= sizeof file.path)
		return false;
	return sb_trace_create(file.path, text, length);
}

static void put(char *text, size_t length)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	bool begun = file.owner == getpid();

	if (begun ? sb_trace_append(file.path, text, length) : create(text, length)) {
		file.owner = getpid();
		return;
	}
	file.owner = 0;
	file.ended = true;
	sb_trace_once(&said, "SHIMBLAS_TRACE=%s cannot be written", sb_settings()->trace);
}

/* A child begins a file of its own, and may find the lock taken by who is not here. */
static void forget_parent(void)
{
	pthread_mutex_init(&file.lock, NULL);
	file.calls = 0;
}

static void watch_fork(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
}

void sb_timeline_write_json(const struct sb_timeline *timeline)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char *text = NULL;
	size_t length = 0;
	bool whole;
	FILE *out;

	pthread_once(&once, watch_fork);
	pthread_mutex_lock(&file.lock);
	out = file.ended ? NULL : open_memstream(&text, &length);
	if (out) {
		file.calls++;
		write_call(out, timeline);
		for (size_t i = 0; i < timeline->count; i++)
			write_span(out, timeline, &timeline->spans[i]);
		/* For want of memory there may be a part of it, or nothing, and no word of that. */
		whole = fflush(out) == 0 && !ferror(out);
		if (fclose(out) == 0 && whole && text)
			put(text, length);
		free(text);
	}
	pthread_mutex_unlock(&file.lock);
}

void sb_timeline_finish(void)
{
	static const char end[] = "\n]\n";

	/* A child of fork has nothing to end, and may find the lock taken by who is not here. */
	if (file.owner != getpid())
		return;
	pthread_mutex_lock(&file.lock);
	if (!file.ended)
		(void)sb_trace_append(file.path, end, sizeof end - 1);
	file.ended = true;
	pthread_mutex_unlock(&file.lock);
}
