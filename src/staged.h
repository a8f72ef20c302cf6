/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 6: a call, some of whose operands lie on a device, answered by the CPU: they are staged
 * down into host memory, the CPU computes there, and C goes up again.
 */
#ifndef SB_STAGED_H
#define SB_STAGED_H

#include "call.h"
#include "device.h"

/* Computes a call whose operands all lie in host memory. */
typedef void sb_staged_compute(void *context, const struct sb_call *call);

/*
 * places: of A, B and C; what lies on another device is staged by ours. The caller does not have
 * the device: it is taken for the ways down and up, and given back while compute runs. SB_OK, or C
 * is untouched: SB_NO_MEMORY (host memory too), SB_LOST, SB_BUSY, SB_DECLINE.
 */
enum sb_status sb_staged_run(struct sb_device *device, const struct sb_call *call,
			     const enum sb_place places[3], sb_staged_compute *compute,
			     void *context, double patience);

#endif
