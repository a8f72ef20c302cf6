/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 1: the summary of a process's calls. */
#ifndef SB_REPORT_H
#define SB_REPORT_H

#include <stdbool.h>

/* The format number of the JSON report; raised when a field changes its meaning or goes away. */
enum { SB_REPORT_FORMAT = 2 };

/*
 * Appends the summary of all calls so far to a file named as sb_trace_append() takes it: a JSON
 * object on one line if the name ends in .json, else a table. False if it could not be written.
 */
bool sb_report_append(const char *path);

/* What the GPU is called, and where the figures behind predictions come from. */
void sb_report_about(const char *gpu, const char *profile);

/* The devices that calls have used so far, as "0,1": named in the report of a process that did. */
void sb_report_devices(const char *names);

#endif
