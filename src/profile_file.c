/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_text.h"
#include "settings.h"

#define MOST ((size_t)1 << 20) /* bytes; a profile has a tenth of that */

bool sb_profile_path(bool users, uint64_t name, char *path, size_t size)
{
	const struct sb_settings *settings = sb_settings();
	const char *folder = SB_SYSCONFDIR, *below = "";

	if (users && *settings->config_home == '/') {
		folder = settings->config_home;
	} else if (users) {
		folder = settings->home;
		below = "/.config";
	}
	/* Anything else would be the working directory's. */
	if (*folder != '/')
		return false;
	return snprintf(path, size, "%s%s/shimblas/%016" PRIx64 ".profile", folder, below, name) <
	       (int)size;
}

/* All of a regular file; NULL, with *length 0, if it is too long or cannot be read. */
static char *read_all(int fd, size_t *length)
{
	struct stat facts;
	char *text;
	ssize_t got;

	*length = 0;
	if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > (off_t)MOST)
		return NULL;
	text = malloc(MOST);
	while (text && *length < MOST && (got = read(fd, text + *length, MOST - *length)) != 0) {
		if (got > 0) {
			*length += (size_t)got;
		} else if (errno != EINTR) {
			free(text);
			return NULL;
		}
	}
	return text;
}

const char *sb_profile_read(const char *path, struct sb_profile *profile, bool *found)
{
	/* A pipe must not hold the program up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *problem;
	size_t length;
	char *text;

	*found = fd >= 0 || errno != ENOENT;
	if (fd < 0)
		return "it cannot be opened";
	text = read_all(fd, &length);
	close(fd);
	problem = text ? sb_profile_parse(text, length, profile) : "it cannot be read";
	free(text);
	return problem;
}
