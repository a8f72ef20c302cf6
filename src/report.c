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

/* Has a call been emulated, or was any to be? */
static bool emulated(const struct sb_totals *totals)
{
	uint64_t fallen = 0;

	for (int i = SB_FALLBACK_NONE + 1; i < SB_FALLBACKS; i++)
		fallen += totals->fallback[i];
	return fallen || totals->arithmetic[SB_FP16X3].calls || totals->arithmetic[SB_BF16X6].calls;
}

static void write_arithmetics(FILE *out, const struct sb_totals *totals)
{
	fprintf(out, "  side   arithmetic\n");
	for (int i = SB_FP16X3; i < SB_ARITHMETICS; i++)
		if (totals->arithmetic[i].calls)
			row(out, sb_side_word(SB_GPU), sb_arithmetic_word((enum sb_arithmetic)i),
			    &totals->arithmetic[i]);
	for (int i = SB_FALLBACK_NONE + 1; i < SB_FALLBACKS; i++)
		if (totals->fallback[i])
			fprintf(out, "  %" PRIu64 " of them fell back: %s, %s\n",
				totals->fallback[i], sb_fallback_word((enum sb_fallback)i),
				sb_fallback_text((enum sb_fallback)i));
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
	if (emulated(totals))
		write_arithmetics(out, totals);
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

static void write_emulated(FILE *out, const struct sb_totals *totals)
{
	const char *comma = "";

	fprintf(out, ",\"arithmetic\":[");
	for (int i = SB_FP16X3; i < SB_ARITHMETICS; i++) {
		if (!totals->arithmetic[i].calls)
			continue;
		fprintf(out, "%s{\"arithmetic\":\"%s\",", comma,
			sb_arithmetic_word((enum sb_arithmetic)i));
		write_tally(out, &totals->arithmetic[i]);
		fputc('}', out);
		comma = ",";
	}
	fprintf(out, "],\"fallback\":{");
	comma = "";
	for (int i = SB_FALLBACK_NONE + 1; i < SB_FALLBACKS; i++)
		if (totals->fallback[i]) {
			fprintf(out, "%s\"%s\":%" PRIu64, comma,
				sb_fallback_word((enum sb_fallback)i), totals->fallback[i]);
			comma = ",";
		}
	fputc('}', out);
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
	fputc(']', out);
	if (emulated(totals))
		write_emulated(out, totals);
	fprintf(out, "}\n");
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
	bool done = false;
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
		done = fclose(out) == 0 && sb_trace_append(path, text, length);
		free(text);
	}
	free(totals);
	return done;
}
