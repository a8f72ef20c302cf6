/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS whose destructor would take memory from under a product, as OpenBLAS's does in one of ten
 * processes: this one always notices. Its products take a while, are none, and
 * may be cancelled.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_int inside;

static void come_out(void *unused)
{
	(void)unused;
	atomic_fetch_sub(&inside, 1);
}

void cblas_sgemm(void);
void cblas_sgemm(void)
{
	const struct timespec nap = {.tv_nsec = 400000000};

	atomic_fetch_add(&inside, 1);
	pthread_cleanup_push(come_out, NULL);
	nanosleep(&nap, NULL);
	pthread_cleanup_pop(1);
}

__attribute__((destructor)) static void leave(void)
{
	if (atomic_load(&inside) > 0)
		abort();
}
