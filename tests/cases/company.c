/* SPDX-License-Identifier: BSD-3-Clause */
#include "company.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024 };

static int threads, processes;
static pid_t others[MOST];
static atomic_int round_of, done;
static bool yielding;

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static void burn(double seconds)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
	       seconds);
}

static void *spin(void *unused)
{
	int seen = 0;

	for (;;) {
		while (atomic_load(&round_of) == seen)
			if (yielding)
				sched_yield();
			else
				relax();
		seen = atomic_load(&round_of);
		if (seen < 0)
			return unused;
		burn(50e-6);
		atomic_fetch_add(&done, 1);
	}
}

static pthread_t spinners[MOST];

bool company_come(const char *situation)
{
	cpu_set_t mask;
	int processors = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
	int wanted = processors - 1, half = processors / 2 > 0 ? processors / 2 : 1;

	yielding = strcmp(situation, "yielding") == 0;
	if (strcmp(situation, "others") == 0) {
		const pid_t parent = getpid();

		for (; processes < half; processes++) {
			others[processes] = fork();
			if (others[processes] < 0)
				exit(2);
			if (others[processes] == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				while (getppid() == parent)
					burn(1);
				_exit(0);
			}
		}
		return true;
	}
	if (!yielding && strcmp(situation, "spinning") != 0)
		return false;
	for (; threads < wanted; threads++)
		if (pthread_create(&spinners[threads], NULL, spin, NULL) != 0)
			exit(2);
	return true;
}

void company_work(void)
{
	if (threads == 0)
		return;
	atomic_store(&done, 0);
	atomic_fetch_add(&round_of, 1);
	burn(50e-6);
	while (atomic_load(&done) < threads)
		relax();
}

void company_go(void)
{
	atomic_store(&round_of, -1);
	for (int i = 0; i < threads; i++)
		pthread_join(spinners[i], NULL);
	for (int i = 0; i < processes; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
}
