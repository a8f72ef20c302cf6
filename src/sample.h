/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: a short measurement of a device that no profile knows, while CUDA is started: how fast
 * pinned memory goes to it and comes back, in some ten milliseconds.
 */
#ifndef SB_SAMPLE_H
#define SB_SAMPLE_H

#include "profile.h"

/*
 * False if it could not be taken; nothing is kept either way. Called by the one who has the device,
 * which it enters itself.
 */
bool sb_sample_take(struct sb_device *device, struct sb_profile_sample *sample);

#endif
