/* SPDX-License-Identifier: BSD-3-Clause */
/* The plots of a run, each made from its tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "report_page.h"
#include "report_plot.h"
#include "stats.h"

enum { MOST_BARS = 10 };

static void open_section(FILE *out, const char *title, const char *note)
{
	fputs("<section>\n<h2>", out);
	sb_html_text(out, title);
	fputs("</h2>\n<p class=\"note\">", out);
	sb_html_text(out, note);
	fputs("</p>\n", out);
}

/* Pairs of a colour and what it means, NULL after the last. */
static void key(FILE *out, const char *const *pairs)
{
	fputs("<ul class=\"key\">", out);
	for (; *pairs; pairs += 2) {
		fprintf(out,
			"<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"%s\" "
			"width=\"10\" height=\"10\" rx=\"2\"/></svg>",
			pairs[0]);
		sb_html_text(out, pairs[1]);
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}

static const char *colour_of(const char *side)
{
	return strcmp(side, "gpu") == 0 ? "gpu" : "cpu";
}

static void part(struct sb_plot_bar *bar, int at, const char *colour, double share,
		 const char *title)
{
	bar->parts[at].colour = colour;
	bar->parts[at].share = share < 0 ? 0 : share > 1 ? 1 : share;
	bar->parts[at].title = title;
}

/* --- by side and reason --- */

struct group {
	const char *side, *reason;
	double calls, seconds;
};

static int by_seconds(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* Cells of every size, added up; at most `most` groups. */
static int group_cells(const struct sb_run *run, struct group *groups, int most)
{
	int count = 0, at;

	for (int i = 0; i < run->cell_count; i++) {
		const struct sb_run_cell *c = &run->cells[i];

		for (at = 0; at < count; at++)
			if (!strcmp(groups[at].side, c->side) &&
			    !strcmp(groups[at].reason, c->reason))
				break;
		if (at == most)
			continue;
		if (at == count)
			groups[count++] = (struct group){c->side, c->reason, 0, 0};
		groups[at].calls += c->calls;
		groups[at].seconds += c->seconds;
	}
	qsort(groups, (size_t)count, sizeof *groups, by_seconds);
	return count;
}

static void plot_reasons(FILE *out, const struct sb_run *run, const struct sb_run_sums *sums)
{
	static const char *const colours[] = {"cpu", "the CPU answered", "gpu", "the GPU answered",
					      NULL};
	struct group groups[MOST_BARS];
	struct sb_plot_bar bars[MOST_BARS] = {{.mark = 0}};
	int count = group_cells(run, groups, MOST_BARS);

	open_section(out, "Time by side and reason",
		     "Seconds in products, and how many there were.");
	for (int i = 0; i < count; i++) {
		const struct group *g = &groups[i];

		snprintf(bars[i].label, sizeof bars[i].label, "%s, %s", g->side, g->reason);
		snprintf(bars[i].value, sizeof bars[i].value, "%s, %s call%s",
			 sb_html_seconds(g->seconds).text, sb_html_count(g->calls).text,
			 g->calls == 1 ? "" : "s");
		part(&bars[i], 0, colour_of(g->side),
		     sums->seconds > 0 ? g->seconds / sums->seconds : 0, NULL);
	}
	sb_plot_bars(out, "Time by side and reason", bars, count);
	key(out, colours);
	fputs("</section>\n", out);
}

/* --- by size --- */

static int column_of(int64_t size)
{
	for (int bucket = 0; bucket < SB_BUCKETS - 1; bucket++)
		if (size && size <= sb_stats_bucket_limit(bucket))
			return bucket;
	return SB_BUCKETS - 1;
}

static void plot_sizes(FILE *out, const struct sb_run *run)
{
	static const char *const colours[] = {"cpu", "CPU", "gpu", "GPU", NULL};
	struct sb_plot_column columns[SB_BUCKETS] = {{.label = ""}};
	double calls[SB_BUCKETS][2] = {{0}}, seconds[SB_BUCKETS][2] = {{0}};
	double most_calls = 0, most_seconds = 0;

	for (int i = 0; i < run->cell_count; i++) {
		int at = column_of(run->cells[i].size), side = !strcmp(run->cells[i].side, "gpu");

		calls[at][side] += run->cells[i].calls;
		seconds[at][side] += run->cells[i].seconds;
		most_calls = fmax(most_calls, calls[at][side]);
		most_seconds = fmax(most_seconds, seconds[at][side]);
	}
	for (int chart = 0; chart < 2; chart++) {
		for (int i = 0; i < SB_BUCKETS; i++) {
			long limit = (long)sb_stats_bucket_limit(i);

			snprintf(columns[i].label, sizeof columns[i].label,
				 !limit		? "more"
				 : limit < 1024 ? "%ld"
						: "%ldk",
				 limit < 1024 ? limit : limit / 1024);
			for (int side = 0; side < 2; side++) {
				double value = chart ? seconds[i][side] : calls[i][side];

				columns[i].side[side].share =
					chart ? most_seconds > 0 ? value / most_seconds : 0
					: value > 0
						? log10(1 + 9 * value) / log10(1 + 9 * most_calls)
						: 0;
				snprintf(columns[i].side[side].value,
					 sizeof columns[i].side[side].value, "%s",
					 chart ? sb_html_seconds(value).text
					       : sb_html_count(value).text);
			}
		}
		if (chart)
			fputs("<h2>Time by size</h2>\n", out);
		else
			open_section(out, "Calls by size",
				     "Size is the cube root of m \xc3\x97 n \xc3\x97 k, up to the "
				     "number below. A logarithmic scale of calls.");
		sb_plot_columns(out, chart ? "Time by size" : "Calls by size", columns, SB_BUCKETS);
		fprintf(out, "<p class=\"note\">The highest: %s. %s</p>\n",
			chart ? sb_html_seconds(most_seconds).text : sb_html_count(most_calls).text,
			chart ? "A linear scale of seconds." : "");
	}
	key(out, colours);
	fputs("</section>\n", out);
}

/* --- gains --- */

static const struct sb_run_class *ranked[4096];

static int by_gain(const void *a, const void *b)
{
	double x = fabs(sb_report_gain(*(const struct sb_run_class *const *)a));
	double y = fabs(sb_report_gain(*(const struct sb_run_class *const *)b));

	return (x < y) - (x > y);
}

static void plot_gains(FILE *out, const struct sb_run *run)
{
	static const char *const colours[] = {"gain", "saved, over the other side", "loss",
					      "could have been saved on the other side", NULL};
	struct sb_plot_bar bars[MOST_BARS] = {{.mark = 0}};
	int count = 0, shown = 0;
	double most = 0;

	for (int i = 0; i < run->class_count && count < 4096; i++)
		if (run->classes[i].foreseen > 0)
			ranked[count++] = &run->classes[i];
	qsort(ranked, (size_t)count, sizeof *ranked, by_gain);
	for (int i = 0; i < count && shown < MOST_BARS; i++) {
		const struct sb_run_class *c = ranked[i];
		double gain = sb_report_gain(c);
		char shape[96];

		most = most > 0 ? most : fabs(gain);
		if (fabs(gain) < 0.002 * most || !(most > 0))
			break;
		sb_report_shape(c, shape, sizeof shape);
		snprintf(bars[shown].label, sizeof bars[shown].label, "%s on the %s (%s)", shape,
			 !strcmp(c->side, "gpu") ? "GPU" : "CPU", c->reason);
		snprintf(bars[shown].value, sizeof bars[shown].value, "%s",
			 sb_html_gain(gain).text);
		part(&bars[shown++], 0, gain < 0 ? "loss" : "gain", fabs(gain) / most, NULL);
	}
	if (!shown)
		return;
	open_section(
		out, "Gained, and what could have been",
		"What the other side was predicted to take, less what was measured: the shapes "
		"of which that is most.");
	sb_plot_bars(out, "Gained, and what could have been", bars, shown);
	key(out, colours);
	fputs("</section>\n", out);
}

/* --- share of the bound --- */

static void plot_bounds(FILE *out, const struct sb_run *run)
{
	struct sb_plot_bar bars[MOST_BARS] = {{.mark = 0}};
	int shown = 0;

	for (int i = 0; i < run->class_count && shown < MOST_BARS; i++) {
		const struct sb_run_class *c = &run->classes[i];
		double share = c->seconds_bound > 0 ? c->bound / c->seconds_bound : 0;

		if (!(share > 0))
			continue;
		sb_report_shape(c, bars[shown].label, sizeof bars[shown].label);
		snprintf(bars[shown].value, sizeof bars[shown].value, "%s of the bound",
			 sb_html_percent(share).text);
		part(&bars[shown++], 0, "gpu", share, NULL);
	}
	if (!shown)
		return;
	open_section(out, "Share of the bound",
		     "The least a call on the GPU can take, the slower of wire and arithmetic with "
		     "the first panels in and the last block out, over what calls took.");
	sb_plot_bars(out, "Share of the bound", bars, shown);
	fputs("</section>\n", out);
}

/* --- where the time goes --- */

static void plot_wall(FILE *out, const struct sb_run *run, const struct sb_run_sums *sums)
{
	static const char *const colours[] = {
		"cpu",	"products on the CPU",	   "gpu", "products on the GPU",
		"rest", "the rest of the program", NULL};
	struct sb_plot_bar bars[MOST_BARS] = {{.mark = 0}};
	int count = 0;

	for (; count < run->process_count && count < MOST_BARS; count++) {
		const struct sb_run_process *p = &run->processes[count];
		double all = p->wall > p->seconds ? p->wall : p->seconds;
		double gpu = sums->seconds > 0 ? sums->seconds_on[1] / sums->seconds : 0;

		if (!(p->wall > 0))
			return;
		/* Of one process the sides are known, of several only their sum. */
		gpu = run->process_count == 1 ? gpu * p->seconds : 0;
		snprintf(bars[count].label, sizeof bars[count].label, "process %ld: products %s",
			 p->process, sb_html_seconds(p->seconds).text);
		snprintf(bars[count].value, sizeof bars[count].value, "%s in all",
			 sb_html_seconds(p->wall).text);
		part(&bars[count], 0, "cpu", (p->seconds - gpu) / all, NULL);
		part(&bars[count], 1, "gpu", gpu / all, NULL);
		part(&bars[count], 2, "rest", (all - p->seconds) / all, NULL);
	}
	open_section(out, "Where the program's time went",
		     "From the start of the process to its report. Products of several threads at "
		     "once count each.");
	sb_plot_bars(out, "Where the program's time went", bars, count);
	key(out, colours);
	fputs("</section>\n", out);
}

static void plot_trace(FILE *out, const struct sb_run_trace *t)
{
	const struct {
		const char *name;
		double seconds;
	} rows[] = {
		{"the wire is busy upwards", t->up},
		{"kernels run", t->compute},
		{"the wire is busy downwards", t->down},
		{"plans, memory and kernels are made", t->prepare},
		{"the caller waits with nothing to do", t->wait},
		{"the bound of all calls", t->bound},
	};
	struct sb_plot_bar bars[sizeof rows / sizeof *rows] = {{.mark = 0}};
	int count = 0;
	char note[192];

	if (!(t->calls > 0))
		return;
	snprintf(note, sizeof note,
		 "%s calls of the trace, %s in all: the parts overlap, each is a share of that.",
		 sb_html_count(t->calls).text, sb_html_seconds(t->seconds).text);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!(rows[i].seconds > 0))
			continue;
		snprintf(bars[count].label, sizeof bars[count].label, "%s", rows[i].name);
		snprintf(bars[count].value, sizeof bars[count].value, "%s, %s",
			 sb_html_seconds(rows[i].seconds).text,
			 sb_html_percent(rows[i].seconds / t->seconds).text);
		part(&bars[count++], 0, rows[i].seconds == t->bound ? "rest" : "gpu",
		     rows[i].seconds / t->seconds, NULL);
	}
	open_section(out, "Where the time of calls on the GPU went", note);
	sb_plot_bars(out, "Where the time of calls on the GPU went", bars, count);
	fputs("</section>\n", out);
}

void sb_report_plots(FILE *out, const struct sb_run *run, const struct sb_run_sums *sums)
{
	if (!(sums->calls > 0))
		return;
	fputs("<div class=\"plots\">\n", out);
	plot_reasons(out, run, sums);
	plot_wall(out, run, sums);
	plot_gains(out, run);
	plot_bounds(out, run);
	plot_trace(out, &run->trace);
	plot_sizes(out, run);
	fputs("</div>\n", out);
}
