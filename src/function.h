/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 4: the functions behind the kernels' names on a device: images loaded at first use and
 * kept, functions looked up once. Called by the one who has taken and entered the device.
 */
#ifndef SB_FUNCTION_H
#define SB_FUNCTION_H

#include "device.h"

struct sb_function {
	const char *name; /* NULL: free */
	sb_cu_function function;
	bool raised; /* its limit of dynamic shared memory */
	bool solid;  /* there is something behind the symbol */
};

/*
 * The function of a kernel whose source is `source`; it stays the device's. SB_DECLINE if no image
 * for this device has it.
 */
enum sb_status sb_function_find(struct sb_device *device, const char *source, const char *name,
				struct sb_function **found);

/*
 * SB_DECLINE if there is nothing behind the symbol of a kernel on the tensor cores.
 */
enum sb_status sb_function_look_behind(struct sb_device *device, struct sb_function *function);

#endif
