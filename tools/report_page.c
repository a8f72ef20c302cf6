/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_page.h"

#include <stdlib.h>
#include <string.h>

#include "html.h"

enum { MOST_ROWS = 200, MOST_PROCESSES = 50 };

static int by_seconds(const void *a, const void *b)
{
	const struct sb_run_class *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static int by_process_seconds(const void *a, const void *b)
{
	const struct sb_run_process *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static const char *base_name(const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash && slash[1] ? slash + 1 : program;
}

static void say_about(FILE *out, const struct sb_run *run)
{
	fputs("<p class=\"about\">", out);
	sb_html_text(out, run->processes[0].program);
	if (run->process_count == 1)
		fprintf(out, ", process %ld", run->processes[0].process);
	else
		fprintf(out, " and %d more process%s", run->process_count - 1,
			run->process_count == 2 ? "" : "es");
	if (*run->gpu) {
		fputs(" \xc2\xb7 ", out);
		sb_html_text(out, run->gpu);
	}
	if (strchr(run->devices, ',')) {
		fputs(", devices ", out);
		sb_html_text(out, run->devices);
	}
	if (*run->profile) {
		fputs(" \xc2\xb7 profile: ", out);
		sb_html_text(out, run->profile);
	}
	fputs("</p>\n", out);
}

static void figure(FILE *out, const char *value, const char *what)
{
	fputs("<li><b>", out);
	sb_html_text(out, value);
	fputs("</b><span>", out);
	sb_html_text(out, what);
	fputs("</span></li>\n", out);
}

static void figures(FILE *out, const struct sb_run *run, const struct sb_run_sums *s)
{
	if (!(s->calls > 0))
		return;
	fputs("<ul class=\"figures\">\n", out);
	figure(out, sb_html_count(s->calls).text, "products");
	figure(out, sb_html_seconds(s->seconds).text, "in products");
	if (s->seconds > 0)
		figure(out, sb_html_percent(s->seconds_on[1] / s->seconds).text,
		       "of that on the GPU");
	if (run->has_classes) {
		figure(out, sb_html_gain(s->saved).text, "saved by the GPU, predicted");
		figure(out, sb_html_seconds(s->missed).text, "could still be saved, predicted");
	}
	fputs("</ul>\n", out);
}

static void cell(FILE *out, const char *style, const char *label, const char *text)
{
	fprintf(out, "<td class=\"%s%s\" data-label=\"%s\">", style, *text ? "" : " none", label);
	sb_html_text(out, text);
	fputs("</td>", out);
}

static void row(FILE *out, const struct sb_run_class *c)
{
	bool on_gpu = strcmp(c->side, "gpu") == 0;
	double other = on_gpu ? c->cpu : c->gpu, gain = sb_report_gain(c);
	char text[96];

	fputs("<tr>", out);
	sb_report_shape(c, text, sizeof text);
	cell(out, "shape", "shape", text);
	cell(out, "n", "calls", sb_html_count(c->calls).text);
	fprintf(out, "<td data-label=\"side\"><span class=\"side on-%s\">%s</span></td>",
		on_gpu ? "gpu" : "cpu", on_gpu ? "GPU" : "CPU");
	cell(out, "reason", "reason", c->reason);
	cell(out, "kernel", "kernel", c->kernel);
	cell(out, "n", "seconds", sb_html_seconds(c->seconds).text);
	cell(out, "n", "a call", sb_html_seconds(c->calls > 0 ? c->seconds / c->calls : 0).text);
	snprintf(text, sizeof text, "%.3g", c->seconds > 0 ? 1e-12 * c->flops / c->seconds : 0);
	cell(out, "n", "TFLOP/s", text);
	cell(out, "n", on_gpu ? "the CPU, predicted" : "the GPU, predicted",
	     c->foreseen > 0 ? sb_html_seconds(other).text : "");
	fprintf(out, "<td class=\"n%s\" data-label=\"gain\">", c->foreseen > 0 ? "" : " none");
	if (c->foreseen > 0)
		fprintf(out, "<span class=\"%s\">%s</span>", gain < 0 ? "minus" : "plus",
			sb_html_gain(gain).text);
	fputs("</td>", out);
	cell(out, "n", "of the bound",
	     c->seconds_bound > 0 ? sb_html_percent(c->bound / c->seconds_bound).text : "");
	fputs("</tr>\n", out);
}

static void table(FILE *out, const struct sb_run *run)
{
	struct sb_run_class rest = {.alike = false};
	int left = run->class_count - MOST_ROWS;

	if (!run->class_count)
		return;
	fputs("<section class=\"wide\">\n<h2>Calls by shape</h2>\n<p class=\"note\">m \xc3\x97 n "
	      "\xc3\x97 k in column-major terms, and which of A and B are transposed. "
	      "\xe2\x80\x9c"
	      "about\xe2\x80\x9d: shapes of nearly this size, the largest named. The "
	      "longest first.</p>\n<table>\n<thead><tr><th>shape</th><th class=\"n\">calls</th>"
	      "<th>side</th><th>reason</th><th>kernel</th><th class=\"n\">time</th>"
	      "<th class=\"n\">a call</th><th class=\"n\">TFLOP/s</th>"
	      "<th class=\"n\">the other side,<br/>predicted</th><th class=\"n\">gain</th>"
	      "<th class=\"n\">of the<br/>bound</th></tr></thead>\n<tbody>\n",
	      out);
	for (int i = 0; i < run->class_count && i < MOST_ROWS; i++)
		row(out, &run->classes[i]);
	fputs("</tbody>\n</table>\n", out);
	for (int i = MOST_ROWS; i < run->class_count; i++) {
		rest.calls += run->classes[i].calls;
		rest.seconds += run->classes[i].seconds;
	}
	if (left > 0)
		fprintf(out, "<p class=\"note\">%d more shapes: %s calls, %s.</p>\n", left,
			sb_html_count(rest.calls).text, sb_html_seconds(rest.seconds).text);
	fputs("</section>\n", out);
}

static void processes(FILE *out, const struct sb_run *run)
{
	if (run->process_count < 2)
		return;
	fputs("<section class=\"wide\">\n<h2>Processes</h2>\n<table>\n<thead><tr><th>program</th>"
	      "<th class=\"n\">process</th><th class=\"n\">calls</th><th class=\"n\">in "
	      "products</th>"
	      "<th class=\"n\">in all</th></tr></thead>\n<tbody>\n",
	      out);
	for (int i = 0; i < run->process_count && i < MOST_PROCESSES; i++) {
		const struct sb_run_process *p = &run->processes[i];
		char id[24];

		snprintf(id, sizeof id, "%ld", p->process);
		fputs("<tr>", out);
		cell(out, "kernel", "program", p->program);
		cell(out, "n", "process", id);
		cell(out, "n", "calls", sb_html_count(p->calls).text);
		cell(out, "n", "in products", sb_html_seconds(p->seconds).text);
		cell(out, "n", "in all", p->wall > 0 ? sb_html_seconds(p->wall).text : "");
		fputs("</tr>\n", out);
	}
	fputs("</tbody>\n</table>\n", out);
	if (run->process_count > MOST_PROCESSES)
		fprintf(out, "<p class=\"note\">And %d more.</p>\n",
			run->process_count - MOST_PROCESSES);
	fputs("</section>\n", out);
}

static void end_notes(FILE *out, const struct sb_run *run)
{
	fputs("<footer>\n<p>Times of calls were measured, from call to return. What the other side "
	      "would have taken was not: it is the prediction by which calls are judged, for a GPU "
	      "that has started (<i>shimblas explain</i> shows what one is made of, <i>shimblas "
	      "tune</i> makes it fit this machine). Calls too small to be judged have none.</p>\n",
	      out);
	if (!run->has_classes)
		fputs("<p>This report is of a version that told nothing of shapes.</p>\n", out);
	fputs("<p>ShimBLAS ", out);
	sb_html_text(out, run->version);
	fputs("</p>\n</footer>\n", out);
}

void sb_report_page(FILE *out, struct sb_run *run)
{
	struct sb_run_sums sums;
	const char *name;

	if (run->class_count)
		qsort(run->classes, (size_t)run->class_count, sizeof *run->classes, by_seconds);
	qsort(run->processes, (size_t)run->process_count, sizeof *run->processes,
	      by_process_seconds);
	/* It points into what has been sorted. */
	sums = sb_report_sums(run);
	name = base_name(run->processes[0].program);
	fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
	      "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
	      "content=\"width=device-width, initial-scale=1\"/>\n<title>",
	      out);
	sb_html_text(out, name);
	fprintf(out,
		" \xe2\x80\x93 ShimBLAS</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>",
		sb_report_style);
	sb_html_text(out, name);
	fputs("</h1>\n", out);
	say_about(out, run);
	fputs("<p class=\"summary\">", out);
	sb_report_sentence(out, run, &sums);
	fputs("</p>\n", out);
	figures(out, run, &sums);
	sb_report_plots(out, run, &sums);
	table(out, run);
	processes(out, run);
	end_notes(out, run);
	fputs("</main>\n</body>\n</html>\n", out);
}
