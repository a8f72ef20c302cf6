/* SPDX-License-Identifier: BSD-3-Clause */
#include "threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

#define GROUPS "/sys/fs/cgroup"

int sb_threads_backend(void)
{
	const int64_t asked = sb_settings()->omp_threads;
	struct sb_processors own;
	int count;

	if (sched_getaffinity(0, sizeof own.mask, own.mask) != 0)
		return 1;
	count = CPU_COUNT_S(sizeof own.mask, own.mask);
	if (asked > 0 && asked < count)
		count = (int)asked;
	return count > 0 ? count : 1;
}

bool sb_threads_process_mask(struct sb_processors *all)
{
	DIR *tasks = opendir("/proc/self/task");
	struct sb_processors one;
	struct dirent *entry;

	CPU_ZERO_S(sizeof all->mask, all->mask);
	while (tasks && (entry = readdir(tasks)))
		if (atoi(entry->d_name) > 0 &&
		    sched_getaffinity(atoi(entry->d_name), sizeof one.mask, one.mask) == 0)
			CPU_OR_S(sizeof one.mask, all->mask, all->mask, one.mask);
	if (tasks)
		closedir(tasks);
	return CPU_COUNT_S(sizeof all->mask, all->mask) > 0 ||
	       sched_getaffinity(getpid(), sizeof all->mask, all->mask) == 0;
}

/* The beginning of a small file as text; false if it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (length < 0)
		return false;
	text[length] = '\0';
	return true;
}

/* A number from a file of the folder `path` of `length` characters; false if there is none. */
static bool read_number(char *path, size_t length, const char *name, long *number)
{
	char text[128];
	bool there;

	strcpy(path + length, name);
	there = read_text(path, text, sizeof text) && sscanf(text, "%ld", number) == 1;
	path[length] = '\0';
	return there;
}

/* Of one group, in the words of either version of control groups; 0 if it has none. */
static double own_quota(char *path, size_t length)
{
	char text[128];
	long quota = 0, period = 0;

	strcpy(path + length, "/cpu.max");
	if (!read_text(path, text, sizeof text) || sscanf(text, "%ld %ld", &quota, &period) != 2) {
		if (!read_number(path, length, "/cpu.cfs_quota_us", &quota) ||
		    !read_number(path, length, "/cpu.cfs_period_us", &period))
			quota = 0;
	}
	path[length] = '\0';
	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

double sb_threads_quota(const char *root, const char *group)
{
	char path[4096];
	double least = 0;

	if (snprintf(path, sizeof path, "%s%s", root, group) >= (int)sizeof path - 24)
		return 0;
	for (;;) {
		size_t length = strlen(path);
		double quota = own_quota(path, length);

		if (quota > 0 && (least == 0 || quota < least))
			least = quota;
		if (length <= strlen(root))
			return least;
		*strrchr(path, '/') = '\0';
	}
}

const char *sb_threads_group(char *text, const char *controller)
{
	size_t length = strlen(controller);

	/* Lines are NUMBER:CONTROLLERS:GROUP; version 2 has no controllers there. */
	for (char *line = text, *next; line; line = next) {
		char *words = strchr(line, ':'), *group = words ? strchr(words + 1, ':') : NULL;
		bool found;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!group || (next && group > next))
			continue;
		found = length == 0 && group == words + 1;
		for (char *word = words + 1; length && !found && word < group; word++)
			found = strncmp(word, controller, length) == 0 &&
				(word[length] == ',' || word[length] == ':') &&
				(word[-1] == ',' || word[-1] == ':');
		if (found && group[1] == '/')
			return group + 1;
		if (next)
			next[-1] = '\n';
	}
	return NULL;
}

/* The least of what both versions say; where neither is mounted, none. */
static double quota_of_process(void)
{
	static const struct {
		const char *controller, *root;
	} versions[] = {{"", GROUPS}, {"cpu", GROUPS "/cpu"}};
	double least = 0;

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		char text[4096];
		const char *group = read_text("/proc/self/cgroup", text, sizeof text)
					    ? sb_threads_group(text, versions[i].controller)
					    : NULL;
		double quota = group ? sb_threads_quota(versions[i].root, group) : 0;

		if (quota > 0 && (least == 0 || quota < least))
			least = quota;
	}
	return least;
}

int sb_threads_process(void)
{
	struct sb_processors all;
	int count = sb_threads_process_mask(&all) ? CPU_COUNT_S(sizeof all.mask, all.mask) : 1;
	double quota = quota_of_process();

	if (quota > 0 && quota < count)
		count = (int)quota + ((double)(int)quota < quota);
	return count > 0 ? count : 1;
}
