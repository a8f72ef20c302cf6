/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "classes.h"
#include "stats.h"
#include "trace.h"

static struct {
	pthread_mutex_t lock;
	char names[64];
	char gpu[96], profile[512];
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sb_report_devices(const char *names)
{
	pthread_mutex_lock(&devices.lock);
	snprintf(devices.names, sizeof devices.names, "%s", names);
	pthread_mutex_unlock(&devices.lock);
}

void sb_report_about(const char *gpu, const char *profile)
{
	pthread_mutex_lock(&devices.lock);
	snprintf(devices.gpu, sizeof devices.gpu, "%s", gpu);
	snprintf(devices.profile, sizeof devices.profile, "%s", profile);
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

/* Bytes of the UTF-8 sequence of two or more that begins here; 0 if none does. */
static int sequence(const char *text)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	const unsigned char *at = (const unsigned char *)text;

	for (int form = 0; form < 3; form++) {
		uint32_t code = *at & (0xffu ^ forms[form].mask);
		int more = form + 1;

		if ((*at & forms[form].mask) != forms[form].lead)
			continue;
		for (int i = 1; i <= more; i++) {
			if ((at[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (at[i] & 0x3fu);
		}
		return code < forms[form].least || code > 0x10ffff || (code >> 11) == 0x1b
			       ? 0
			       : more + 1;
	}
	return 0;
}

/* What is no UTF-8 is taken for Latin-1. */
static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		unsigned char byte = (unsigned char)*text;
		int bytes = sequence(text);

		if (bytes)
			fprintf(out, "%.*s", bytes, text);
		else if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte < 0x20 || byte >= 0x7f)
			fprintf(out, "\\u%04x", byte);
		else
			fputc(byte, out);
		text += bytes ? bytes : 1;
	}
	fputc('"', out);
}

/* Whole nanoseconds; "%.0f" writes no decimal point, whatever the locale. */
static void write_seconds(FILE *out, const char *name, double seconds)
{
	uint64_t nanoseconds = seconds > 0 ? (uint64_t)(1e9 * seconds + 0.5) : 0;

	fprintf(out, ",\"%s\":%" PRIu64 ".%09" PRIu64, name, nanoseconds / 1000000000,
		nanoseconds % 1000000000);
}

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

static void write_class(FILE *out, const struct sb_class *c)
{
	fprintf(out, "{\"side\":\"%s\",\"reason\":\"%s\"", sb_side_word(c->side),
		sb_reason_word(c->reason));
	if (!c->shapeless)
		fprintf(out,
			",\"transposes\":\"%c%c\",\"m\":%" PRId64 ",\"n\":%" PRId64
			",\"k\":%" PRId64 ",\"alike\":%s",
			c->trans_a ? 't' : 'n', c->trans_b ? 't' : 'n', c->m, c->n, c->k,
			c->alike ? "true" : "false");
	if (c->kernel) {
		fputs(",\"kernel\":", out);
		write_string(out, c->kernel);
	}
	fprintf(out, ",\"calls\":%" PRIu64 ",\"flops\":%.0f,\"bytes\":%.0f", c->calls, c->flops,
		c->bytes);
	write_seconds(out, "seconds", c->seconds);
	if (c->foreseen) {
		fprintf(out, ",\"foreseen\":%" PRIu64, c->foreseen);
		write_seconds(out, "seconds_foreseen", c->seconds_foreseen);
		write_seconds(out, "cpu_predicted", c->cpu);
		write_seconds(out, "gpu_predicted", c->gpu);
		write_seconds(out, "sooner", c->sooner);
	}
	if (c->bound > 0) {
		write_seconds(out, "seconds_bound", c->seconds_bound);
		write_seconds(out, "bound", c->bound);
	}
	fputc('}', out);
}

static void write_classes(FILE *out)
{
	struct sb_class *classes = calloc(SB_CLASSES + SB_SIDES, sizeof *classes);
	int count = classes ? sb_classes_read(classes) : 0;

	for (int i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		write_class(out, &classes[i]);
	}
	free(classes);
}

/* Since the process began, by the clock that began with the system; 0: not known. */
static double age(void)
{
	FILE *file = fopen("/proc/self/stat", "re");
	char text[1024], *at;
	struct timespec now;
	size_t length;
	double began;

	if (!file)
		return 0;
	length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	/* The name may hold spaces and parentheses; the 20th word after it is the one. */
	at = strrchr(text, ')');
	for (int word = 0; at && word < 20; word++)
		at = strchr(at + 1, ' ');
	if (!at || clock_gettime(CLOCK_BOOTTIME, &now))
		return 0;
	began = (double)strtoull(at, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - began;
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
	write_seconds(out, "wall", age());
	fprintf(out, ",\"devices\":[%s],\"gpu\":", names);
	pthread_mutex_lock(&devices.lock);
	write_string(out, devices.gpu);
	fputs(",\"profile\":", out);
	write_string(out, devices.profile);
	pthread_mutex_unlock(&devices.lock);
	fputs(",\"total\":{", out);
	write_tally(out, &all);
	fprintf(out, "},\"by\":[");
	write_cells(out, totals);
	fputs("],\"classes\":[", out);
	write_classes(out);
	fputc(']', out);
	if (emulated(totals))
		write_emulated(out, totals);
	fputs("}\n", out);
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
