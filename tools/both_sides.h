/* SPDX-License-Identifier: BSD-3-Clause */
/* The same product on either side, as a program would call it, and how long that takes. */
#ifndef SB_BOTH_SIDES_H
#define SB_BOTH_SIDES_H

#include "backend.h"
#include "bench_time.h"
#include "model.h"
#include "status.h"

/* The BLAS that answers here what the GPU does not. */
const struct sb_backend *sb_sides_backend(void);

/*
 * The median of the seconds of a product on this side, in some runs after one that does not count,
 * in fewer where they take longer than `long_run` together, and where the first took ten times as
 * long that one alone. Negative if there is no such side, or it did not answer.
 */
double sb_sides_seconds(enum sb_side side, const struct sb_bench_product *product, int runs,
			double long_run);

/*
 * The samples that such a median is of, added to `samples`, in which there is room for `most`; how
 * many there are then, or -1.
 */
int sb_sides_samples(enum sb_side side, const struct sb_bench_product *product, int runs,
		     double long_run, double *samples, int count, int most);

/* The same for operands that lie on the device, C among them: the GPU's, in some runs. */
double sb_sides_on_device(const struct sb_bench_product *product, int runs);

/* The side that the library would choose where CUDA has been started. */
enum sb_side sb_sides_choose(const struct sb_profile *profile, const struct sb_situation *situation,
			     const struct sb_call *call);

/* The threads of a backend spin for a while after a call: waits until they have ceased. */
void sb_sides_settle(void);

#endif
