/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `shimblas run`: puts the library in front of what LD_PRELOAD already names, and becomes the
 * program. Nothing stays behind; the program has this process's id, by which the library knows
 * that somebody waits for its report.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "option.h"
#include "place.h"
#include "usage.h"

static bool failed(const char *what)
{
	fprintf(stderr, "shimblas run: %s: %s\n", what, strerror(errno));
	return false;
}

static bool preload(void)
{
	const char *before = getenv("LD_PRELOAD");
	char library[PATH_MAX];
	char *value;
	bool done;

	if (!sb_place_library(library, sizeof library)) {
		fprintf(stderr, "shimblas run: no libshimblas.so.0 here: %s\n", library);
		return false;
	}
	if (strpbrk(library, " :")) {
		fprintf(stderr,
			"shimblas run: %s: LD_PRELOAD cannot hold a path with a space or a colon; "
			"install the library elsewhere\n",
			library);
		return false;
	}
	if (asprintf(&value, "%s%s%s", library, before && *before ? ":" : "",
		     before ? before : "") < 0)
		return failed("LD_PRELOAD");
	done = setenv("LD_PRELOAD", value, 1) == 0;
	free(value);
	return done || failed("LD_PRELOAD");
}

/*
 * The program may change its folder before it ends, so a relative name is made absolute. In such a
 * setting a percent sign is doubled.
 */
static bool ask_for_file(const char *variable, const char *name)
{
	char value[2 * PATH_MAX], here[PATH_MAX];
	size_t used = 0;

	if (*name && *name != '/' && strcmp(name, "-") != 0) {
		if (!getcwd(here, sizeof here))
			return failed("the current folder");
		for (const char *from = here; *from && used < sizeof value - 2; from++) {
			if (*from == '%')
				value[used++] = '%';
			value[used++] = *from;
		}
		value[used++] = '/';
	}
	if ((size_t)snprintf(value + used, sizeof value - used, "%s", name) >=
	    sizeof value - used) {
		errno = ENAMETOOLONG;
		return failed(name);
	}
	return setenv(variable, value, 1) == 0 || failed(variable);
}

/* The library takes another name where there is a file; what this one's run finds is its own. */
static bool ask_for_trace(const char *name)
{
	struct stat there;

	if (lstat(name, &there) == 0 && S_ISREG(there.st_mode) && unlink(name) != 0)
		return failed(name);
	return ask_for_file("SHIMBLAS_TRACE", name);
}

static bool prepare(const struct sb_options *options)
{
	int verbose = options->times[SB_OPTION_run_verbose];
	const char *report = options->value[SB_OPTION_run_report];
	const char *trace = options->value[SB_OPTION_run_trace];
	char id[24];

	snprintf(id, sizeof id, "%ld", (long)getpid());
	if (setenv("SHIMBLAS_RUN_ID", id, 1))
		return failed("SHIMBLAS_RUN_ID");
	if (verbose && setenv("SHIMBLAS_VERBOSE", verbose > 1 ? "2" : "1", 1))
		return failed("SHIMBLAS_VERBOSE");
	if (report && !ask_for_file("SHIMBLAS_REPORT", report))
		return false;
	if (trace && !ask_for_trace(trace))
		return false;
	return preload();
}

int sb_command_run(int argc, char **argv)
{
	struct sb_options options;
	int problem;

	if (!sb_option_parse(argc, argv, false, &options))
		return SB_EXIT_RUN_FAILED;
	if (options.rest >= argc) {
		fprintf(stderr, "shimblas run: which program?\n");
		sb_usage_one(stderr, sb_command_find("run"));
		return SB_EXIT_RUN_FAILED;
	}
	if (!prepare(&options))
		return SB_EXIT_RUN_FAILED;
	execvp(argv[options.rest], argv + options.rest);
	problem = errno;
	failed(argv[options.rest]);
	return problem == ENOENT ? SB_EXIT_NOT_FOUND : SB_EXIT_NOT_RUNNABLE;
}
