/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: the pages of a fresh C. A program that has just allocated C has no memory behind most of
 * it, and writing it for the first time costs more than copying it. So the copy threads have the
 * system put pages there while the device computes. What C holds does not change, and no page is
 * asked for that lies not wholly within C, or that holds none of its elements.
 */
#ifndef SB_FRESH_H
#define SB_FRESH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "call.h"
#include "copy_threads.h"
#include "timeline.h"

struct sb_fresh {
	struct sb_copy_job job;
	struct sb_timeline *timeline; /* of the call, or NULL */
	char *base;
	size_t bytes, piece;
	atomic_bool over;
	bool begun;
};

/*
 * Begins, if a look at a few pages says that some are missing, and there are copy threads. Copying
 * is open. To be ended before it is closed.
 */
void sb_fresh_begin(struct sb_fresh *fresh, const struct sb_call *call);
/* What has not been begun is left undone. Of one that has not begun: nothing. */
void sb_fresh_end(struct sb_fresh *fresh);

#endif
