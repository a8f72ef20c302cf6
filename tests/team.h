/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of calls that several devices share, each in a child process. */
#ifndef SB_TEAM_H
#define SB_TEAM_H

#include "child.h"
#include "device.h"
#include "offload.h"
#include "plan_split.h"
#include "process.h"
#include "product.h"
#include "start.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char plain[] = "sgemm_plain_64x64x16";

static inline enum sb_health start(void)
{
	/* Products as small as these are worth one device. */
	sb_split_least = (struct sb_split_least){.extent = 1, .bytes = 0};
	return child_start();
}
/* One call; where it was not carried C must be as it was. */
static inline int run_call(struct product_data *d, struct sb_decision *decision,
			   enum sb_status *status, int *finished)
{
	float *before = malloc(d->c_count * sizeof *before);
	struct sb_as_found found;
	int right;

	memcpy(before, d->c, d->c_count * sizeof *before);
	*finished = 0;
	*decision = (struct sb_decision){0};
	CHECK(sb_process_enter(&found));
	*status = sb_offload(&d->call, decision, product_compute, finished);
	sb_process_leave(&found);
	if (*status == SB_OK)
		right = product_right(d);
	else
		right = memcmp(before, d->c, d->c_count * sizeof *before) == 0;
	memcpy(d->c, before, d->c_count * sizeof *before);
	free(before);
	return right;
}

static inline int run_product(const struct product *p, struct sb_decision *decision,
			      enum sb_status *status, int *finished)
{
	struct product_data d = product_make(p);
	int right = run_call(&d, decision, status, finished);

	product_free(&d);
	return right;
}

static inline int bits_in(unsigned mask)
{
	int bits = 0;

	for (; mask; mask >>= 1)
		bits += (mask & 1) != 0;
	return bits;
}

#endif
