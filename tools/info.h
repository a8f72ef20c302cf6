/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `shimblas info` that have files of their own. */
#ifndef SB_INFO_H
#define SB_INFO_H

#include "page.h"
#include "status.h"

/*
 * Says what is known of the driver and its devices. SB_REASON_FASTER if a GPU can be used here,
 * else why it cannot. Starts CUDA no further than counting devices needs.
 */
enum sb_reason sb_info_driver(struct sb_page *page);

/*
 * Says what kernels there are, with what the driver knows of each where there is a device:
 * registers, shared and local memory, and how many blocks a multiprocessor holds at once.
 */
void sb_info_kernels(struct sb_page *page);

#endif
