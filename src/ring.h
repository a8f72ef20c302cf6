/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: two rings of pinned slots for each device, through which pageable memory goes to the
 * device and what the device has computed comes home. The copy threads fill slots from the caller's
 * memory and commit slots to it; the copy engines see the slots alone, so that nothing late can
 * touch the caller's memory. Nothing here waits: sb_ring_turn() moves on what can be moved on.
 *
 * A slot on its way up is filled, copied to the device, and free again when the event after that
 * copy has happened; on its way down it is copied from the device, committed when the event after
 * that copy has happened, and free when that is done. Each ring keeps its order.
 *
 * Called by the one who has taken the device and entered it, or stepped over to it.
 */
#ifndef SB_RING_H
#define SB_RING_H

#include "device.h"
#include "lines.h"

#define SB_RING_SLOTS 16 /* of each direction */

/* Makes the device's rings. SB_NO_MEMORY if not even the smallest can be had. Costs nothing
 * afterwards. */
enum sb_status sb_ring_prepare(struct sb_device *device);
size_t sb_ring_slot(void); /* bytes of one, on whatever device */
/* The most bytes of one, where SHIMBLAS_SLOT does not say; before the rings are made. */
void sb_ring_wish(size_t slot);

/*
 * So many bytes are going to pass in each direction: chunks are small at the beginning, so that the
 * wire starts early, and at the end, so that it ends early.
 */
void sb_ring_expect(struct sb_device *device, size_t up, size_t down);

struct sb_upload {
	struct sb_lines lines;
	struct sb_cut cut;
	sb_cu_event after; /* recorded when the last copy is queued, unless NULL */
	bool *queued;	   /* set then */
	int step;	   /* of the call's timeline; 0: none */
};
/* Hands chunks to the copy threads as long as slots are free; true when there is no more. */
bool sb_ring_feed(struct sb_device *device, struct sb_upload *upload);

/* Writes a piece of lines to the caller's memory; called on any thread, for several at a time. */
typedef void sb_ring_commit(void *context, const struct sb_chunk *piece, const void *from,
			    size_t pitch);

struct sb_download {
	struct sb_lines lines; /* host is not touched */
	struct sb_cut cut;
	sb_cu_event after;
	bool *queued;
	sb_ring_commit *commit;
	void *context;
	int step;		 /* of the call's timeline; 0: none */
	struct sb_cut committed; /* what lies before it is, or is being, committed */
};
/* Queues copies as long as slots are free; *all is set when there is no more. */
enum sb_status sb_ring_fetch(struct sb_device *device, struct sb_download *download, bool *all);

/* Moves on what has been filled, copied and committed; *moved is set if there was any. */
enum sb_status sb_ring_turn(struct sb_device *device, bool *moved);

/* Is there anything that is still to be queued upwards, or to be committed? */
bool sb_ring_busy(const struct sb_device *device);

/*
 * Waits for the copy threads to finish what they were given; what was not given to them yet is
 * forgotten. Slots that the device may still use stay taken until it has passed them.
 */
void sb_ring_settle(struct sb_device *device);

/*
 * For loops around sb_ring_turn(): helps the copy threads if nothing moved, and if there is nothing
 * to help with waits a little. SB_LOST if that takes more than `seconds`, as sb_device_wait()
 * counts.
 */
struct sb_idle {
	double since;
};
enum sb_status sb_ring_idle(struct sb_device *device, struct sb_idle *idle, bool moved,
			    double seconds);

/* Copies between slots, or pinned memory, and the device; queued with `event` recorded after it. */
enum sb_status sb_ring_copy(struct sb_device *device, const struct sb_lines *lines, bool up,
			    sb_cu_event event);

#endif
