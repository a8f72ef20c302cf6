/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs do to themselves around and during a product. Argument: which of the table at the
 * end. Products are of small whole numbers, so that each side gives the same bits. Exits 0 if every
 * answer was right and nothing hung (an alarm of 60 s); 77 if this system cannot do it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas_names.h"
#include "whole_product.h"

enum { UNABLE = 77 };

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static int fork_and_multiply(void)
{
	pid_t child = fork();

	if (child == 0) {
		alarm(50);
		_exit(multiply() != 0);
	}
	return child < 0 || wait_for(child);
}

static atomic_int stop;

static void *multiply_until_stopped(void *unused)
{
	intptr_t wrong = 0;

	(void)unused;
	while (!atomic_load(&stop))
		wrong += multiply();
	return (void *)wrong;
}

static pthread_t begin_multiplying(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, multiply_until_stopped, NULL))
		exit(1);
	return thread;
}

static int end_multiplying(pthread_t thread)
{
	void *wrong;

	atomic_store(&stop, 1);
	pthread_join(thread, &wrong);
	return wrong != NULL;
}

static void *multiply_once(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)multiply();
}

/* Another thread is in a product, or waits for CUDA to start, when this one forks. */
static int fork_during(void)
{
	pthread_t thread = begin_multiplying();
	int wrong = 0;

	for (int i = 0; i < 12; i++) {
		const struct timespec nap = {.tv_nsec = 1000000 * (i % 5)};

		nanosleep(&nap, NULL);
		wrong += fork_and_multiply();
	}
	return wrong + end_multiplying(thread) + multiply();
}

/* `vfork` and exec share memory for a moment with a process that is in a product. */
static int exec_during(int (*spawn)(void))
{
	pthread_t thread = begin_multiplying();
	int wrong = 0;

	for (int i = 0; i < 12; i++)
		wrong += spawn();
	return wrong + end_multiplying(thread) + multiply();
}

static int spawn_by_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return child < 0 || wait_for(child);
}

static int vfork_during(void)
{
	return exec_during(spawn_by_vfork);
}

static int spawn_by_system(void)
{
	return system("exec /bin/true") != 0;
}

static int system_during(void)
{
	return exec_during(spawn_by_system);
}

static pthread_t start_a_call(void)
{
	pthread_t thread;
	const struct timespec nap = {.tv_nsec = 30000000};

	if (pthread_create(&thread, NULL, multiply_once, NULL))
		exit(1);
	nanosleep(&nap, NULL);
	return thread;
}

/* CUDA takes its time (start= of the stand-in) while the process ends, or becomes another. */
static int exit_while_starting(void)
{
	(void)start_a_call();
	exit(0);
}

/* Its call is over, though it never returned: nothing is left to wait for. */
static int cancel_while_starting(void)
{
	pthread_t thread = start_a_call();
	void *result;

	pthread_cancel(thread);
	pthread_join(thread, &result);
	return result != PTHREAD_CANCELED;
}

static int exec_while_starting(void)
{
	(void)start_a_call();
	execl("/bin/true", "true", (char *)NULL);
	return 1;
}

static int fork_while_starting(void)
{
	pthread_t thread = start_a_call();
	int wrong = fork_and_multiply();
	void *others;

	pthread_join(thread, &others);
	return wrong + (others != NULL) + multiply();
}

/* The library, opened as plug-ins are, is closed while its helper thread starts CUDA. */
static void *call_through(void *gemm)
{
	static struct operands o;
	void (*function)(int, int, int, int, int, int, float, const float *, int, const float *,
			 int, float, float *, int);

	*(void **)&function = gemm;
	for (int i = 0; i < N * N; i++)
		o.a[i] = o.b[i] = 1;
	function(COLUMN_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 1, o.a, N, o.b, N, 0, o.c, N);
	for (int i = 0; i < N * N; i++)
		if (o.c[i] != N)
			return gemm;
	return NULL;
}

static int close_while_starting(void)
{
	void *library = dlopen(getenv("SB_LIBRARY"), RTLD_NOW | RTLD_LOCAL), *wrong;
	void *gemm = library ? dlsym(library, "cblas_sgemm") : NULL;
	const struct timespec nap = {.tv_nsec = 30000000};
	pthread_t thread;

	if (!gemm || pthread_create(&thread, NULL, call_through, gemm))
		return 1;
	nanosleep(&nap, NULL);
	dlclose(library);
	pthread_join(thread, &wrong);
	return wrong != NULL;
}

