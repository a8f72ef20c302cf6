/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the stand-in driver share. Everything here is guarded by one lock, which
 * world_enter takes and world_leave gives; functions below them are called with it held.
 *
 * A row of driver.def is defined as stand_in_<slot>; its declaration gives it the exported name.
 */
#ifndef SB_STAND_IN_WORLD_H
#define SB_STAND_IN_WORLD_H

#include <stdbool.h>
#include "../../kernels/args.h"
#include "../../src/cuda_types.h"

#define EXPORTED __attribute__((visibility("default")))

#define SB_DRIVER(slot, base, symbol, version, parameters)                                         \
	EXPORTED sb_cu_result stand_in_##slot parameters __asm__(symbol);
#include "../../src/driver.def"
#undef SB_DRIVER

enum slot {
#define SB_DRIVER(slot, base, symbol, version, parameters) SLOT_##slot,
#include "../../src/driver.def"
#undef SB_DRIVER
	SLOTS
};

enum { DEVICES = 8, FAULTS = 32 };

/* Of copies: from the host, to it, and from another device. */
enum way { WAY_UP, WAY_DOWN, WAY_PEER, WAYS };

enum { /* errors that cuda_types.h has no use for */
       ERROR_PEER_ACCESS_UNSUPPORTED = 217,
       ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
       ERROR_STREAM_CAPTURE_INVALIDATED = 901,
       ERROR_STREAM_CAPTURE_IMPLICIT = 906
};

/* What SB_STAND_IN says. */
struct settings {
	long devices, cc, sms, shared, memory, driver, exact, seed, slow, start, most, pageable,
		nopeer, island, sealed, capturing, whole, abort, forget;
	char report[256];
};

enum fault_kind { FAULT_FAIL, FAULT_FROM, FAULT_LOSE, FAULT_CRASH, FAULT_HANG };

struct fault {
	enum fault_kind kind;
	enum slot slot;
	long call;
	sb_cu_result error; /* 0: the slot's usual one */
};

/* One record of an event: what waits, queries and synchronisations refer to. */
struct marker {
	int references;
	bool done;
	struct operation *record; /* while not done */
	int64_t at;		  /* when it was done */
	int patience;		  /* queries still answered with NOT_READY; 0: not asked yet */
};

enum operation_kind {
	OPERATION_COPY,
	OPERATION_SET,
	OPERATION_LAUNCH,
	OPERATION_RECORD,
	OPERATION_WAIT
};

union arguments {
	struct sb_gemm_args gemm;
	struct sb_pack_args pack;
	struct sb_split_args split;
};

struct launch {
	struct CUfunc_st *function;
	unsigned grid, shared;
	union arguments arguments;
};

struct operation {
	struct operation *next; /* later in the same stream */
	struct CUstream_st *stream;
	enum operation_kind kind;
	unsigned long order; /* among all operations of the process */
	int64_t due;	     /* it is not finished before */
	bool hangs;
	sb_cu_result crash;
	char *to; /* copies and sets: rows of width bytes */
	const char *from;
	bool watch_to, watch_from; /* they were in an allocation of ours */
	void *staged;		   /* owned copy of a pageable source */
	size_t width, height, to_pitch, from_pitch;
	unsigned word;
	struct launch *launch; /* owned */
	struct marker *marker; /* a reference */
};

enum tag { TAG_LIVE = 0x5b11fe, TAG_DEAD };

/* Handles are never given back to the allocator, so that a stale one is always recognised. */
struct CUstream_st {
	enum tag tag;
	struct CUstream_st *next; /* in the context, dead ones too */
	struct CUctx_st *context;
	unsigned flags;
	bool captured;
	struct operation *head, *tail;
	int64_t due;	 /* of the last operation */
	bool multiplies; /* the kernel that was launched last, or adds up what one did */
	int patience;
};

struct CUevent_st {
	enum tag tag;
	struct CUevent_st *next;
	struct CUctx_st *context;
	unsigned flags;
	struct marker *last; /* a reference; NULL before the first record */
};

struct CUctx_st {
	enum tag tag;
	bool primary;
	int device, retained;
	unsigned peers; /* a bit for each device whose memory its kernels may touch */
	struct CUstream_st null;
	struct CUstream_st *streams; /* all but the null stream */
	struct CUctx_st *next;
};

enum memory_kind { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MANAGED, MEMORY_REGISTERED };

struct allocation {
	struct allocation *next;
	enum memory_kind kind;
	unsigned long long number; /* that no other ever gets */
	char *base;
	size_t bytes;
	char *map; /* with the guard pages */
	size_t map_bytes;
	struct CUctx_st *context;
	size_t reserved;  /* of addresses whose memory is mapped piece by piece; 0: not so */
	unsigned devices; /* a bit for each that may touch such memory */
};

/* Memory that is mapped, or may be. */
struct backing {
	struct backing *next;
	sb_cu_memory name;
	int device;
	size_t bytes;
	bool released;
	char *at; /* NULL: nowhere */
};

