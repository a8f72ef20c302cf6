/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: where a call's time went: the steps of its streams by the device's clock, the pieces of
 * its copy threads and what its caller helped with and waited for by the host's. Collected only
 * where somebody wants it (SHIMBLAS_VERBOSE=2, SHIMBLAS_TRACE, a profiler); else each call-out here
 * is the test of one pointer, no clock is read and no event made.
 *
 * A call has one timeline, which belongs to the thread that makes the call; copy threads find it
 * through what they were given. Times are seconds of CLOCK_MONOTONIC. Those of a device come from
 * events, related to the host's clock by one that is waited for when the device is entered, and are
 * right to some ten microseconds. What cannot be recorded is left out and counted; nothing here
 * changes what becomes of a call.
 */
#ifndef SB_TIMELINE_H
#define SB_TIMELINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device.h"

enum sb_timeline_kind {
	SB_TIMELINE_STEP,    /* of the plan, on a stream */
	SB_TIMELINE_COPY,    /* of a step, or a part of one, on a stream */
	SB_TIMELINE_FILL,    /* a piece of a slot on its way up, on a thread, as are those below */
	SB_TIMELINE_COMMIT,  /* a piece of a slot on its way down */
	SB_TIMELINE_PAGES,   /* pages of C that were missing */
	SB_TIMELINE_TAKE,    /* the caller waits for the device */
	SB_TIMELINE_PREPARE, /* plans, takes memory, loads kernels */
	SB_TIMELINE_WAIT,    /* waits, with nothing to help with */
	SB_TIMELINE_BACKEND, /* the caller's BLAS answers */
	SB_TIMELINE_KINDS
};

struct sb_timeline_span {
	enum sb_timeline_kind kind;
	int step;			/* number of the step it is a part of; 0: none */
	const struct sb_device *device; /* whose stream; NULL: on a thread */
	enum sb_stream stream;
	pid_t thread;
	bool caller;	   /* the thread was in a call of its own */
	double begin, end; /* NaN: not known */
	uint64_t bytes;	   /* moved */
	double flops;
	const char *kernel; /* or NULL */
	sb_cu_event events[2];
	char name[64]; /* of a step, else empty */
};

/* The host's clock at an event of a device, while the device is entered. */
struct sb_timeline_clock {
	const struct sb_device *device;
	sb_cu_event reference;
	double host;
};

#define SB_TIMELINE_DEVICES 16 /* those of higher ordinals are left out */
#define SB_TIMELINE_SPANS   ((size_t)1 << 18)

struct sb_timeline {
	bool recorded; /* not only told to a profiler */
	bool ended;
	bool on_device; /* it was tried there */
	char name[64];
	double begin, end; /* of the call */
	pid_t caller;
	int step; /* that is being queued, or 0 */
	struct sb_timeline_clock clocks[SB_TIMELINE_DEVICES];
	double doubt; /* times of devices may be so far off those of the host */
	double bound; /* the least it could have taken; filled in by who knows, else 0 */
	pthread_mutex_t lock;
	struct sb_timeline_span *spans; /* step number n is spans[n - 1] */
	size_t count, room, dropped;
	size_t waiting; /* the caller's wait that may still grow, counted from 1; 0: none */
};

/* The timeline of the call that this thread is in, or was in last; NULL where none is wanted. */
extern _Thread_local struct sb_timeline *sb_timeline_here
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

struct sb_call;

/* A call begins on this thread, if that is wanted; `on_device`: it is tried there. */
void sb_timeline_open(const struct sb_call *call, bool on_device);
/* One that ended on the device goes on; false of one that has not ended: it is that of a call which
 * this one is a part of. Called with sb_timeline_here set. */
bool sb_timeline_reopen(void);
/* It ends; what was collected waits in sb_timeline_here for sb_timeline_drop(). */
void sb_timeline_close(void);
void sb_timeline_drop(void);
/* Does anybody want timelines? */
bool sb_timeline_wanted(void);

/*
 * From enter to leave streams of the device are recorded: by who has taken and entered it. Leave
 * asks the events for their times; those of work that is not over are left out.
 */
void sb_timeline_enter(struct sb_device *device, double patience);
void sb_timeline_leave(struct sb_device *device);

/*
 * A step of the plan begins to be queued, and has been. Its work is timed from one to the other;
 * with `copies` from the first of its copies to the last. Called with sb_timeline_here set.
 */
void sb_timeline_step(struct sb_device *device, enum sb_stream stream, const char *name,
		      const char *kernel, double flops, bool copies);
void sb_timeline_step_queued(struct sb_device *device);

/* The step being queued, for those who do its work later and say so by resume. */
static inline int sb_timeline_current(void)
{
	return sb_timeline_here ? sb_timeline_here->step : 0;
}
static inline void sb_timeline_resume(int step)
{
	if (sb_timeline_here)
		sb_timeline_here->step = step;
}

/* Around the queueing of one copy of the current step. */
size_t sb_timeline_record_copy(struct sb_device *device, enum sb_stream stream, size_t bytes);
void sb_timeline_record_end(struct sb_device *device, size_t span);
static inline size_t sb_timeline_copy(struct sb_device *device, enum sb_stream stream, size_t bytes)
{
	return sb_timeline_here ? sb_timeline_record_copy(device, stream, bytes) : 0;
}
static inline void sb_timeline_copied(struct sb_device *device, size_t span)
{
	if (span)
		sb_timeline_record_end(device, span);
}

/* The word for each kind. */
extern const char *const sb_timeline_words[SB_TIMELINE_KINDS] __attribute__((visibility("hidden")));

/* Around a piece of work on any thread, for a timeline that may be NULL. */
double sb_timeline_start(const char *name);
void sb_timeline_stop(struct sb_timeline *timeline, enum sb_timeline_kind kind, int step,
		      double start, size_t bytes);
static inline double sb_timeline_begin(const struct sb_timeline *timeline,
				       enum sb_timeline_kind kind)
{
	return timeline ? sb_timeline_start(sb_timeline_words[kind]) : 0;
}
static inline void sb_timeline_end(struct sb_timeline *timeline, enum sb_timeline_kind kind,
				   int step, double begin, size_t bytes)
{
	if (timeline)
		sb_timeline_stop(timeline, kind, step, begin, bytes);
}

/* The caller has been waiting since a time, in one wait of several naps, and still may be. */
void sb_timeline_record_wait(double since);
static inline void sb_timeline_waited(double since)
{
	if (sb_timeline_here)
		sb_timeline_record_wait(since);
}

#endif
