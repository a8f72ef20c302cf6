/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: lets the n-th allocation, mapping or thread of a process fail. scarce_open(kind, n)
 * begins to count what is asked for from then on, on whichever thread, by ShimBLAS or by the C
 * library and the loader for it; not what OpenBLAS, the stand-in driver or the program asks for,
 * which are not under test. scarce_hits() says how many have failed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scarce.h"

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static atomic_int wanted = -1; /* a kind */
static atomic_long left, hits;
static _Thread_local int inside;

void scarce_open(enum scarce_kind kind, long n)
{
	atomic_store(&left, n);
	atomic_store(&hits, 0);
	atomic_store(&wanted, (int)kind);
}

long scarce_hits(void)
{
	return atomic_load(&hits);
}

static int tested(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) != 0 && info.dli_fname &&
	       !strstr(info.dli_fname, "openblas") && !strstr(info.dli_fname, "libcuda") &&
	       !strstr(info.dli_fname, "/cases/");
}

static int fails(enum scarce_kind kind, const void *caller)
{
	int failing;

	if (atomic_load(&wanted) != (int)kind || inside)
		return 0;
	inside = 1;
	failing = tested(caller) && atomic_fetch_sub(&left, 1) == 1;
	inside = 0;
	if (failing)
		atomic_fetch_add(&hits, 1);
	return failing;
}

void *malloc(size_t bytes)
{
	if (fails(SCARCE_MEMORY, __builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	if (fails(SCARCE_MEMORY, __builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
	if (fails(SCARCE_MEMORY, __builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(memory, bytes);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
	if (fails(SCARCE_MAPPINGS, __builtin_return_address(0))) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (fails(SCARCE_THREADS, __builtin_return_address(0)))
		return EAGAIN;
	*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, body, argument);
}
