/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 5: seconds that a call takes on each side, predicted. Pure functions of what they are
 * given. */
#ifndef SB_MODEL_H
#define SB_MODEL_H

#include "call.h"
#include "profile.h"
#include "situation.h"

/* On the CPU: 2mnk at the rate of its threads, and their wake-up. Never 0. */
double sb_model_cpu(const struct sb_profile *profile, const struct sb_situation *situation,
		    const struct sb_call *call);

/*
 * On a started GPU: latency, copies of A, B and C by where they lie, and the product; the shorter
 * of copying and computing hides behind the longer but for a share; and as much again for each
 * caller in the queue. Never 0.
 */
double sb_model_gpu(const struct sb_profile *profile, const struct sb_situation *situation,
		    const struct sb_call *call);

#endif
