/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "classes.h"
#include "report.h"
#include "stats.h"
#include "suite.h"

/* --- a judge of JSON: NULL, or one past the value --- */
static const char *value(const char *at);

static const char *string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at != '"') {
		if ((unsigned char)*at < 0x20)
			return NULL;
		if (*at++ != '\\')
			continue;
		if (*at == 'u') {
			for (int i = 1; i <= 4; i++)
				if (!isxdigit((unsigned char)at[i]))
					return NULL;
			at += 4;
		} else if (!strchr("\"\\/bfnrt", *at)) {
			return NULL;
		}
		at++;
	}
	return at + 1;
}

static const char *digits(const char *at)
{
	return isdigit((unsigned char)*at) ? at + strspn(at, "0123456789") : NULL;
}

static const char *number(const char *at)
{
	at += *at == '-';
	if (*at == '0' && isdigit((unsigned char)at[1]))
		return NULL;
	at = digits(at);
	return at && *at == '.' ? digits(at + 1) : at;
}

static const char *members(const char *at, char end, bool named)
{
	if (*at == end)
		return at + 1;
	for (;;) {
		if (named) {
			at = string(at);
			if (!at || *at++ != ':')
				return NULL;
		}
		at = value(at);
		if (!at || (*at != ',' && *at != end))
			return NULL;
		if (*at++ == end)
			return at;
	}
}

static const char *value(const char *at)
{
	return *at == '{'		  ? members(at + 1, '}', true)
	       : *at == '['		  ? members(at + 1, ']', false)
	       : *at == '"'		  ? string(at)
	       : !strncmp(at, "true", 4)  ? at + 4
	       : !strncmp(at, "false", 5) ? at + 5
					  : number(at);
}

/* One object on one line. */
static bool is_json(const char *text)
{
	const char *end = *text == '{' ? value(text) : NULL;

	return end && strcmp(end, "\n") == 0;
}
/* --- */

static char path[512], text[16384];

static const char *report(const char *name)
{
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", suite_scratch(), name);
	unlink(path);
	*text = '\0';
	if (!sb_report_append(path) || !(file = fopen(path, "r")))
		return text;
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void count_some(void)
{
	const struct sb_call small = {.m = 4, .n = 4, .k = 4},
			     large = {.m = 2000, .n = 2000, .k = 2000};
	const struct sb_outcome cpu = {.side = SB_CPU, .reason = SB_REASON_SMALL},
				gpu = {.side = SB_GPU,
				       .reason = SB_REASON_FASTER,
				       .kernel = "kernel",
				       .seconds = 1.25,
				       .manner = {.arithmetic = SB_STRICT}};

	sb_stats_reset();
	sb_stats_add(&small, &cpu);
	sb_stats_add(&small, &cpu);
	sb_stats_add(&large, &gpu);
}

static void the_json_report_is_json_on_one_line(void)
{
	count_some();
	CU_ASSERT_TRUE(is_json(report("a.json")));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"format\":2,\"version\":\"" PACKAGE_VERSION "\","));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"total\":{\"calls\":3,\"flops\":16000000256,"
					    "\"bytes\":48000384,\"seconds\":1.250000}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"side\":\"cpu\",\"reason\":\"small\",\"size\":16,"
					    "\"calls\":2,\"flops\":256,\"bytes\":384,"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "{\"side\":\"gpu\",\"reason\":\"faster\",\"size\":2048,\"calls\":1,"));
}

