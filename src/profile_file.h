/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 5: where files with profiles lie, and what is in them. */
#ifndef SB_PROFILE_FILE_H
#define SB_PROFILE_FILE_H

#include "profile.h"

/* The file of this name in the user's configuration, or in the system's; false: there is no such
 * folder (the path may be too long, or no home known). */
bool sb_profile_path(bool users, uint64_t name, char *path, size_t size);

/*
 * Reads a profile. NULL; or what is wrong with it. *found is false if there is no such file, which
 * is no fault of it.
 */
const char *sb_profile_read(const char *path, struct sb_profile *profile, bool *found);

#endif
