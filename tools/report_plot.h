/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plots as inline SVG: coordinates are computed here, colours are classes of the page's style sheet
 * (cpu, gpu, gain, loss, rest), so that they follow its light and dark. Drawn 420 units wide, which
 * a telephone shows at nearly its own size; all labels are text beside the marks, none is in a
 * colour alone.
 */
#ifndef SB_REPORT_PLOT_H
#define SB_REPORT_PLOT_H

#include <stdio.h>

enum { SB_PLOT_PARTS = 4 };

/* A bar below its label: parts one after the other, as shares of the whole width. */
struct sb_plot_bar {
	char label[192], value[128];
	struct {
		const char *colour;
		double share;	   /* 0 to 1, all together */
		const char *title; /* what it is, for those who point at it; or NULL */
	} parts[SB_PLOT_PARTS];
	double mark; /* a line across, where a bound is; 0: none */
};
void sb_plot_bars(FILE *out, const char *title, const struct sb_plot_bar *bars, int count);

/* Columns over sizes, those of both sides beside each other; heights are shares of the highest. */
struct sb_plot_column {
	char label[16];
	struct {
		double share;
		char value[48];
	} side[2];
};
void sb_plot_columns(FILE *out, const char *title, const struct sb_plot_column *columns, int count);

#endif
