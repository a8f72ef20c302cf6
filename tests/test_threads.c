/* SPDX-License-Identifier: BSD-3-Clause */
/* What a control group leaves a process of its processors, in either version of them. */
#include "child.h"

#include "threads.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void the_least_quota_above_a_group_counts(void)
{
	char root[] = "/tmp/shimblas-quota-XXXXXX", path[200], command[300];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	snprintf(command, sizeof command, "mkdir -p %s/a/b/c", root);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b/c"), 0);
	snprintf(path, sizeof path, "%s/a/b/c/cpu.max", root);
	put(path, "max 100000\n");
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b/c"), 0);
	snprintf(path, sizeof path, "%s/a/b/cpu.max", root);
	put(path, "250000 100000\n");
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b/c"), 2.5);
	snprintf(path, sizeof path, "%s/a/cpu.max", root);
	put(path, "400000 100000\n");
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b/c"), 2.5);
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a"), 4);
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/"), 0);
	snprintf(command, sizeof command, "rm -r %s", root);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void the_older_control_groups_have_quotas_too(void)
{
	char root[] = "/tmp/shimblas-quota-XXXXXX", path[200], command[300];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	snprintf(command, sizeof command, "mkdir -p %s/a/b", root);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	snprintf(path, sizeof path, "%s/a/b/cpu.cfs_quota_us", root);
	put(path, "-1\n");
	snprintf(path, sizeof path, "%s/a/b/cpu.cfs_period_us", root);
	put(path, "100000\n");
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b"), 0);
	snprintf(path, sizeof path, "%s/a/cpu.cfs_quota_us", root);
	put(path, "150000\n");
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b"), 0);
	snprintf(path, sizeof path, "%s/a/cpu.cfs_period_us", root);
	put(path, "50000\n");
	CU_ASSERT_EQUAL(sb_threads_quota(root, "/a/b"), 3);
	snprintf(command, sizeof command, "rm -r %s", root);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void a_group_is_found_among_controllers(void)
{
	static const struct {
		const char *text, *controller, *group;
	} rows[] = {
		{"0::/user.slice\n", "", "/user.slice"},
		{"0::/user.slice\n", "cpu", NULL},
		{"4:memory:/m\n3:cpu,cpuacct:/c\n0::/two\n", "cpu", "/c"},
		{"4:memory:/m\n3:cpu,cpuacct:/c\n0::/two\n", "", "/two"},
		{"5:cpuset:/s\n3:cpuacct,cpu:/c\n", "cpu", "/c"},
		{"5:cpuset:/cpu:x\n", "cpu", NULL},
		{"2:cpu:/last", "cpu", "/last"},
		{"", "cpu", NULL},
		{"nonsense\n::\n1:cpu\n", "cpu", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		const char *group;

		strcpy(text, rows[i].text);
		group = sb_threads_group(text, rows[i].controller);
		CU_ASSERT((group == NULL) == (rows[i].group == NULL));
		if (group && rows[i].group)
			CU_ASSERT_STRING_EQUAL(group, rows[i].group);
	}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"the least quota above a group counts", the_least_quota_above_a_group_counts},
		{"the older control groups have quotas too",
		 the_older_control_groups_have_quotas_too},
		{"a group is found among controllers", a_group_is_found_among_controllers},
	};

	return SUITE("threads", tests);
}
