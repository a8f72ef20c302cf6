/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: what products of this process took, over what the model had predicted of them.
 *
 * A profile knows a machine, not what else goes on there: threads of a BLAS that spin beside the
 * copies, a C whose pages are not there yet, another program on half the processors. So of each
 * class of products (sizes, each rounded up to a power of two; transposes; beta zero or not; the
 * arithmetic) and each side the last three are remembered as a factor, took / predicted. The
 * prediction stands for those that are missing, and the median of the three corrects the next
 * prediction: one slow call of a side, its first say, changes nothing.
 *
 * Where that turned the model's choice the side that lost is tried again after some calls, the more
 * the slower it was, after four times as many when it was no better, and so on: what a wrong memory
 * costs is bounded, and so is what the tries cost.
 *
 * Any thread may ask and add at any time; nothing waits or allocates. There is room for so many
 * classes; of further ones nothing is remembered.
 */
#ifndef SB_EXPERIENCE_H
#define SB_EXPERIENCE_H

#include "call.h"
#include "route.h"
#include "situation.h"

/* The factors of a call's class, 1 where nothing is known, and whether to try the side that lost.
 */
struct sb_experience sb_experience_of(const struct sb_call *call, bool emulate);

/* A decision with the seconds that the model has for each side, corrected by what is known. */
struct sb_decision sb_experience_correct(struct sb_decision decision,
					 const struct sb_experience *known, double cpu, double gpu);

/*
 * Adds a call that was judged: decision->nanoseconds is what it took on the side that answered. Of
 * a call without that, or that was forced, or compared, nothing is learnt.
 */
void sb_experience_add(const struct sb_call *call, const struct sb_decision *decision);

void sb_experience_reset(void);

#endif
