/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS whose destructor would take memory from under a product, as OpenBLAS's does in one of ten
 * processes: this one always notices. Its products take a while, and are none.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_int inside;

void cblas_sgemm(void);
void cblas_sgemm(void)
{
	const struct timespec nap = {.tv_nsec = 400000000};

	atomic_fetch_add(&inside, 1);
	nanosleep(&nap, NULL);
	atomic_fetch_sub(&inside, 1);
}

__attribute__((destructor)) static void leave(void)
{
	if (atomic_load(&inside) > 0)
		abort();
}