static atomic_int constructed;

static __attribute__((constructor)) void construct(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "constructor") == 0) {
		alarm(60);
		atomic_store(&constructed, multiply() ? 2 : 1);
	}
}

static int constructor(void)
{
	return atomic_load(&constructed) != 1 || multiply();
}

static void at_exit(void)
{
	if (multiply())
		_exit(1);
}

/* Before and after the library's own handlers. */
static int exit_handlers(void)
{
	int wrong = 0;

	atexit(at_exit);
	wrong = multiply();
	atexit(at_exit);
	return wrong;
}

static int detached_at_exit(void)
{
	pthread_t thread = begin_multiplying();
	const struct timespec nap = {.tv_nsec = 20000000};

	pthread_detach(thread);
	nanosleep(&nap, NULL);
	return multiply();
}

static atomic_int signals;

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

/* A timer every half millisecond, whose handler restarts nothing. */
static int signals_during(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = count_signal};
	int wrong = 0;

	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	for (int i = 0; i < 30; i++) {
		wrong += multiply();
		raise(SIGUSR1);
	}
	setitimer(ITIMER_PROF, &never, NULL);
	return wrong + (atomic_load(&signals) < 30);
}

/* A thread that is cancelled in a product ends after it, or between two; the next is right. */
static int cancel_during(void)
{
	int wrong = 0;

	for (int i = 0; i < 10; i++) {
		const struct timespec nap = {.tv_nsec = 3000000 * (i % 4)};
		pthread_t thread;
		void *result;

		atomic_store(&stop, 0);
		if (pthread_create(&thread, NULL, multiply_until_stopped, NULL))
			return 1;
		nanosleep(&nap, NULL);
		pthread_cancel(thread);
		atomic_store(&stop, 1);
		pthread_join(thread, &result);
		wrong += multiply();
	}
	return wrong;
}

static int close_files(void)
{
	int wrong = multiply();

	for (int file = 3; file < 1024; file++)
		close(file);
	return wrong + multiply() + multiply();
}

static struct operands for_small_stack;

static void *multiply_on_small_stack(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)multiply_in(&for_small_stack, N);
}

/*
 * 64 KiB, beside what the thread-local data of OpenBLAS take of every thread's. The products are
 * the GPU's: OpenBLAS's own need more.
 */
static int small_stacks(void)
{
	pthread_attr_t attributes;
	int wrong = 0;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, (64 + 60) << 10))
		return UNABLE;
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, &attributes, multiply_on_small_stack, NULL))
			return 1;
		pthread_join(thread, &result);
		wrong += result != NULL;
	}
	return wrong;
}

static int no_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		return UNABLE;
	return access("/proc/self/maps", R_OK) == 0 || multiply() || multiply();
}

static int closed_stderr(void)
{
	close(STDERR_FILENO);
	return multiply() + multiply();
}

static int plainly(void)
{
	return multiply() + multiply();
}

static const struct {
	const char *name;
	int (*live)(void);
} lives[] = {
	{"plain", plainly},
	{"fork-during", fork_during},
	{"fork-while-starting", fork_while_starting},
	{"vfork-during", vfork_during},
	{"system-during", system_during},
	{"exit-while-starting", exit_while_starting},
	{"cancel-while-starting", cancel_while_starting},
	{"exec-while-starting", exec_while_starting},
	{"dlclose-while-starting", close_while_starting},
	{"constructor", constructor},
	{"exit-handlers", exit_handlers},
	{"detached-at-exit", detached_at_exit},
	{"signals-during", signals_during},
	{"cancel-during", cancel_during},
	{"closefrom", close_files},
	{"small-stacks", small_stacks},
	{"no-proc", no_proc},
	{"closed-stderr", closed_stderr},
};

int main(int argc, char **argv)
{
	int result;

	alarm(60);
	for (size_t i = 0; argc == 2 && i < sizeof lives / sizeof *lives; i++)
		if (strcmp(lives[i].name, argv[1]) == 0) {
			result = lives[i].live();
			return result == UNABLE ? UNABLE : result != 0;
		}
	return 2;
}
