/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run comes to, and the sentence that says so. */
#include <string.h>

#include "html.h"
#include "report_page.h"
#include "status.h"

double sb_report_gain(const struct sb_run_class *c)
{
	if (!(c->foreseen > 0))
		return 0;
	return (strcmp(c->side, "gpu") == 0 ? c->cpu : c->gpu) - c->seconds_foreseen;
}

void sb_report_shape(const struct sb_run_class *c, char *text, size_t room)
{
	if (!c->m && !c->n && !c->k)
		snprintf(text, room, "other shapes");
	else
		snprintf(text, room, "%s%lld \xc3\x97 %lld \xc3\x97 %lld%s%s",
			 c->alike ? "" : "about ", (long long)c->m, (long long)c->n,
			 (long long)c->k, strcmp(c->transposes, "nn") == 0 ? "" : " ",
			 strcmp(c->transposes, "nn") == 0 ? "" : c->transposes);
}

/* Seconds of cells, or of what classes missed, by reason: the largest sum's. */
static const char *main_reason(const struct sb_run *run, bool missed)
{
	double most = 0;
	const char *reason = "";
	int count = missed ? run->class_count : run->cell_count;

	for (int i = 0; i < count; i++) {
		const char *here = missed ? run->classes[i].reason : run->cells[i].reason;
		double sum = 0;

		for (int j = 0; j < count; j++) {
			const struct sb_run_class *c = &run->classes[j];
			const struct sb_run_cell *cell = &run->cells[j];

			if (missed && !strcmp(c->reason, here) && !strcmp(c->side, "cpu"))
				sum += c->sooner;
			if (!missed && !strcmp(cell->reason, here) && !strcmp(cell->side, "cpu"))
				sum += cell->seconds;
		}
		if (sum > most) {
			most = sum;
			reason = here;
		}
	}
	return reason;
}

struct sb_run_sums sb_report_sums(const struct sb_run *run)
{
	struct sb_run_sums s = {.missed_why = main_reason(run, true),
				.stayed_why = main_reason(run, false)};

	for (int i = 0; i < run->cell_count; i++) {
		const struct sb_run_cell *cell = &run->cells[i];
		int side = strcmp(cell->side, "gpu") == 0;

		s.calls += cell->calls;
		s.seconds += cell->seconds;
		s.calls_on[side] += cell->calls;
		s.seconds_on[side] += cell->seconds;
	}
	for (int i = 0; i < run->class_count; i++) {
		const struct sb_run_class *c = &run->classes[i];

		if (strcmp(c->side, "gpu") == 0) {
			s.before += c->foreseen > 0 ? c->cpu : 0;
			s.after += c->seconds_foreseen;
		} else {
			s.missed += c->sooner;
		}
	}
	s.saved = s.before - s.after;
	for (int i = 0; i < run->process_count; i++)
		s.wall += run->processes[i].wall;
	return s;
}

/* The sentence that stands for a reason's word. */
static const char *reason_text(const char *word)
{
	for (int reason = 0; reason < SB_REASONS; reason++)
		if (strcmp(word, sb_reason_word((enum sb_reason)reason)) == 0)
			return sb_reason_text((enum sb_reason)reason);
	return word;
}

static void say_where(FILE *out, const struct sb_run_sums *s)
{
	if (!(s->calls_on[SB_GPU] > 0)) {
		fputs(s->calls == 1 ? "; it stayed on the CPU" : "; all stayed on the CPU", out);
		if (*s->stayed_why) {
			fputs(s->calls == 1 ? " (" : ", most of that time because of <i>", out);
			if (s->calls == 1)
				fputs("<i>", out);
			sb_html_text(out, s->stayed_why);
			fputs(s->calls == 1 ? "</i>: " : "</i> (", out);
			sb_html_text(out, reason_text(s->stayed_why));
			fputs(")", out);
		}
		return;
	}
	fprintf(out, "; the GPU answered <b>%s</b> of them in <b>%s</b>",
		sb_html_count(s->calls_on[SB_GPU]).text,
		sb_html_seconds(s->seconds_on[SB_GPU]).text);
	if (s->before > 0 && s->saved > 0)
		fprintf(out,
			", and saved about <b>%s</b>: the CPU would have taken %.1f times as long",
			sb_html_seconds(s->saved).text, s->before / s->after);
	else if (s->before > 0)
		fprintf(out, ", and lost about <b>%s</b> over the CPU",
			sb_html_seconds(-s->saved).text);
}

void sb_report_sentence(FILE *out, const struct sb_run *run, const struct sb_run_sums *s)
{
	if (!(s->calls > 0)) {
		fputs("No matrix product of this program came by ShimBLAS.", out);
		return;
	}
	fprintf(out, "<b>%s</b> matrix product%s took <b>%s</b>", sb_html_count(s->calls).text,
		s->calls == 1 ? "" : "s", sb_html_seconds(s->seconds).text);
	if (s->wall > 0 && run->process_count == 1)
		fprintf(out, " of the %s that the program ran", sb_html_seconds(s->wall).text);
	else if (run->process_count > 1)
		fprintf(out, " in %d processes", run->process_count);
	say_where(out, s);
	fputs(".", out);
	if (s->missed > 0.02 * s->seconds && s->missed > 1e-3) {
		fprintf(out, " About <b>%s</b> more could have been saved",
			sb_html_seconds(s->missed).text);
		if (strcmp(s->missed_why, sb_reason_word(SB_REASON_FASTER)) == 0) {
			fputs(", where the prediction of the CPU was too good.", out);
			return;
		}
		fputs(", most of it missed for <i>", out);
		sb_html_text(out, s->missed_why);
		fputs("</i> (", out);
		sb_html_text(out, reason_text(s->missed_why));
		fputs(").", out);
	}
}
