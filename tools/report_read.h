/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program's report (src/report.h, as JSON) and its trace say, read into one run. A report
 * holds a line for each process that wrote one; their calls are added up.
 */
#ifndef SB_REPORT_READ_H
#define SB_REPORT_READ_H

#include <stdbool.h>
#include <stdint.h>

/* A process that made calls, or none. Texts are as they came, of any bytes that are UTF-8. */
struct sb_run_process {
	char *program;
	long process;
	double wall; /* seconds from its start to its report; 0: not said */
	double calls, seconds;
};

/* Calls of one side, reason and size (the largest cube root of mnk; 0: above all of those). */
struct sb_run_cell {
	char side[8], reason[24];
	int64_t size;
	double calls, flops, seconds;
};

/* Calls of one shape, as src/classes.h has them. */
struct sb_run_class {
	char side[8], reason[24], transposes[4], kernel[64];
	int64_t m, n, k; /* 0 where shapes are not told apart */
	bool alike;
	double calls, flops, bytes, seconds;
	double foreseen, seconds_foreseen, cpu, gpu, sooner;
	double bound, seconds_bound;
};

/* Sums over the calls of a trace, in seconds; parts overlap each other. */
struct sb_run_trace {
	double calls; /* 0: no trace */
	double seconds, up, compute, down, threads, prepare, wait, bound;
	double without_prepare; /* seconds of calls less what was prepared in them */
};

struct sb_run {
	struct sb_run_process *processes;
	int process_count;
	struct sb_run_cell *cells;
	int cell_count;
	struct sb_run_class *classes;
	int class_count;
	bool has_classes; /* false: a report of format 1, which told none */
	char gpu[128], profile[512], version[32], devices[64];
	struct sb_run_trace trace;
};

/* False, after a line on standard error, if the file cannot be read or is no report. */
bool sb_run_read(const char *path, struct sb_run *run);
bool sb_run_read_trace(const char *path, struct sb_run *run);
void sb_run_free(struct sb_run *run);

#endif
