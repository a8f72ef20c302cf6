/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a preload costs a process that does nothing: /bin/true 200 times with and without, in turns,
 * and the difference of the medians. The smallest of several rounds counts: the rest is the
 * machine's other work. Prints milliseconds; exits 1 above the bound. Arguments: the bound in
 * milliseconds, the library.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

enum { TIMES = 200, ROUNDS = 5 };

static double spawn(char *setting)
{
	char *arguments[] = {"true", NULL}, *environment[] = {setting, NULL};
	struct timespec before, after;
	int status = 1;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &before);
	if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environment) ||
	    waitpid(child, &status, 0) != child || status) {
		puts("/bin/true did not end well");
		exit(2);
	}
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (double)(after.tv_sec - before.tv_sec) * 1e3 +
	       (double)(after.tv_nsec - before.tv_nsec) / 1e6;
}

static int ascending(const void *left, const void *right)
{
	double x = *(const double *)left, y = *(const double *)right;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, TIMES, sizeof *values, ascending);
	return values[TIMES / 2];
}

int main(int argc, char **argv)
{
	double with[TIMES], without[TIMES], least = 1e9;
	char setting[4096];

	if (argc != 3)
		return 2;
	snprintf(setting, sizeof setting, "LD_PRELOAD=%s", argv[2]);
	for (int round = 0; round < ROUNDS; round++) {
		double over;

		for (int i = 0; i < TIMES; i++) {
			without[i] = spawn(NULL);
			with[i] = spawn(setting);
		}
		over = median(with) - median(without);
		printf("%.3f ms over %.3f\n", over, median(without));
		least = over < least ? over : least;
	}
	printf("least: %.3f ms\n", least);
	return least > atof(argv[1]);
}
