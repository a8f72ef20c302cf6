/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stand-in driver: a libcuda.so.1 for machines without a GPU. It implements every row of
 * src/driver.def on the CPU, as asynchronously as the real one may be, and watches the contract.
 *
 * Whoever loads it configures it through SB_STAND_IN (read by cuInit), `key=value,...`:
 *     devices=1..8  cc=90  sms=132  shared=BYTES (of one multiprocessor)  memory=BYTES driver=13000
 *     engine=quick|exact   seed=N        0: as late as possible; others: other orders
 *     slow=MS              every operation takes that long; start=MS  so does cuInit
 *     short=BYTES          a device allocation above that fails
 *     pageable=0|1         kernels may read pageable memory
 *     nopeer=0|1           no device reaches another's memory; island=N: only those of its own N
 *     sealed=0|1           device memory faults when the host touches it
 *     capturing=0|1        another thread captures a stream: allocating and freeing is a violation
 *                          unless the calling thread's capture mode is relaxed
 *     fail=SLOT:N[:ERROR]  the N-th call of SLOT fails, once; from= that one and all later ones
 *     lose=SLOT:N[:ERROR]  the current device is lost from then on, so that all later calls on it
 *                          fail alike
 *     crash=SLOT:N[:ERROR] what the N-th call queues loses its device when it runs
 *     hang=SLOT:N          what the N-th call queues never completes (a call that queues nothing
 *                          does not return)
 *     forget=0|1           what is queued now is forgotten, as with a device that is made anew
 *     abort=0|1            a violation of the contract ends the process (default 1)
 *     report=PATH          at exit, append the calls of each slot and what is still allocated
 * BYTES take K, M or G. SLOT is a name of driver.def, ERROR a number or a CUDA name without
 * `CUDA_ERROR_`. The names below are for tests that share its process.
 */
#ifndef SB_STAND_IN_H
#define SB_STAND_IN_H

#include <stddef.h>

/* What exists now. Operations queued and not yet run are `pending`. */
struct stand_in_live {
	int device_memory, host_memory, streams, events, modules, contexts, pending;
	size_t device_bytes, host_bytes;
};

/*
 * Changes the named keys, forgets the former faults, counts and violation, and heals lost
 * devices. NULL: all defaults. -1 and a line on stderr for a text that makes no sense.
 */
int stand_in_configure(const char *text);

/* Bytes that copies took "up" to a device, "down" from it or from its "peer"s to it, since then. */
long stand_in_bytes(const char *way, int device);

/* Calls of a slot since the last configure; -1 for a slot that does not exist. */
long stand_in_calls(const char *slot);

struct stand_in_live stand_in_live(void);

/* The first violation of the contract since the last configure, NULL if there was none. */
const char *stand_in_error(void);

#endif
