/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_read.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static bool complain(const char *path, long line, const char *problem)
{
	if (line)
		fprintf(stderr, "shimblas report: %s:%ld: %s\n", path, line, problem);
	else
		fprintf(stderr, "shimblas report: %s: %s\n", path, problem);
	return false;
}

static double number(const json_t *object, const char *name)
{
	double value = json_number_value(json_object_get(object, name));

	return value > 0 ? value : 0;
}

static int64_t size_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* As much of a text as there is room for, cut between characters. */
static void copy_text(const json_t *object, const char *name, char *into, size_t room)
{
	const char *text = json_string_value(json_object_get(object, name));
	size_t length = text ? strlen(text) : 0;

	if (length >= room)
		for (length = room - 1; length && (text[length] & 0xc0) == 0x80; length--)
			;
	memcpy(into, text ? text : "", length);
	into[length] = '\0';
}

/* Room for one more in an array that grows; NULL: memory is short. */
static void *one_more(void *array, int *count, size_t size)
{
	char *grown = array;

	/* At powers of two it is full. */
	if (!(*count & (*count - 1))) {
		grown = realloc(array, (size_t)(*count ? 2 * *count : 1) * size);
		if (!grown)
			return NULL;
	}
	memset(grown + (size_t)*count * size, 0, size);
	++*count;
	return grown;
}

static unsigned doublings(int64_t size)
{
	unsigned count = 0;

	while (size > (int64_t)1 << count && count < 62)
		count++;
	return count;
}

static bool same_class(const struct sb_run_class *a, const struct sb_run_class *b)
{
	return !strcmp(a->side, b->side) && !strcmp(a->reason, b->reason) &&
	       !strcmp(a->transposes, b->transposes) && !strcmp(a->kernel, b->kernel) &&
	       !a->m == !b->m && doublings(a->m) == doublings(b->m) &&
	       doublings(a->n) == doublings(b->n) && doublings(a->k) == doublings(b->k);
}

static void merge(struct sb_run_class *into, const struct sb_run_class *c)
{
	into->alike =
		into->alike && c->alike && into->m == c->m && into->n == c->n && into->k == c->k;
	if ((double)c->m * (double)c->n * (double)c->k >
	    (double)into->m * (double)into->n * (double)into->k) {
		into->m = c->m;
		into->n = c->n;
		into->k = c->k;
	}
	into->calls += c->calls;
	into->flops += c->flops;
	into->bytes += c->bytes;
	into->seconds += c->seconds;
	into->foreseen += c->foreseen;
	into->seconds_foreseen += c->seconds_foreseen;
	into->cpu += c->cpu;
	into->gpu += c->gpu;
	into->sooner += c->sooner;
	into->bound += c->bound;
	into->seconds_bound += c->seconds_bound;
}

static bool add_class(struct sb_run *run, const json_t *object)
{
	struct sb_run_class c = {
		.m = size_of(object, "m"),
		.n = size_of(object, "n"),
		.k = size_of(object, "k"),
		.alike = json_is_true(json_object_get(object, "alike")),
		.calls = number(object, "calls"),
		.flops = number(object, "flops"),
		.bytes = number(object, "bytes"),
		.seconds = number(object, "seconds"),
		.foreseen = number(object, "foreseen"),
		.seconds_foreseen = number(object, "seconds_foreseen"),
		.cpu = number(object, "cpu_predicted"),
		.gpu = number(object, "gpu_predicted"),
		.sooner = number(object, "sooner"),
		.bound = number(object, "bound"),
		.seconds_bound = number(object, "seconds_bound"),
	};
	void *grown;

	copy_text(object, "side", c.side, sizeof c.side);
	copy_text(object, "reason", c.reason, sizeof c.reason);
	copy_text(object, "transposes", c.transposes, sizeof c.transposes);
	copy_text(object, "kernel", c.kernel, sizeof c.kernel);
	for (int i = 0; i < run->class_count; i++)
		if (same_class(&run->classes[i], &c)) {
			merge(&run->classes[i], &c);
			return true;
		}
	grown = one_more(run->classes, &run->class_count, sizeof c);
	if (!grown)
		return false;
	run->classes = grown;
	run->classes[run->class_count - 1] = c;
	return true;
}

static bool add_cell(struct sb_run *run, const json_t *object)
{
	struct sb_run_cell cell = {.size = size_of(object, "size"),
				   .calls = number(object, "calls"),
				   .flops = number(object, "flops"),
				   .seconds = number(object, "seconds")};
	void *grown;

	copy_text(object, "side", cell.side, sizeof cell.side);
	copy_text(object, "reason", cell.reason, sizeof cell.reason);
	for (int i = 0; i < run->cell_count; i++) {
		struct sb_run_cell *c = &run->cells[i];

		if (c->size == cell.size && !strcmp(c->side, cell.side) &&
		    !strcmp(c->reason, cell.reason)) {
			c->calls += cell.calls;
			c->flops += cell.flops;
			c->seconds += cell.seconds;
			return true;
		}
	}
	grown = one_more(run->cells, &run->cell_count, sizeof cell);
	if (!grown)
		return false;
	run->cells = grown;
	run->cells[run->cell_count - 1] = cell;
	return true;
}

