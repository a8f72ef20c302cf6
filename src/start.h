/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: the purchase of the CUDA start. Starting CUDA costs a fraction of a second or more, so
 * it is bought when calls would have saved as much, and it happens on a helper thread that blocks
 * all signals while the CPU answers.
 *
 * From the purchase on, a forked child counts as the child of a parent with CUDA live. The exit of
 * the process waits a while for a start in progress, and turns the device off: after that no CUDA
 * function is called.
 */
#ifndef SB_START_H
#define SB_START_H

#include "device.h"

#define SB_START_PRICE	  0.3  /* seconds, as long as nobody knows better */
#define SB_START_PATIENCE 20.0 /* seconds a caller waits at most for a start in progress */

/* What a start costs here, in seconds. */
void sb_start_set_price(double seconds);

/*
 * Adds `saving` seconds, which a call would have gained from a started GPU, to the savings missed
 * so far, and buys the start if they reach the price. Returns the seconds missed so far. No effect
 * unless the device is unborn.
 */
double sb_start_missed(double saving);

/*
 * Seconds that a start in progress is likely to take on: what is left of the price or, where it has
 * taken longer than that, as long as it has taken.
 */
double sb_start_left(void);

/*
 * Who is to be shown the device when it has been made, on the helper thread and before it is ready:
 * the last who asked. He may use it, and is waited for as the start is.
 */
void sb_start_meet(void (*meet)(struct sb_device *device));

/* Buys the start now, unless it has been bought. Returns at once. */
void sb_start_buy(void);

/*
 * Waits for a start in progress, at most `seconds`, and returns the health then. Callers after one
 * that waited in vain do not wait: the start may be blocked by a lock which a caller holds.
 */
enum sb_health sb_start_wait(double seconds);

/* A call is over. One that has waited for the start is itself waited for when the process ends. */
void sb_start_over(void);

#endif
