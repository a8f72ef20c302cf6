/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static long count_entries(const char *path)
{
	DIR *folder = opendir(path);
	long count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

struct held held_now(void)
{
	struct held held = {.threads = count_entries("/proc/self/task"),
			    .files = count_entries("/proc/self/fd")};
	FILE *statm = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (statm && fscanf(statm, "%ld %ld", &size, &resident) == 2)
		held.resident = resident * (sysconf(_SC_PAGESIZE) / 1024);
	if (statm)
		fclose(statm);
	(void)malloc_trim(0);
	held.heap = (long)((mallinfo2().uordblks + mallinfo2().hblkhd) / 1024);
	return held;
}

void held_widen(struct held *most, const struct held *held)
{
	most->heap = held->heap > most->heap ? held->heap : most->heap;
	most->resident = held->resident > most->resident ? held->resident : most->resident;
	most->threads = held->threads > most->threads ? held->threads : most->threads;
	most->files = held->files > most->files ? held->files : most->files;
}

int held_grown(const struct held *early, const struct held *late, long swing)
{
	return late->heap > early->heap + swing || late->resident > early->resident + swing ||
	       late->threads > early->threads || late->files > early->files + 2;
}
