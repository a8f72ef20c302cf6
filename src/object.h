/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: the objects loaded in this process, and what of them may serve as a backend.
 *
 * All functions may leave a message for dlerror(); who calls them from a program's call clears it.
 */
#ifndef SB_OBJECT_H
#define SB_OBJECT_H

#include <stdint.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * May this address be called as a backend? Not if it lies in this library, in a copy of it (the
 * same SONAME under another path), or in an object that needs it, since such a function leads back
 * here.
 */
bool sb_object_foreign(const void *address);

/* The path of the object an address lies in, "" for the program itself; NULL if in none. */
const char *sb_object_path(const void *address);

/* Bytes of the function that begins at an address, by its object's table of symbols; 0: not known.
 */
size_t sb_object_function_bytes(const void *function);

/* A handle for the object an address lies in, which thereby stays loaded; NULL if in none. */
void *sb_object_hold(const void *address);

/*
 * Looks for a symbol in every loaded object in load order, skipping what is not foreign, and keeps
 * the object it was found in loaded. NULL if there is none.
 */
void *sb_object_walk(const char *symbol);

/* How often objects have been loaded in this process: it has changed where a new one may be there.
 */
uint64_t sb_object_loads(void);

#endif