static void the_arithmetic_is_told_where_any_call_was_to_be_emulated(void)
{
	const struct sb_call large = {.m = 2000, .n = 2000, .k = 2000};
	struct sb_outcome gpu = {.side = SB_GPU,
				 .reason = SB_REASON_FASTER,
				 .kernel = "kernel",
				 .manner = {.arithmetic = SB_FP16X3}};

	count_some();
	CU_ASSERT_PTR_NULL(strstr(report("g.json"), "arithmetic"));
	CU_ASSERT_PTR_NULL(strstr(report("g"), "arithmetic"));
	sb_stats_add(&large, &gpu);
	gpu.manner.fallback = SB_FALLBACK_GUARD;
	sb_stats_add(&large, &gpu);
	CU_ASSERT_TRUE(is_json(report("h.json")));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, ",\"arithmetic\":[{\"arithmetic\":\"fp16x3\",\"calls\":2,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "{\"arithmetic\":\"strict\",\"calls\":1,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ",\"fallback\":{\"guard\":1}}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(report("h"), "\n  gpu    fp16x3                 2 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n  1 of them fell back: guard, values that two"));
}

static void devices_are_named_where_the_gpu_has_answered(void)
{
	sb_report_devices("0,3");
	count_some();
	CU_ASSERT_TRUE(is_json(report("e.json")));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ",\"devices\":[0,3],"));
	CU_ASSERT_PTR_NOT_NULL(strstr(report("e"), "\n  devices 0,3\n"));
	sb_stats_reset();
	CU_ASSERT_TRUE(is_json(report("f.json")));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ",\"devices\":[],"));
	CU_ASSERT_PTR_NULL(strstr(report("f"), "devices"));
}

static void calls_are_told_by_shape(void)
{
	const struct sb_call large = {.m = 2000, .n = 2000, .k = 2000, .trans_b = true},
			     nearly = {.m = 1999, .n = 1100, .k = 2000, .trans_b = true},
			     other = {.m = 2000, .n = 900, .k = 2000, .trans_b = true};
	const struct sb_outcome gpu = {SB_GPU, SB_REASON_FASTER, "kernel", 0.25, {0}},
				cpu = {SB_CPU, SB_REASON_STARTING, NULL, 0.5, {0}};
	const struct sb_foreseen known = {0.75, 0.125, 0.0625}, nothing = {0, 0, 0};

	sb_classes_reset();
	sb_classes_add(&large, &gpu, &known);
	sb_classes_add(&nearly, &gpu, &nothing);
	sb_classes_add(&other, &gpu, &nothing);
	sb_classes_add(&large, &cpu, &known);
	sb_classes_add(&large, &cpu, &known);
	CU_ASSERT_TRUE(is_json(report("g.json")));
	/* One of two sizes, of which the larger is told, and only one was predicted. */
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "{\"side\":\"gpu\",\"reason\":\"faster\",\"transposes\":\"nt\","
			     "\"m\":2000,\"n\":2000,\"k\":2000,\"alike\":false,\"kernel\":"
			     "\"kernel\",\"calls\":2,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"foreseen\":1,\"seconds_foreseen\":0.250000000,"
					    "\"cpu_predicted\":0.750000000,\"gpu_predicted\":"
					    "0.125000000,\"sooner\":0.000000000,"
					    "\"seconds_bound\":0.250000000,"
					    "\"bound\":0.062500000}"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"n\":900,\"k\":2000,\"alike\":true,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"reason\":\"starting\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"foreseen\":2,\"seconds_foreseen\":1.000000000,"
					    "\"cpu_predicted\":1.500000000,\"gpu_predicted\":"
					    "0.250000000,\"sooner\":0.750000000}"));
	sb_classes_reset();
	CU_ASSERT_PTR_NOT_NULL(strstr(report("h.json"), "\"classes\":[]"));
}

static void more_shapes_than_there_is_room_for_are_told_together(void)
{
	static struct sb_class classes[SB_CLASSES + SB_SIDES];
	const struct sb_outcome cpu = {SB_CPU, SB_REASON_FASTER, NULL, 1, {0}};
	const struct sb_foreseen nothing = {0, 0, 0};
	uint64_t calls = 0, shapeless = 0;
	int count, made = 0;

	sb_classes_reset();
	for (int m = 0; m < 10; m++)
		for (int n = 0; n < 10; n++)
			for (int k = 0; k < 10; k++, made++) {
				const struct sb_call call = {.m = 1 << m, .n = 1 << n, .k = 1 << k};

				sb_classes_add(&call, &cpu, &nothing);
			}
	count = sb_classes_read(classes);
	CU_ASSERT_EQUAL(count, SB_CLASSES + 1);
	for (int i = 0; i < count; i++) {
		calls += classes[i].calls;
		shapeless += classes[i].shapeless ? classes[i].calls : 0;
	}
	CU_ASSERT_EQUAL(calls, (uint64_t)made);
	CU_ASSERT_EQUAL(shapeless, (uint64_t)(made - SB_CLASSES));
	sb_classes_reset();
}

