/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: which tiles of C got which arithmetic: what the flags on the device say afterwards. */
#ifndef SB_TILES_H
#define SB_TILES_H

#include "carry.h"

/*
 * Adds a device's tiles of 128 x 128 to the counts, when its part of an emulated product has been
 * carried out. As sb_transfer_down(); on failure nothing is added. Called as that is.
 */
enum sb_status sb_tiles_count(const struct sb_carry *carry, int64_t tiles[SB_ARITHMETICS]);

#endif
