/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a program's run: nothing in it comes from elsewhere. */
#ifndef SB_REPORT_PAGE_H
#define SB_REPORT_PAGE_H

#include <stdio.h>

#include "report_read.h"

extern const char sb_report_style[];

/* Sorts the run's tables on the way. */
void sb_report_page(FILE *out, struct sb_run *run);

/* What a run's classes and cells come to. */
struct sb_run_sums {
	double calls, seconds, wall;
	double calls_on[2], seconds_on[2]; /* by side */
	double saved;			   /* by the GPU over what the CPU was predicted to take */
	double before;			   /* that prediction */
	double after;			   /* what those calls took */
	double missed;		/* on the CPU, where the GPU was predicted to be sooner */
	const char *missed_why; /* the reason of most of that; "" if none */
	const char *stayed_why; /* of most of the CPU's time */
};
struct sb_run_sums sb_report_sums(const struct sb_run *run);

/* One sentence, or two. */
void sb_report_sentence(FILE *out, const struct sb_run *run, const struct sb_run_sums *sums);

/* The plots, each in a section of its own; those that have nothing to show are left out. */
void sb_report_plots(FILE *out, const struct sb_run *run, const struct sb_run_sums *sums);

/* "300 x 200 x 100, tn", or "up to" that. */
void sb_report_shape(const struct sb_run_class *c, char *text, size_t room);
/* Seconds that the other side was predicted to take more; negative: less. */
double sb_report_gain(const struct sb_run_class *c);

#endif
