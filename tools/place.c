/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char file[] = "libshimblas.so.0";

bool sb_place_self(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size);

	if (length <= 0 || (size_t)length >= size)
		return false;
	path[length] = '\0';
	return true;
}

/*
 * What `folder` of the configuration is, seen from an executable that lies in `here` instead of the
 * configured SB_BINDIR: the components in which the two end alike are taken off both, and what is
 * left of SB_BINDIR is exchanged for what is left of `here`.
 */
static bool moved(const char *here, const char *folder, char *path, size_t size)
{
	size_t a = strlen(here), b = strlen(SB_BINDIR), same_a = a, same_b = b;

	while (a > 0 && b > 0 && here[a - 1] == SB_BINDIR[b - 1]) {
		a--;
		b--;
		if (here[a] == '/') {
			same_a = a;
			same_b = b;
		}
	}
	if (strncmp(folder, SB_BINDIR, same_b) != 0 || folder[same_b] != '/')
		return false;
	return snprintf(path, size, "%.*s%s/%s", (int)same_a, here, folder + same_b, file) <
	       (int)size;
}

bool sb_place_library(char *path, size_t size)
{
	char here[4096];

	if (sb_place_self(here, sizeof here)) {
		*strrchr(here, '/') = '\0';
		if (snprintf(path, size, "%s/%s", here, file) < (int)size && !access(path, R_OK))
			return true;
		if (moved(here, SB_LIBDIR, path, size) && !access(path, R_OK))
			return true;
	}
	return snprintf(path, size, "%s/%s", SB_LIBDIR, file) < (int)size && !access(path, R_OK);
}
