/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

/* The one place where a large call leaves for the GPU. No device is driven yet. */
enum sb_status sb_offload(const struct sb_call *call, struct sb_decision *decision,
			  sb_finish *finish, void *context)
{
	(void)call;
	(void)decision;
	(void)finish;
	(void)context;
	return SB_NO_DEVICE;
}
