/* SPDX-License-Identifier: BSD-3-Clause */
/* What the suites of the backend finder ask it, and with which libraries loaded. */
#ifndef FINDER_H
#define FINDER_H

#include "backend.h"

/* Opens a library of the build; a child in which that fails does not pass. */
void *load(const char *file, int flags);

/* An address inside the main program, which knows no BLAS. */
const void *here(void);

/*
 * Is this what the finder finds for a caller: from this source, in an object whose path ends so (""
 * is the built-in loops), the same at the second look, with errno kept and no message for
 * dlerror()?
 */
bool found(struct sb_name *name, const void *caller, enum sb_source source, const char *file);

#endif
