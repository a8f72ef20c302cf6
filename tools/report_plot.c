/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_plot.h"

#include "html.h"

enum { WIDTH = 420, ROW = 38, BAR = 12, COLUMNS_HEIGHT = 150 };

static void begin(FILE *out, const char *title, int height)
{
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, height);
	sb_html_text(out, title);
	fputs("\">\n", out);
}

static void text_at(FILE *out, const char *style, double x, double y, const char *text)
{
	fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", style, x, y);
	sb_html_text(out, text);
	fputs("</text>\n", out);
}

static void rectangle(FILE *out, const char *colour, double x, double y, double width,
		      double height, const char *title)
{
	fprintf(out,
		"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		"rx=\"2\">",
		colour, x, y, width, height);
	if (title && *title) {
		fputs("<title>", out);
		sb_html_text(out, title);
		fputs("</title>", out);
	}
	fputs("</rect>\n", out);
}

void sb_plot_bars(FILE *out, const char *title, const struct sb_plot_bar *bars, int count)
{
	begin(out, title, count * ROW);
	for (int i = 0; i < count; i++) {
		const struct sb_plot_bar *bar = &bars[i];
		double y = i * ROW, x = 0;

		text_at(out, "label", 0, y + 13, bar->label);
		text_at(out, "value", WIDTH, y + 13, bar->value);
		rectangle(out, "track", 0, y + 18, WIDTH, BAR, NULL);
		for (int part = 0; part < SB_PLOT_PARTS; part++) {
			double width = bar->parts[part].share * WIDTH;

			if (width <= 0)
				continue;
			/* What is there is to be seen. */
			rectangle(out, bar->parts[part].colour, x, y + 18, width < 1 ? 1 : width,
				  BAR, bar->parts[part].title);
			x += width;
		}
		if (bar->mark > 0)
			fprintf(out,
				"<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
				"y2=\"%.1f\"/>\n",
				bar->mark * WIDTH, bar->mark * WIDTH, y + 15, y + 33);
	}
	fputs("</svg>\n", out);
}

void sb_plot_columns(FILE *out, const char *title, const struct sb_plot_column *columns, int count)
{
	static const char *const colours[] = {"cpu", "gpu"};
	double step = (double)WIDTH / (count ? count : 1), wide = step * 0.36;

	wide = wide > 26 ? 26 : wide;
	begin(out, title, COLUMNS_HEIGHT + 22);
	for (int i = 0; i < count; i++) {
		double middle = (i + 0.5) * step;

		for (int side = 0; side < 2; side++) {
			double height = columns[i].side[side].share * (COLUMNS_HEIGHT - 6);

			if (height <= 0)
				continue;
			height = height < 1.5 ? 1.5 : height;
			rectangle(out, colours[side], middle + (side ? 0.5 : -wide - 0.5),
				  COLUMNS_HEIGHT - height, wide, height,
				  columns[i].side[side].value);
		}
		text_at(out, "tick", middle, COLUMNS_HEIGHT + 16, columns[i].label);
	}
	fprintf(out, "<line class=\"axis\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n</svg>\n",
		WIDTH, COLUMNS_HEIGHT, COLUMNS_HEIGHT);
}