struct world {
	struct settings settings;
	struct fault faults[FAULTS];
	int fault_count;
	long calls[SLOTS];
	bool started, configured;
	sb_cu_result lost[DEVICES]; /* sticky */
	long bytes[WAYS][DEVICES];  /* copied, since the last configure */
	sb_cu_result crash;	    /* for the operation that the call inside is about to queue */
	bool hang;
	char error[256];
	unsigned long random, orders;
	unsigned long long numbers; /* of allocations */
	int captures;		    /* streams that are being captured */
	struct CUctx_st primary[DEVICES];
	struct CUctx_st *contexts; /* made by cuCtxCreate */
	struct CUevent_st *events;
	struct CUmod_st *modules;
	struct allocation *allocations;
	struct backing *backings;
	sb_cu_memory names;
	size_t used[DEVICES];
	int live_streams, live_events, live_modules, pending;
};
extern struct world world;

/* fault: the way into and out of every driver function */
sb_cu_result world_enter(enum slot slot); /* an error: the lock is not held, return it */
sb_cu_result world_leave(sb_cu_result error);
void world_lock(void);
void world_unlock(void);
void world_wait_for_ever(void) __attribute__((noreturn));
void world_sleep_until(int64_t due); /* without the lock */
int64_t world_now(void); /* nanoseconds; no floating point, whose flags are the caller's */
unsigned world_random(unsigned below);
void world_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
sb_cu_result world_lost(const struct CUctx_st *context);  /* NULL: as device 0 */
int slot_find(const char *name, size_t length);		  /* -1 */
sb_cu_result error_find(const char *name, size_t length); /* -1; a number or a name */
extern const char *const slot_names[SLOTS];

/* config */
void config_start(void); /* from SB_STAND_IN, once */

/* device */
bool device_linked(int device, int peer);
int device_threads_of_multiprocessor(void);

/* context */
int context_capture_mode(void);	    /* of this thread */
struct CUctx_st *context_top(void); /* NULL: none is current */
bool context_valid(struct CUctx_st *context);
struct CUctx_st *context_each(struct CUctx_st *last); /* NULL: the first; returns NULL at the end */
void context_init(struct CUctx_st *context, int device);
void context_clear(struct CUctx_st *context); /* drops its streams, memory and modules */
/* Does the legacy stream, which waits for all that is captured there, end a capture? */
bool context_captures(const struct CUctx_st *context);
sb_cu_result context_push(struct CUctx_st *context);
sb_cu_result context_set(struct CUctx_st *context); /* replaces the top of the stack */

/* memory */
struct allocation *memory_find(const void *pointer); /* NULL: not ours */
/* Whether bytes from pointer are inside one live allocation; else a violation that names `what`. */
bool memory_holds(const void *pointer, size_t bytes, const char *what);
/* Whether a kernel of that context may touch them; else a violation. */
bool memory_reach(struct CUctx_st *context, const void *pointer, size_t bytes, const char *what);
sb_cu_result memory_take(struct CUctx_st *context, enum memory_kind kind, size_t bytes,
			 void **base);
sb_cu_result memory_register(struct CUctx_st *context, void *base, size_t bytes);
sb_cu_result memory_give(void *base, bool host);
void memory_clear(struct CUctx_st *context);
/* 0xFF in every byte of [map, map + bytes), whole pages; false: no memory. */
bool memory_poison(char *map, size_t bytes);
/* Whether the device may touch addresses of the virtual kind; and what is behind them goes. */
bool memory_open_to(const struct allocation *allocation, int device);
void memory_unback(const struct allocation *allocation);
void memory_seal(bool sealed); /* device memory faults on access, if the settings ask for it */

/* stream: queues and the order in which they run */
struct CUstream_st *stream_resolve(sb_cu_stream stream, sb_cu_result *error);
struct operation *stream_add(struct CUstream_st *stream, enum operation_kind kind);
sb_cu_result stream_finish(struct CUstream_st *stream);
sb_cu_result stream_finish_until(struct CUstream_st *stream, unsigned long order);
sb_cu_result stream_finish_context(struct CUctx_st *context);
bool stream_nudge(struct CUstream_st *stream); /* runs one operation towards its end, if one can */
void stream_progress(void);		       /* whatever the seed feels like */
void stream_clear(struct CUstream_st *stream); /* drops what is queued */
bool stream_uses(const void *base, size_t bytes); /* something queued copies to or from there */

/* event */
void marker_give(struct marker *marker);
bool patience_runs_out(int *patience);

/* module, launch, engines */
enum kernel_kind {
	KERNEL_GEMM,
	KERNEL_PACK,
	KERNEL_SUM,
	KERNEL_SPLIT,
	KERNEL_FP16X3,
	KERNEL_BF16X6
};

struct kernel { /* a row of kernels.def */
	const char *name;
	enum kernel_kind kind;
	unsigned threads, tile_m, tile_n, tile_k,
		dynamic; /* a pack kernel: tile_m by tile_k; a sum: tile_m elements */
	unsigned registers, static_shared; /* plausible, where nobody knows better */
	int arch;
	bool panels, bulk, split, persistent, resumes;
	unsigned cluster;
	bool cuts; /* k */
	unsigned stages;
};

struct CUfunc_st {
	const struct kernel *kernel;
	struct CUmod_st *module;
	int dynamic_limit;
	struct CUfunc_st *next;
};

struct CUmod_st {
	enum tag tag;
	struct CUctx_st *context;
	struct CUfunc_st *functions;
	struct CUmod_st *next;
};

void module_clear(struct CUctx_st *context);
unsigned kernel_static_shared(const struct kernel *kernel);
sb_cu_result launch_run(struct operation *operation);

#endif
