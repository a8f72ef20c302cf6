/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <stdio.h>
#include <string.h>

/* The quota in a file of cgroup v2 ("max 100000", "150000 100000"); 0: none. */
static double quota_in(const char *path)
{
	long long quota, period;
	double processors = 0;
	FILE *in = fopen(path, "re");

	if (!in)
		return 0;
	if (fscanf(in, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
		processors = (double)quota / (double)period;
	fclose(in);
	return processors;
}

static long long number_in(const char *path)
{
	long long value = 0;
	FILE *in = fopen(path, "re");

	if (!in)
		return 0;
	if (fscanf(in, "%lld", &value) != 1)
		value = 0;
	fclose(in);
	return value;
}

/* Version 1, as a container sees its own group. */
static double old_quota(void)
{
	long long quota = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
	long long period = number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us");

	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

/* The group of this process in the version 2 hierarchy, "/" at least. */
static void own_group(char *group, size_t size)
{
	char line[4096];
	FILE *in = fopen("/proc/self/cgroup", "re");

	snprintf(group, size, "/");
	if (!in)
		return;
	while (fgets(line, sizeof line, in))
		if (strncmp(line, "0::/", 4) == 0)
			snprintf(group, size, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	fclose(in);
}

double sb_machine_quota(void)
{
	char group[4096], path[4200];
	double least = old_quota();

	for (own_group(group, sizeof group);;) {
		double quota;

		snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
		quota = quota_in(path);
		if (quota > 0 && (least <= 0 || quota < least))
			least = quota;
		if (!*group)
			return least;
		*strrchr(group, '/') = '\0';
	}
}
