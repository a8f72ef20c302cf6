/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact_fiber.h"

#include <cstdint>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

static constexpr size_t stack_bytes = 256 << 10;

bool sb_fiber_take(sb_fiber *fiber)
{
	void *stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*fiber = sb_fiber();
	if (stack == MAP_FAILED)
		return false;
	fiber->stack = static_cast<unsigned char *>(stack);
	fiber->stack_bytes = stack_bytes;
#ifdef __SANITIZE_THREAD__
	fiber->tsan = __tsan_create_fiber(0);
#endif
	return true;
}

void sb_fiber_give(sb_fiber *fiber)
{
	if (fiber->stack == nullptr)
		return;
#ifdef __SANITIZE_THREAD__
	__tsan_destroy_fiber(fiber->tsan);
#endif
#ifdef __SANITIZE_ADDRESS__
	__asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes);
#endif
	munmap(fiber->stack, fiber->stack_bytes);
	fiber->stack = nullptr;
}

/* makecontext passes ints only. */
static void trampoline(unsigned high, unsigned low)
{
	sb_fiber *fiber = reinterpret_cast<sb_fiber *>((uintptr_t)high << 32 | low);

#ifdef __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(nullptr, &fiber->home_stack, &fiber->home_stack_bytes);
#endif
	fiber->body(fiber->argument);
}

void sb_fiber_start(sb_fiber *fiber, void (*body)(void *), void *argument)
{
	uintptr_t self = reinterpret_cast<uintptr_t>(fiber);

#ifdef __SANITIZE_ADDRESS__
	/* What the last body left poisoned when it was abandoned. */
	if (fiber->left != nullptr)
		__asan_unpoison_memory_region(fiber->left,
					      fiber->stack + fiber->stack_bytes - fiber->left);
#endif
	fiber->begun = false;
	fiber->body = body;
	fiber->argument = argument;
	fiber->fake_stack = nullptr;
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = fiber->stack_bytes;
	fiber->context.uc_link = nullptr;
	makecontext(&fiber->context, reinterpret_cast<void (*)()>(trampoline), 2,
		    (unsigned)(self >> 32), (unsigned)self);
#ifdef __SANITIZE_ADDRESS__
	/* Or each entry would forget what is known of the whole stack. */
	fiber->context.uc_stack.ss_size = 0;
#endif
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static void enter(sb_fiber *fiber)
{
	swapcontext(&fiber->home, &fiber->context);
}

static void leave(sb_fiber *fiber)
{
	swapcontext(&fiber->context, &fiber->home);
}
#else
/* A context brings its signal mask, which costs more than all the rest: it is for the first entry. */
static void enter(sb_fiber *fiber)
{
	if (_setjmp(fiber->back) != 0)
		return;
	if (fiber->begun)
		_longjmp(fiber->here, 1);
	fiber->begun = true;
	setcontext(&fiber->context);
}

static void leave(sb_fiber *fiber)
{
	if (_setjmp(fiber->here) == 0)
		_longjmp(fiber->back, 1);
}
#endif

void sb_fiber_enter(sb_fiber *fiber)
{
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_start_switch_fiber(&fiber->home_fake_stack, fiber->stack, fiber->stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
	fiber->tsan_home = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(fiber->tsan, 0);
#endif
	enter(fiber);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(fiber->home_fake_stack, nullptr, nullptr);
#endif
}

void sb_fiber_leave(sb_fiber *fiber)
{
#ifdef __SANITIZE_ADDRESS__
	/* What lies below was returned from, but for the red zone and a few frames of the switch. */
	fiber->left = static_cast<unsigned char *>(__builtin_frame_address(0)) - 4096;
	__sanitizer_start_switch_fiber(&fiber->fake_stack, fiber->home_stack,
				       fiber->home_stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
	__tsan_switch_to_fiber(fiber->tsan_home, 0);
#endif
	leave(fiber);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_finish_switch_fiber(fiber->fake_stack, &fiber->home_stack,
					&fiber->home_stack_bytes);
#endif
}
