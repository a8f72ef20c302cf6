/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers: the threads of a block, all on one thread of the process. Switches are announced to
 * AddressSanitizer and ThreadSanitizer. A fiber is entered with sb_fiber_enter from the thread that
 * made it and comes back with sb_fiber_leave; a fiber that was left for ever may be freed.
 */
#ifndef SB_EXACT_FIBER_H
#define SB_EXACT_FIBER_H

#include <csetjmp>
#include <cstddef>
#include <ucontext.h>

struct sb_fiber {
	ucontext_t context, home;
	/* Where it and its home go on; not used under a sanitizer, which knows contexts only. */
	jmp_buf here, back;
	bool begun;
	unsigned char *stack, *left; /* left: where its stack ended when it was last left */
	size_t stack_bytes;
	void (*body)(void *);
	void *argument;
	void *fake_stack, *home_fake_stack;
	const void *home_stack;
	size_t home_stack_bytes;
	void *tsan, *tsan_home;
};

/* Takes a stack for the fiber; false if there is no memory. */
bool sb_fiber_take(sb_fiber *fiber);
void sb_fiber_give(sb_fiber *fiber);
/* Makes the fiber start body(argument) at its next entry. body must end with sb_fiber_leave. */
void sb_fiber_start(sb_fiber *fiber, void (*body)(void *), void *argument);
void sb_fiber_enter(sb_fiber *fiber);
void sb_fiber_leave(sb_fiber *fiber);

#endif