static void an_empty_report_is_json_too(void)
{
	sb_stats_reset();
	CU_ASSERT_TRUE(is_json(report("b.json")));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"calls\":0,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"by\":[]"));
}

static void a_strange_program_name_is_escaped(void)
{
	static char name[] = "a \"quoted\\name\" \n\x01 \xc3\xa9\x7f\xe9\xc3";
	char *kept = program_invocation_name;

	program_invocation_name = name;
	CU_ASSERT_TRUE(is_json(report("c.json")));
	program_invocation_name = kept;
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"a \\\"quoted\\\\name\\\" \\u000a\\u0001 "));
	/* UTF-8 stays, and what is none is taken for Latin-1. */
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " \xc3\xa9\\u007f\\u00e9\\u00c3\""));
}

static void reports_append(void)
{
	FILE *file;
	char line[8192];
	int lines = 0;

	count_some();
	report("d.json");
	CU_ASSERT_TRUE(sb_report_append(path));
	file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file)) {
		CU_ASSERT_TRUE(is_json(line));
		lines++;
	}
	if (file)
		fclose(file);
	CU_ASSERT_EQUAL(lines, 2);
}

static void the_table_has_a_row_a_reason_and_a_size(void)
{
	static const char *const rows[] = {
		"side   reason ",
		"cpu    small                  2          0.000        0.000        0.000        "
		"0.0\n",
		"gpu    faster                 1         16.000        0.048        1.250       "
		"12.8\n",
		"all                           3         16.000        0.048        1.250       "
		"12.8\n",
		"cpu    16                     2 ",
		"gpu    2048                   1 ",
	};

	count_some();
	report("table");
	CU_ASSERT_EQUAL(strncmp(text, "shimblas " PACKAGE_VERSION ": process ", 20), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(text, rows[i]));
	CU_ASSERT_FALSE(is_json(text));
}

static void a_report_that_cannot_be_written_says_so(void)
{
	CU_ASSERT_FALSE(sb_report_append("/nonexistent/report"));
	CU_ASSERT_FALSE(sb_report_append("/dev/full"));
}

static void the_judge_of_json_knows_bad_from_good(void)
{
	CU_ASSERT_TRUE(is_json("{\"a\":[1,2.5,{\"b\":\"\\u00e9\"}]}\n"));
	CU_ASSERT_FALSE(is_json("{\"a\":1,}\n"));
	CU_ASSERT_FALSE(is_json("{\"a\":1,5}\n"));
	CU_ASSERT_FALSE(is_json("{\"a\":\"\n\"}\n"));
	CU_ASSERT_FALSE(is_json("{\"a\":01}\n"));
	CU_ASSERT_FALSE(is_json("{\"a\":\"\\q\"}\n"));
	CU_ASSERT_FALSE(is_json("{}"));
	CU_ASSERT_FALSE(is_json("{}\n{}\n"));
}

static const struct suite_case cases[] = {
	{"the JSON report is JSON, on one line", the_json_report_is_json_on_one_line},
	{"the arithmetic is told where any call was to be emulated",
	 the_arithmetic_is_told_where_any_call_was_to_be_emulated},
	{"devices are named where the GPU has answered",
	 devices_are_named_where_the_gpu_has_answered},
	{"calls are told by shape", calls_are_told_by_shape},
	{"more shapes than there is room for are told together",
	 more_shapes_than_there_is_room_for_are_told_together},
	{"an empty report is JSON too", an_empty_report_is_json_too},
	{"a strange program name is escaped", a_strange_program_name_is_escaped},
	{"reports append", reports_append},
	{"the table has a row a reason and a size", the_table_has_a_row_a_reason_and_a_size},
	{"a report that cannot be written says so", a_report_that_cannot_be_written_says_so},
	{"the judge of JSON knows bad from good", the_judge_of_json_knows_bad_from_good},
};

int main(void)
{
	return SUITE("report", cases);
}
