/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: the CUDA driver library, behind one table of slots made from driver.def. Nothing else
 * in the library calls CUDA, and nothing is linked against it.
 *
 * The library is opened once in a process: libcuda.so.1, or what SHIMBLAS_DRIVER names, RTLD_LOCAL,
 * kept for ever. A slot is filled by cuGetProcAddress at the ABI version of its row where the
 * driver has that function, else by dlsym. An absent or unusable driver is no error and prints
 * nothing unless SHIMBLAS_DRIVER named it; the dlerror of the calling thread is left clear.
 */
#ifndef SB_DRIVER_H
#define SB_DRIVER_H

#include <stdbool.h>

#include "cuda_types.h"

/* The CUDA major version the kernels were compiled with: an older driver cannot load them. */
#ifndef SB_CUDA_MAJOR
#define SB_CUDA_MAJOR 13
#endif

struct sb_driver {
#define SB_DRIVER(slot, base, symbol, version, parameters) sb_cu_result(*slot) parameters;
#include "driver.def"
#undef SB_DRIVER
};

enum sb_driver_state {
	SB_DRIVER_UNOPENED,
	SB_DRIVER_OPENING, /* another thread is at it; nobody waits for it here */
	SB_DRIVER_USABLE,
	SB_DRIVER_ABSENT, /* no such library */
	SB_DRIVER_BROKEN, /* the library lacks a function we need, or does not answer */
	SB_DRIVER_TOO_OLD /* older than SB_CUDA_MAJOR */
};

struct sb_driver_status {
	enum sb_driver_state state;
	int version;	     /* as cuDriverGetVersion: 1000 major + 10 minor; 0 if never asked */
	const char *path;    /* what was or would be opened; never NULL */
	const char *missing; /* the first function found missing, or NULL */
};

/*
 * Opens the driver if nobody has yet. Returns its table, or NULL if there is none that is usable or
 * another thread is opening it just now. May take milliseconds and the loader's lock. Calls no CUDA
 * function but cuDriverGetVersion, so CUDA is not started.
 */
const struct sb_driver *sb_driver_open(void);

/* The table if the driver has been opened and is usable, else NULL. Never waits, opens nothing. */
const struct sb_driver *sb_driver(void);

/* What is known so far; opens nothing. */
struct sb_driver_status sb_driver_status(void);

/*
 * Has anybody loaded the driver into this process? Opens and starts nothing. Where it was not
 * there, and nothing has been loaded since, that is known in some ten nanoseconds; but not in a
 * child of fork, which finds the loader's locks as they were. errno is kept.
 */
bool sb_driver_loaded(void);

/*
 * The device handle of the calling thread's current CUDA context, or -1 if the program has loaded
 * no driver or made no context current. Opens and starts nothing.
 */
int sb_driver_current_device(void);

/* The driver's word for an error, as "CUDA_ERROR_UNKNOWN"; never NULL. */
const char *sb_driver_error(sb_cu_result result);

/*
 * May work go on after this error? Errors of one call (no memory, a bad argument, an image that
 * does not fit) leave the context whole; after any other it must not be touched again.
 */
int sb_driver_survives(sb_cu_result result);

#endif
