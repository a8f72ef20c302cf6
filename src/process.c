/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "settings.h"
#include "trace.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool live, forked_live, child;

static _Thread_local unsigned char depth __attribute__((tls_model("initial-exec")));

/* Callers of the backend, and whether this thread is one; the key's destructor hears of its end. */
static atomic_int callers;
static _Thread_local bool calling __attribute__((tls_model("initial-exec")));
static pthread_key_t calling_key;
static bool calling_watched;

/*
 * The control word of SSE or of the Arm FPU with its flags, read and written without libm, which
 * the preload library does not need.
 */
#if defined(__x86_64__) || defined(__i386__)
static const unsigned long default_environment = 0x1f80;

static unsigned long read_environment(void)
{
	return __builtin_ia32_stmxcsr();
}

static void write_environment(unsigned long environment)
{
	__builtin_ia32_ldmxcsr((unsigned)environment);
}
#elif defined(__aarch64__)
static const unsigned long default_environment = 0;

static unsigned long read_environment(void)
{
	unsigned long control, status;

	__asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
	return control | status << 32;
}

static void write_environment(unsigned long environment)
{
	__asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1"
			 :
			 : "r"(environment & 0xffffffff), "r"(environment >> 32));
}
#else
#error "src/process.c needs to know this processor's floating-point control word"
#endif

static void enter_child(void)
{
	if (atomic_load(&live))
		atomic_store(&forked_live, true);
	atomic_store(&child, true);
	depth = 0;
	atomic_store(&callers, 0);
	calling = false;
}

static void end_calling(void *unused)
{
	(void)unused;
	if (calling)
		sb_process_part_from_callers();
}

static void start(void)
{
	pthread_atfork(NULL, NULL, enter_child);
	calling_watched = pthread_key_create(&calling_key, end_calling) == 0;
	sb_trace_refused_settings();
}

void sb_process_start(void)
{
	pthread_once(&once, start);
}

void sb_process_mark_live(void)
{
	atomic_store(&live, true);
}

bool sb_process_forked_live(void)
{
	return atomic_load(&forked_live);
}

bool sb_process_child(void)
{
	return atomic_load(&child);
}

bool sb_process_nested(void)
{
	return depth > 0;
}

bool sb_process_join_callers(void)
{
	/* Without a watch one that ends inside would be counted for ever. */
	if (calling || !calling_watched || pthread_setspecific(calling_key, &callers) != 0)
		return false;
	calling = true;
	atomic_fetch_add(&callers, 1);
	return true;
}

void sb_process_part_from_callers(void)
{
	calling = false;
	atomic_fetch_sub(&callers, 1);
}

int sb_process_callers(void)
{
	return atomic_load(&callers) - calling;
}

void sb_process_default_floating_point(void)
{
	write_environment(default_environment);
}

bool sb_process_enter(struct sb_as_found *found)
{
	if (depth)
		return false;
	depth = 1;
	found->error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &found->cancel_state);
	found->floating_point = read_environment();
	write_environment(default_environment);
	return true;
}

void sb_process_leave(const struct sb_as_found *found)
{
	write_environment(found->floating_point);
	pthread_setcancelstate(found->cancel_state, NULL);
	errno = found->error;
	depth = 0;
}

bool sb_process_reads(const void *address)
{
	/* The kernel fetches the set, a word of the same page, before it sees that ~0 is no way. */
	uintptr_t word = (uintptr_t)address & ~(uintptr_t)7;
	int error = errno;
	bool reads = syscall(SYS_rt_sigprocmask, ~0, word, NULL, 8) == 0 || errno != EFAULT;

	errno = error;
	return reads;
}
