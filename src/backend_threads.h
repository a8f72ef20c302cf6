/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: how many threads a BLAS uses, by its own word: OpenBLAS, MKL and BLIS each have a
 * function that says so, under the prefix and suffix of the library's other names.
 */
#ifndef SB_BACKEND_THREADS_H
#define SB_BACKEND_THREADS_H

#include <stdbool.h>

struct sb_backend_threads {
	void (*get)(void); /* NULL: it does not say */
	void (*set)(void); /* NULL: it does not let itself be told */
	bool wide;	   /* they speak of 64-bit numbers */
};

/*
 * Looks for the functions in the object that `function` lies in, and what that was linked with.
 * `spelling` is the name it was found under, `plain` the same without prefix and suffix. Leaves a
 * message for dlerror().
 */
struct sb_backend_threads sb_backend_threads_find(const void *function, const char *spelling,
						  const char *plain);

/* The threads now in force; 0 if it does not say. */
int sb_backend_threads_get(const struct sb_backend_threads *threads);
/* False if it cannot be told, or does something else. */
bool sb_backend_threads_set(const struct sb_backend_threads *threads, int count);

#endif
