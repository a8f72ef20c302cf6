/* SPDX-License-Identifier: BSD-3-Clause */
/* A set-user-ID program ignores every variable: this program, copied and given to another user. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile.h"
#include "settings.h"
#include "suite.h"

enum { IGNORED = 10, HEEDED, NOT_SECURE };
static char copy[256];

/* What the copy does. */
static int look(void)
{
	const struct sb_settings *settings = sb_settings();

	if (!getauxval(AT_SECURE))
		return NOT_SECURE;
	return settings->secure && !*settings->home && !*settings->config_home &&
			       strcmp(sb_profile_source(), "built in") == 0 &&
			       settings->mode == SB_MODE_AUTO && settings->threads == 0 &&
			       !*settings->backend && !*settings->logfile && settings->run_id == -1
		       ? IGNORED
		       : HEEDED;
}

static bool make_copy(void)
{
	char bytes[65536];
	ssize_t got;
	int from = open("/proc/self/exe", O_RDONLY), to;

	snprintf(copy, sizeof copy, "%s/copy", suite_scratch());
	to = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0755);
	while ((got = read(from, bytes, sizeof bytes)) > 0)
		if (write(to, bytes, (size_t)got) != got)
			return false;
	close(from);
	return close(to) == 0 && chmod(suite_scratch(), 0755) == 0 &&
	       chown(copy, 65534, (gid_t)-1) == 0 && chmod(copy, 04755) == 0;
}

static int run_copy(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		setenv("SHIMBLAS_MODE", "gpu", 1);
		setenv("SHIMBLAS_THREADS", "7", 1);
		setenv("SHIMBLAS_BACKEND", "/tmp/evil.so", 1);
		setenv("SHIMBLAS_LOGFILE", "/tmp/evil", 1);
		setenv("SHIMBLAS_RUN_ID", "1", 1);
		setenv("SHIMBLAS_PROFILE", "/tmp/evil.profile", 1);
		setenv("HOME", "/tmp", 1);
		setenv("XDG_CONFIG_HOME", "/tmp", 1);
		execl(copy, copy, "look", (char *)NULL);
		_exit(1);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void a_setuid_program_sees_the_defaults_only(void)
{
	CU_ASSERT_EQUAL(run_copy(), IGNORED);
}

static const struct suite_case cases[] = {
	{"a set-user-ID program sees the defaults only", a_setuid_program_sees_the_defaults_only},
};

int main(int argc, char **argv)
{
	/* At once: the leak sanitizer cannot look at a process that others may not trace. */
	if (argc > 1 && strcmp(argv[1], "look") == 0)
		_exit(look());
	if (geteuid() != 0)
		return suite_skip("only root can give a program to another user");
	if (!make_copy())
		return suite_skip("a set-user-ID copy cannot be made in /tmp");
	if (run_copy() == NOT_SECURE)
		return suite_skip("set-user-ID has no effect in /tmp");
	return SUITE("setuid", cases);
}
