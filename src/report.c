/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stats.h"
#include "trace.h"

static struct {
	pthread_mutex_t lock;
	char names[64];
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sb_report_devices(const char *names)
{
	pthread_mutex_lock(&devices.lock);
	snprintf(devices.names, sizeof devices.names, "%s", names);
	pthread_mutex_unlock(&devices.lock);
}

/* "" where the GPU has answered no call. */
static void read_devices(const struct sb_totals *totals, char names[sizeof devices.names])
{
	*names = '\0';
	if (!sb_stats_sum(totals, SB_GPU, SB_REASONS, SB_BUCKETS).calls)
		return;
	pthread_mutex_lock(&devices.lock);
	memcpy(names, devices.names, sizeof devices.names);
	pthread_mutex_unlock(&devices.lock);
}

static double rate(const struct sb_tally *tally)
{
	return tally->seconds > 0 ? tally->flops / tally->seconds / 1e9 : 0;
}

static void row(FILE *out, const char *label, const char *second, const struct sb_tally *tally)
{
	fprintf(out, "  %-6s %-11s %12" PRIu64 " %14s %12s %12s %10s\n", label, second,
		tally->calls, sb_trace_fixed(tally->flops / 1e9, 3).text,
		sb_trace_fixed(tally->bytes / 1e9, 3).text, sb_trace_fixed(tally->seconds, 3).text,
		sb_trace_fixed(rate(tally), 1).text);
}

static void write_table(FILE *out, const struct sb_totals *totals)
{
	struct sb_tally all = sb_stats_sum(totals, SB_SIDES, SB_REASONS, SB_BUCKETS);
	char names[sizeof devices.names];

	read_devices(totals, names);
	fprintf(out, "shimblas %s: process %ld, %s\n", PACKAGE_VERSION, (long)getpid(),
		program_invocation_name);
	if (*names)
		fprintf(out, "  devices %s\n", names);
	fprintf(out, "  %-6s %-11s %12s %14s %12s %12s %10s\n", "side", "reason", "calls", "GFLOP",
		"GB", "seconds", "GFLOP/s");
	for (int side = 0; side < SB_SIDES; side++)
		for (int reason = 0; reason < SB_REASONS; reason++) {
			struct sb_tally part = sb_stats_sum(totals, (enum sb_side)side,
							    (enum sb_reason)reason, SB_BUCKETS);

			if (part.calls)
				row(out, sb_side_word((enum sb_side)side),
				    sb_reason_word((enum sb_reason)reason), &part);
		}
	row(out, "all", "", &all);
	if (!all.calls)
		return;
	fprintf(out, "  side   size up to\n");
	for (int bucket = 0; bucket < SB_BUCKETS; bucket++)
		for (int side = 0; side < SB_SIDES; side++) {
			struct sb_tally part =
				sb_stats_sum(totals, (enum sb_side)side, SB_REASONS, bucket);
			char limit[24] = "above";

			if (sb_stats_bucket_limit(bucket))
				snprintf(limit, sizeof limit, "%" PRId64,
					 sb_stats_bucket_limit(bucket));
			if (part.calls)
				row(out, sb_side_word((enum sb_side)side), limit, &part);
		}
}

static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte < 0x20 || byte >= 0x7f)
			fprintf(out, "\\u%04x", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}

/* "%.0f" writes no decimal point, whatever the locale. */
static void write_tally(FILE *out, const struct sb_tally *tally)
{
	uint64_t microseconds = (uint64_t)(1e6 * tally->seconds + 0.5);

	fprintf(out, "\"calls\":%" PRIu64 ",\"flops\":%.0f,\"bytes\":%.0f,", tally->calls,
		tally->flops, tally->bytes);
	fprintf(out, "\"seconds\":%" PRIu64 ".%06" PRIu64, microseconds / 1000000,
		microseconds % 1000000);
}

static void write_cells(FILE *out, const struct sb_totals *totals)
{
	const char *comma = "";

	for (int side = 0; side < SB_SIDES; side++)
		for (int reason = 0; reason < SB_REASONS; reason++)
			for (int bucket = 0; bucket < SB_BUCKETS; bucket++) {
				const struct sb_tally *part = &totals->tally[side][reason][bucket];

				if (!part->calls)
					continue;
				fprintf(out,
					"%s{\"side\":\"%s\",\"reason\":\"%s\",\"size\":%" PRId64
					",",
					comma, sb_side_word((enum sb_side)side),
					sb_reason_word((enum sb_reason)reason),
					sb_stats_bucket_limit(bucket));
				write_tally(out, part);
				fputc('}', out);
				comma = ",";
			}
}

static void write_json(FILE *out, const struct sb_totals *totals)
{
	struct sb_tally all = sb_stats_sum(totals, SB_SIDES, SB_REASONS, SB_BUCKETS);
	char names[sizeof devices.names];

	read_devices(totals, names);
	fprintf(out,
		"{\"format\":%d,\"version\":\"%s\",\"process\":%ld,\"program\":", SB_REPORT_FORMAT,
		PACKAGE_VERSION, (long)getpid());
	write_string(out, program_invocation_name);
	fprintf(out, ",\"devices\":[%s],\"total\":{", names);
	write_tally(out, &all);
	fprintf(out, "},\"by\":[");
	write_cells(out, totals);
	fprintf(out, "]}\n");
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool sb_report_append(const char *path)
{
	struct sb_totals *totals = malloc(sizeof *totals);
	char *text = NULL;
	size_t length = 0;
	bool done = false, whole;
	FILE *out;

	if (!totals)
		return false;
	sb_stats_read(totals);
	out = open_memstream(&text, &length);
	if (out) {
		if (ends_in(path, ".json"))
			write_json(out, totals);
		else
			write_table(out, totals);
		/* For want of memory there may be a part of it, or nothing, and no word of that. */
		whole = fflush(out) == 0 && !ferror(out);
		done = fclose(out) == 0 && whole && text && sb_trace_append(path, text, length);
		free(text);
	}
	free(totals);
	return done;
}
