/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 5: which side answers a call, and why. */
#ifndef SB_ROUTE_H
#define SB_ROUTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend.h"
#include "call.h"
#include "situation.h"
#include "status.h"

/*
 * mnk below which no GPU has ever been worth its launches: 128^3 takes OpenBLAS on one core some
 * 40 us, a launch and two copies 30. Thin products, of a matrix and a few vectors, take a BLAS up
 * to a nanosecond for each element that they touch, as long as 36 multiplications of others: they
 * are as small only if what they touch is no more, so counted, than of 128^3.
 */
enum { SB_ROUTE_SMALL_SIZE = 128, SB_ROUTE_TOUCH = 36 };
#define SB_ROUTE_SMALL_WORK                                                                        \
	((double)SB_ROUTE_SMALL_SIZE * SB_ROUTE_SMALL_SIZE * SB_ROUTE_SMALL_SIZE)
static inline bool sb_route_small(const struct sb_call *call, double bound)
{
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	const double work = m * n * k;

	return work < bound &&
	       (work < 1 || work + SB_ROUTE_TOUCH * (m * k + k * n + m * n) <
				    (1 + 3.0 * SB_ROUTE_TOUCH / SB_ROUTE_SMALL_SIZE) * bound);
}

/*
 * The same, of sizes from 0 to below SB_SMALL_EXTENT and by the least bound there is, in integers:
 * a few cycles, and no flag of the floating-point environment is raised. One comparison does, since
 * a product of as much work as the bound touches no less than its cube does. Of calls without work
 * it may miss some.
 */
static inline bool sb_route_small_at_once(int64_t m, int64_t n, int64_t k)
{
	const int64_t size = SB_ROUTE_SMALL_SIZE, touch = SB_ROUTE_TOUCH;

	return (m | n | k) < size / 2 ||
	       m * n * k + touch * ((m + n) * k + m * n) < (size + 3 * touch) * size * size;
}

struct sb_decision {
	enum sb_side side;
	enum sb_reason reason;
	bool compare;	/* both sides are to answer, and be compared */
	bool on_device; /* operands lie where no backend may look: only sb_offload() can answer */
	bool emulate;	/* SHIMBLAS_MATH asks for it */
	struct sb_manner manner;
	const char *kernel; /* that ran, or is asked for by name; NULL if neither */
	unsigned devices;   /* of the team that it ran on: a bit each, by their index */
	/* Predicted, 0 where nothing was; the GPU's is the least it could be where that decided. */
	double cpu_seconds, gpu_seconds;
	/* By these factors for the model's own, and whether that alone had chosen the other side.
	 */
	struct sb_experience experience;
	bool overruled;
	int64_t nanoseconds; /* that the side which answered took; 0 where nobody asked */
	double bound; /* what the GPU takes at least, where a report or trace asked for it; else 0
		       */
};

/*
 * Decides. A call below the small-call bound is decided by one comparison, and never touches
 * anything of CUDA. `forward` says which backend would answer, and is asked for its threads; NULL:
 * one that does not say.
 */
struct sb_decision sb_route(const struct sb_call *call, const struct sb_forward *forward);

/*
 * The judge itself: a pure function of the call, the situation and the profile. `decision` carries
 * what has been decided before (compare).
 */
struct sb_decision sb_route_judge(const struct sb_call *call, struct sb_situation situation,
				  struct sb_decision decision);

/* The same decision with the GPU answering, for this reason. */
struct sb_decision sb_route_to_gpu(struct sb_decision decision, enum sb_reason reason);
/* The same decision with the CPU answering, for this reason or for what went wrong. */
struct sb_decision sb_route_to_cpu(struct sb_decision decision, enum sb_reason reason);
struct sb_decision sb_route_after(struct sb_decision decision, enum sb_status status);

/*
 * A power of two: a small call all of whose sizes are below it (so that m | n | k is) is neither
 * judged nor told of. 0 until the first call has read the settings, in modes where the GPU is to
 * answer all it can, and where somebody wants a line or a time for every call; else
 * SB_SMALL_EXTENT.
 */
extern _Atomic uint64_t sb_route_quick __attribute__((visibility("hidden")));
static inline uint64_t sb_route_quick_bound(void)
{
	return atomic_load_explicit(&sb_route_quick, memory_order_relaxed);
}

/* The mode in force (enum sb_mode): SHIMBLAS_MODE until a program sets another. */
int sb_route_mode(void);
void sb_route_set_mode(int mode);
/* The arithmetic in force (enum sb_math): SHIMBLAS_MATH until a program sets another. */
int sb_route_math(void);
void sb_route_set_math(int math);

/* The work below which a product is small by the mode in force; the least of all before any call.
 */
double sb_route_bound(void);

#endif
