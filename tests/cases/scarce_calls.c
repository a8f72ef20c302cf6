/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products while everything fails that can: with scarce.so preloaded each allocation, mapping and
 * thread in turn, once; without it, or with the argument "address", in an address space that is
 * nearly full. Each in a child of its own, whose first call it is. A child multiplies twice, and
 * ends as programs do. Prints how many of each kind there were; exits 1 if an answer was wrong, or
 * a child hung or died.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas_names.h"
#include "scarce.h"

enum { N = 160, RIGHT = 0, UNTOUCHED = 3, WRONG = 1 };

void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int,
		 double, double *, int);

static float a[N * N], b[N * N], c[N * N];
static __typeof__(&scarce_open) open_scarcity;
static __typeof__(&scarce_hits) hits;

static void fill(void)
{
	for (int i = 0; i < N * N; i++) {
		a[i] = (float)(i % 7 - 3);
		b[i] = (float)(i % 5 - 2);
		c[i] = (float)(i % 3);
	}
}

static int multiply(void)
{
	fill();
	cblas_sgemm(COLUMN_MAJOR, NO_TRANS, TRANS, N, N, N, 1, a, N, b, N, 2, c, N);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			float wanted = 2 * (float)((i + j * N) % 3);

			for (int k = 0; k < N; k++)
				wanted += a[i + k * N] * b[j + k * N];
			if (c[i + j * N] != wanted)
				return 0;
		}
	return 1;
}

/* The program's BLAS has what it needs: its own failures are not what is tested. */
static void warm_backend(void)
{
	static double x[N * N], y[N * N];

	cblas_dgemm(COLUMN_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 1, x, N, x, N, 0, y, N);
}

static void fail_in_child(enum scarce_kind kind, long n)
{
	alarm(60);
	warm_backend();
	open_scarcity(kind, n);
	if (!multiply() || !multiply())
		_exit(WRONG);
	exit(hits() ? RIGHT : UNTOUCHED);
}

static int wait_for(pid_t child)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 255;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int try_kind(enum scarce_kind kind, const char *name)
{
	int wrong = 0;
	long n = 1;

	/* Threads come and go: what does not fail once may the next time. */
	for (int quiet = 0; quiet < 3 && n < 5000; n++) {
		pid_t child;
		int status;

		fflush(stdout);
		child = fork();
		if (child == 0)
			fail_in_child(kind, n);
		status = wait_for(child);
		quiet = status == UNTOUCHED ? quiet + 1 : 0;
		if (status != RIGHT && status != UNTOUCHED) {
			printf("%s %ld: status %d\n", name, n, status);
			wrong++;
		}
	}
	printf("%s: %ld\n", name, n - 4);
	return wrong;
}

static long address_space(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!statm || fscanf(statm, "%ld", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages * sysconf(_SC_PAGESIZE);
}

static void fill_in_child(long room)
{
	struct rlimit limit;

	alarm(60);
	warm_backend();
	if (getrlimit(RLIMIT_AS, &limit) != 0)
		_exit(WRONG);
	limit.rlim_cur = (rlim_t)(address_space() + room);
	if (setrlimit(RLIMIT_AS, &limit) != 0 || !multiply())
		_exit(WRONG);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_AS, &limit) != 0 || !multiply())
		_exit(WRONG);
	exit(RIGHT);
}

static int try_rooms(void)
{
	int wrong = 0, tried = 0;

	for (long room = 0; room < 256L << 20; room = room < 65536 ? room + 4096 : room * 5 / 4) {
		pid_t child;
		int status;

		fflush(stdout);
		child = fork();
		if (child == 0)
			fill_in_child(room);
		status = wait_for(child);
		if (status != RIGHT) {
			printf("%ld bytes of room: status %d\n", room, status);
			wrong++;
		}
		tried++;
	}
	printf("rooms: %d\n", tried);
	return wrong;
}

int main(int argc, char **argv)
{
	int wrong = 0;

	*(void **)&open_scarcity = dlsym(RTLD_DEFAULT, "scarce_open");
	*(void **)&hits = dlsym(RTLD_DEFAULT, "scarce_hits");
	/* A number: that allocation alone, in this process, for a debugger. */
	if (open_scarcity && argc > 1 && atol(argv[1]) > 0)
		fail_in_child(SCARCE_MEMORY, atol(argv[1]));
	if (!open_scarcity || (argc > 1 && strcmp(argv[1], "address") == 0))
		return try_rooms() != 0;
	wrong += try_kind(SCARCE_MEMORY, "allocations");
	wrong += try_kind(SCARCE_MAPPINGS, "mappings");
	wrong += try_kind(SCARCE_THREADS, "threads");
	return wrong != 0;
}
