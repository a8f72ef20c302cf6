/* SPDX-License-Identifier: BSD-3-Clause */
/* Where this command and the library it belongs to are. */
#ifndef SB_PLACE_H
#define SB_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The path of libshimblas.so.0: beside this executable (a build tree), else where it was installed
 * relative to this executable (also in a tree that was moved as a whole), else the configured
 * folder. False if there is none; `path` then is the last place looked at.
 */
bool sb_place_library(char *path, size_t size);

/* The path of this executable; false if it cannot be told. */
bool sb_place_self(char *path, size_t size);

#endif