/* "0,1" of [0,1]; what other processes used is not added up. */
static void copy_devices(const json_t *list, char *into, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; i < json_array_size(list) && used < room; i++)
		used += (size_t)snprintf(into + used, room - used, "%s%lld", i ? "," : "",
					 (long long)json_integer_value(json_array_get(list, i)));
}

static bool add_process(struct sb_run *run, const json_t *object)
{
	const json_t *total = json_object_get(object, "total");
	const char *program = json_string_value(json_object_get(object, "program"));
	struct sb_run_process process = {.process = (long)size_of(object, "process"),
					 .wall = number(object, "wall"),
					 .calls = number(total, "calls"),
					 .seconds = number(total, "seconds")};
	void *grown = one_more(run->processes, &run->process_count, sizeof process);

	if (!grown)
		return false;
	run->processes = grown;
	process.program = strdup(program ? program : "");
	run->processes[run->process_count - 1] = process;
	copy_text(object, "version", run->version, sizeof run->version);
	if (!*run->gpu)
		copy_text(object, "gpu", run->gpu, sizeof run->gpu);
	if (!*run->profile)
		copy_text(object, "profile", run->profile, sizeof run->profile);
	if (!*run->devices)
		copy_devices(json_object_get(object, "devices"), run->devices, sizeof run->devices);
	return process.program != NULL;
}

static const char *add_report(struct sb_run *run, const json_t *object)
{
	const json_t *classes = json_object_get(object, "classes");
	const json_t *cells = json_object_get(object, "by"), *row;
	json_int_t format = json_integer_value(json_object_get(object, "format"));
	bool added = true;
	size_t i;

	if (!json_is_object(object) || format < 1 || !json_is_array(cells))
		return "this is no report of a program";
	if (format > SB_REPORT_FORMAT)
		return "its format is a newer one";
	added = add_process(run, object);
	json_array_foreach(cells, i, row) added = added && add_cell(run, row);
	json_array_foreach(classes, i, row) added = added && add_class(run, row);
	run->has_classes = run->has_classes || json_is_array(classes);
	return added ? NULL : "memory is short";
}

/* Each line of a file that holds more than white space; `take` says what is wrong with one. */
static bool read_lines(const char *path, struct sb_run *run,
		       const char *(*take)(struct sb_run *, const char *, size_t))
{
	FILE *file = fopen(path, "re");
	const char *problem = NULL;
	size_t room = 0;
	char *line = NULL;
	ssize_t length;
	long at = 0;

	if (!file)
		return complain(path, 0, "it cannot be opened");
	while (!problem && (length = getline(&line, &room, file)) >= 0) {
		at++;
		if ((size_t)length != strspn(line, " \t\r\n"))
			problem = take(run, line, (size_t)length);
	}
	if (!problem && ferror(file))
		problem = "it cannot be read";
	free(line);
	fclose(file);
	return !problem || complain(path, at, problem);
}

static const char *take_report(struct sb_run *run, const char *line, size_t length)
{
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *problem = object ? add_report(run, object) : "this is no JSON";

	json_decref(object);
	return problem;
}

/* Milliseconds in the arguments of an event. */
static double milliseconds(const json_t *event, const char *name)
{
	return 1e-3 * number(json_object_get(event, "args"), name);
}

static void add_event(struct sb_run_trace *t, const json_t *event)
{
	const char *category = json_string_value(json_object_get(event, "cat"));
	double seconds = 1e-6 * number(event, "dur");

	/* A call that the CPU answered is none of the device's. */
	if (!category || json_object_get(json_object_get(event, "args"), "side"))
		return;
	if (!strcmp(category, "call")) {
		t->calls++;
		t->seconds += seconds;
		t->without_prepare += seconds;
		t->up += milliseconds(event, "upload busy ms");
		t->compute += milliseconds(event, "compute busy ms");
		t->down += milliseconds(event, "download busy ms");
		t->threads += milliseconds(event, "copy threads busy ms");
		t->bound += milliseconds(event, "bound ms");
	} else if (!strcmp(category, "prepare")) {
		t->prepare += seconds;
		t->without_prepare -= seconds;
	} else if (!strcmp(category, "wait") || !strcmp(category, "wait for the device")) {
		t->wait += seconds;
	}
}

/* A trace has an event a line; of a program that was cut short the last one may be half. */
static const char *take_event(struct sb_run *run, const char *line, size_t length)
{
	const char *begin = line + strspn(line, " \t[");
	size_t rest = length - (size_t)(begin - line);
	json_t *event;

	while (rest && strchr(" \t\r\n,]", begin[rest - 1]))
		rest--;
	if (!rest)
		return NULL;
	event = json_loadb(begin, rest, 0, NULL);
	if (!event)
		return *begin == '{' ? NULL : "this is no trace";
	if (json_is_object(event))
		add_event(&run->trace, event);
	json_decref(event);
	return NULL;
}

bool sb_run_read(const char *path, struct sb_run *run)
{
	memset(run, 0, sizeof *run);
	if (!read_lines(path, run, take_report))
		return false;
	return run->process_count || complain(path, 0, "there is no report in it");
}

bool sb_run_read_trace(const char *path, struct sb_run *run)
{
	return read_lines(path, run, take_event);
}

void sb_run_free(struct sb_run *run)
{
	for (int i = 0; i < run->process_count; i++)
		free(run->processes[i].program);
	free(run->processes);
	free(run->cells);
	free(run->classes);
	memset(run, 0, sizeof *run);
}
