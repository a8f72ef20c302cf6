/* SPDX-License-Identifier: BSD-3-Clause */
/* A bar on standard error that says how far long work has come, where that is a terminal. */
#ifndef SB_PROGRESS_H
#define SB_PROGRESS_H

#include <stdbool.h>

struct sb_progress {
	double total, done; /* in any unit, expected seconds say */
	double began, drawn;
	bool shown;
};

void sb_progress_open(struct sb_progress *progress, double total);
/* So much more is done, of work by this name. */
void sb_progress_step(struct sb_progress *progress, double done, const char *name);
void sb_progress_close(struct sb_progress *progress);

#endif
