/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 6: timelines as text (SHIMBLAS_VERBOSE=2) and as Chrome trace JSON (SHIMBLAS_TRACE), which
 * Perfetto and chrome://tracing open.
 *
 * The JSON file is an array of events, one a line: a track a stream of the device, one a copy
 * thread, one a calling thread. A process writes to one file, each call in one write, and closes
 * the array when it ends; if it dies before that the closing bracket is missing, which that format
 * permits. Where the file is there already, the process id is added to the name.
 */
#ifndef SB_TIMELINE_TELL_H
#define SB_TIMELINE_TELL_H

#include "timeline.h"

/* Writes what was collected of this thread's last call, if it has ended, and forgets it. */
void sb_timeline_write(void);
static inline void sb_timeline_tell(void)
{
	if (sb_timeline_here && sb_timeline_here->ended)
		sb_timeline_write();
}
/* The process ends: what it wrote is complete. */
void sb_timeline_finish(void);

/* The call in numbers: seconds in which something of a kind was at work, and what lies between. */
struct sb_timeline_sums {
	double up, compute, down; /* copying, multiplying, copying */
	double threads;		  /* of all copy threads together */
	int thread_count;	  /* that did something */
	double helped, waited;	  /* by the caller */
	double first, last;	  /* until the first product began; since the last ended; NaN */
	double total;
	uint64_t bytes_up, bytes_down;
	size_t unknown; /* spans whose times are not known */
};
struct sb_timeline_sums sb_timeline_sum(const struct sb_timeline *timeline);

/* The word for a stream's track. */
const char *sb_timeline_track(enum sb_stream stream);

void sb_timeline_write_text(const struct sb_timeline *timeline);
void sb_timeline_write_json(const struct sb_timeline *timeline);

#endif
