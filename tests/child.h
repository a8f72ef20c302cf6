/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of what happens once in a process: settings, the start of CUDA, the loss of a device.
 * Each case runs in a child process, forked before anything has happened, with its own environment.
 */
#ifndef SB_CHILD_H
#define SB_CHILD_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"
#include "start.h"
#include "suite.h"

/* In a child: counts and tells what is wrong. */
static int child_failures;
#define CHECK(condition)                                                                           \
	((condition) ? (void)0                                                                     \
		     : (void)(child_failures++,                                                    \
			      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition)))

/* Sets "A=1 B=2" in the environment. */
static inline void child_environment(const char *pairs)
{
	char text[1024], *rest = text, *pair;

	snprintf(text, sizeof text, "%s", pairs);
	while ((pair = strsep(&rest, " "))) {
		char *value = strchr(pair, '=');

		if (value) {
			*value = '\0';
			setenv(pair, value + 1, 1);
		}
	}
}

/* Runs body(argument) in a child with these variables; its failed checks, or 200 if it died. */
static inline int in_child(const char *pairs, void (*body)(const void *), const void *argument)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(120);
		child_environment(pairs);
		body(argument);
		exit(child_failures > 100 ? 100 : child_failures);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 200;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

/* Starts CUDA and waits for it. */
static inline enum sb_health child_start(void)
{
	sb_process_start();
	sb_start_buy();
	return sb_start_wait(20);
}

/* Did a child of this process end, and with no check that failed? */
static inline int child_ended_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

/*
 * The driver that tests use, put into the environment: SHIMBLAS_DRIVER (to test on a real device),
 * else the stand-in of the build. NULL if there is none, which is a reason to skip.
 */
static inline const char *child_driver(void)
{
	static const char *volatile built; /* kept, or a leak checker would tell of it */
	const char *driver = getenv("SHIMBLAS_DRIVER");

	if (!driver || !*driver) {
		built = suite_built("tests/stand_in/libcuda.so.1");
		setenv("SHIMBLAS_DRIVER", built, 1);
	}
	driver = getenv("SHIMBLAS_DRIVER");
	return dlopen(driver, RTLD_LAZY | RTLD_LOCAL) ? driver : NULL;
}

static inline int child_driver_is_stand_in(void)
{
	void *library = dlopen(child_driver(), RTLD_LAZY | RTLD_LOCAL);

	return library && dlsym(library, "stand_in_configure") != NULL;
}

#endif
