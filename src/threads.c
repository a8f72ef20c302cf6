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

double sb_threads_quota(const char *root, const char *group)
{
	char path[4096], text[128];
	double least = 0;

	if (snprintf(path, sizeof path, "%s%s", root, group) >= (int)sizeof path - 16)
		return 0;
	for (;;) {
		size_t length = strlen(path);
		long quota, period;

		strcpy(path + length, "/cpu.max");
		if (read_text(path, text, sizeof text) &&
		    sscanf(text, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0 &&
		    (least == 0 || (double)quota / (double)period < least))
			least = (double)quota / (double)period;
		path[length] = '\0';
		if (length <= strlen(root))
			return least;
		*strrchr(path, '/') = '\0';
	}
}

static double quota_of_process(void)
{
	char text[4096], *group, *end;

	if (!read_text("/proc/self/cgroup", text, sizeof text))
		return 0;
	group = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!group)
		return 0;
	group += *group == '\n' ? 4 : 3;
	end = strchr(group, '\n');
	if (end)
		*end = '\0';
	return *group == '/' ? sb_threads_quota(GROUPS, group) : 0;
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
