/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes most of a card's memory and gives it back, again and again, for so many seconds: a
 * neighbour for soak. Leaves between nothing and a sixteenth of what is free. SHIMBLAS_DRIVER says
 * which driver. Prints how often it had it; exits 1 if never.
 *
 *     crowd SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "driver.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(long milliseconds)
{
	const struct timespec nap = {.tv_sec = milliseconds / 1000,
				     .tv_nsec = milliseconds % 1000 * 1000000};

	nanosleep(&nap, NULL);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, begun = now();
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context;
	long taken = 0;

	if (seconds <= 0 || !cu || cu->init(0) || cu->primary_retain(&context, 0) ||
	    cu->context_push(context))
		return 2;
	while (now() - begun < seconds) {
		size_t free_bytes = 0, total = 0, bytes;
		sb_cu_deviceptr memory = 0;

		if (cu->memory_info(&free_bytes, &total))
			return 2;
		bytes = free_bytes - free_bytes / 1000 * (size_t)(rand() % 63);
		/* A driver keeps some for itself. */
		while (bytes > (1 << 20) && cu->memory_alloc(&memory, bytes))
			bytes -= bytes / 16;
		taken += memory != 0;
		rest(100 + rand() % 900);
		if (memory && cu->memory_free(memory))
			return 2;
		rest(100 + rand() % 900);
	}
	printf("had most of it %ld times\n", taken);
	return taken == 0;
}
