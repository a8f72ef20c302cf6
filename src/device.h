/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: the CUDA devices we work on, and how to come and go without being noticed.
 *
 * The devices of a process are a team: those that SHIMBLAS_DEVICE lists or, without it, a single
 * one, the program's current device, else the one of the local MPI rank, else 0. They are made
 * together, taken together, and lost together: where one fails none is used again. Their primary
 * contexts are retained and never released; at exit nothing is freed. Work on one happens between
 * sb_device_enter() and sb_device_leave(), which leave the calling thread's context stack,
 * stream-capture mode and errno as found, and under sb_device_take(). A program that resets its
 * device (cuDevicePrimaryCtxReset) takes with it all that we have there, pinned memory too: a
 * device on which a mark of ours is gone is lost. The streams are our own and non-blocking: the
 * program's default stream never waits for us.
 *
 * start.h is what makes a device; nothing here starts CUDA by itself.
 */
#ifndef SB_DEVICE_H
#define SB_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver.h"
#include "status.h"

enum sb_health {
	SB_HEALTH_UNBORN,   /* CUDA not started by us */
	SB_HEALTH_STARTING, /* a helper thread is starting it */
	SB_HEALTH_READY,
	SB_HEALTH_UNUSABLE, /* no driver, too old a driver, no device; or a forked child */
	SB_HEALTH_LOST	    /* failed or stopped answering, or the process is ending */
};

/* Products take turns on two streams, so that one fills the multiprocessors that the other leaves.
 */
enum sb_stream {
	SB_STREAM_UP,
	SB_STREAM_PACK,
	SB_STREAM_COMPUTE,
	SB_STREAM_COMPUTE_TOO,
	SB_STREAM_DOWN,
	SB_STREAM_PEER, /* from the other devices of a team; a device alone has none */
	SB_STREAMS
};

#define SB_DEVICES 8 /* in a team, at most */

#define SB_DEVICE_EVENTS 208 /* events a plan may name */

struct sb_device {
	const struct sb_driver *cu;
	int index; /* in the team */
	int ordinal;
	sb_cu_device handle;
	sb_cu_context context;
	sb_cu_stream streams[SB_STREAMS];
	/* What was launched there last leaves room for what follows (launch.h). */
	bool leads[SB_STREAMS];
	sb_cu_event events[SB_DEVICE_EVENTS];
	char name[96];
	int arch; /* 10 major + minor of the compute capability */
	int multiprocessors;
	int clock_khz;
	int shared_optin; /* most bytes of shared memory of a block, with the opt-in */
	size_t memory;	  /* bytes on the card */
	/* Some memory of ours and its number, which no other ever gets; 0: none yet. */
	sb_cu_deviceptr mark;
	unsigned long long mark_id;
};

struct sb_team {
	int count;
	bool linked; /* each device's kernels and copies reach the memory of each other one */
	struct sb_device devices[SB_DEVICES];
};

/* Which devices the program is to be given; made on the calling thread, before CUDA is started. */
struct sb_device_wish {
	int handle; /* the program's current device, or -1 */
	int rank;   /* of the local MPI rank; taken modulo the number of devices; or -1 */
	/* Asked for by SHIMBLAS_DEVICE, each once; count 0: nothing, -1: all there are. */
	int ordinals[SB_DEVICES], count;
	const atomic_bool *vain; /* becomes true when the process ends: no more is to be made */
};
struct sb_device_wish sb_device_wish(void);

/*
 * Makes the team. cu is an opened driver. Called once in a process, by start.c, which has
 * announced SB_HEALTH_STARTING. SB_OK or SB_NO_DEVICE; on failure, or where it has become vain,
 * nothing is kept.
 */
enum sb_status sb_device_birth(const struct sb_driver *cu, struct sb_device_wish wish);
/* What has been made, be it ready or not; for device.c and start.c. */
struct sb_team *sb_device_made(void);

/* The health now, and in *why the reason for which it cannot be used (if it cannot). Never waits.
 */
enum sb_health sb_device_health(enum sb_reason *why);
/* Moves health from `from` to `to`; false if it was not `from`. `why` goes with unusable. */
bool sb_device_turn(enum sb_health from, enum sb_health to, enum sb_reason why);

/* The team if it is ready, else NULL; and the first device of it. */
struct sb_team *sb_device_team(void);
struct sb_device *sb_device(void);

/* "0,1": the ordinals of devices, given by their bits in the team; "-" for none. */
#define SB_DEVICE_NAMES 64
void sb_device_names(unsigned devices, char text[SB_DEVICE_NAMES]);

/* One caller at a time has the team: waits at most `seconds`; false if it is still taken then. */
bool sb_device_take(struct sb_device *device, double seconds);
void sb_device_give(struct sb_device *device);
/* How many have it or wait for it. */
int sb_device_queue(struct sb_device *device);

/* What enter found on this thread, for leave to put back. */
struct sb_visit {
	int capture_mode;
	int error_number;
};
enum sb_status sb_device_enter(struct sb_device *device, struct sb_visit *visit);
void sb_device_leave(struct sb_device *device, const struct sb_visit *visit);

/*
 * To another device of the team and back, between enter and leave: what is done on a device is done
 * while its context is the current one. SB_OK or SB_LOST.
 */
enum sb_status sb_device_step_over(struct sb_device *device);
enum sb_status sb_device_step_back(struct sb_device *device);

/*
 * What a driver call's result means to the caller: SB_OK, SB_NO_MEMORY, SB_DECLINE (this call
 * failed, the context is whole) or SB_LOST, in which case the device is marked lost and one warning
 * naming `what` is printed.
 */
enum sb_status sb_device_check(struct sb_device *device, sb_cu_result result, const char *what);
/* The device is lost: never again in this process, one warning. Returns SB_LOST. */
enum sb_status sb_device_lose(struct sb_device *device, const char *why);

/* Has the event happened? SB_OK, or SB_LOST if the work before it failed. Does not wait. */
enum sb_status sb_device_poll(struct sb_device *device, sb_cu_event event, bool *happened);

/*
 * Waits until the event has happened, polling: SB_OK, or SB_LOST if work failed, or if more than
 * `seconds` have been waited, in this wait and all others since the device was taken. What the CPU
 * did between waits does not count, nor does the time for which the process was stopped. Several
 * threads may wait at once.
 */
enum sb_status sb_device_wait(struct sb_device *device, sb_cu_event event, double seconds);

/*
 * A moment's wait in a loop that polls, counted as sb_device_wait() counts: SB_OK, or SB_LOST if
 * that makes it too long. *since is 0 when something has moved since the last; it is set then.
 */
enum sb_status sb_device_pause(struct sb_device *device, double *since, double seconds);

/* Counting of waits begins anew: the device has been taken. */
void sb_device_forget_waits(void);

/* How long a call may wait where `prediction` seconds are expected: max(10 s, 20 predictions), and
 * no longer than a day. */
double sb_device_patience(double prediction);
/* Tests shorten the 10 s. */
extern double sb_device_least_patience;

/* Where an operand lies. Managed memory counts as pageable: the CPU copies it. */
enum sb_place { SB_PLACE_PAGEABLE, SB_PLACE_PINNED, SB_PLACE_DEVICE, SB_PLACE_ELSEWHERE };
/*
 * Classifies the bytes [pointer, pointer + bytes) by their ends. SB_PLACE_ELSEWHERE: on another
 * device. Needs a ready device; if the driver cannot say, the answer is pageable where the CPU can
 * read them, else elsewhere: what the CPU cannot read is never said to be the CPU's.
 */
enum sb_place sb_device_place(struct sb_device *device, const void *pointer, size_t bytes);

#endif
