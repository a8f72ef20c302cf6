/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 3: a processor for each copy thread, which no other of them and no caller has.
 *
 * The threads of a BLAS spin for a while after a call, yielding or not. A copy thread that is woken
 * beside them is put on any processor, they all being busy: on that of the caller, who then waits
 * until the next tick, milliseconds later, or on that of another copy thread, with which it takes
 * turns. One that is bound to a processor which it has claimed does neither; the thread that spins
 * there shares with it or is moved.
 *
 * A seat is for a burst of work, and among the processors that the thread may run on at that
 * moment. He who gives it back has the affinity again that he had before, or, where somebody else
 * has set another since, that one; only one that was set to the very processor he was bound to
 * cannot be told from ours. Where nothing is free, where binding is refused, or where there is but
 * one processor, he runs where the scheduler puts him, as if there were no seats.
 */
#ifndef SB_SEATS_H
#define SB_SEATS_H

#include <stdbool.h>

#include "threads.h"

/*
 * A caller is where he runs from arriving to departing, which nest; between them he says now and
 * then where he is. For any number of threads at once.
 */
void sb_seats_arrive(void);
void sb_seats_move(void);
void sb_seats_depart(void);

/* What a copy thread has. */
struct sb_seat {
	int claimed;		      /* a processor, negative if none */
	unsigned seen;		      /* changes there had been when nothing was free */
	struct sb_processors allowed; /* before it was bound */
};
#define SB_SEAT_NONE ((struct sb_seat){.claimed = -1})

/*
 * Takes a seat unless it has one that is still good: it is on it, and no caller is. To be called
 * between any two pieces: it costs a few nanoseconds where nothing has changed.
 */
void sb_seats_take(struct sb_seat *seat);
/* Gives it back, if it has one. */
void sb_seats_give(struct sb_seat *seat);

/* In a child of fork, which has none of those threads: nobody has a seat. */
void sb_seats_enter_child(void);

#endif
