/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 5: seconds that a call takes on each side, predicted. Pure functions of what they are
 * given. */
#ifndef SB_MODEL_H
#define SB_MODEL_H

#include "call.h"
#include "profile.h"
#include "situation.h"

/*
 * On the CPU: what was measured of its threads, between the sizes and numbers of threads that were
 * measured. With other callers inside each has a share of the processors; with more callers than
 * processors they take turns.
 */
struct sb_cpu_parts {
	double threads; /* at work for this caller */
	double turns;	/* 1, or callers for each processor */
	double seconds; /* > 0 */
};
struct sb_cpu_parts sb_model_cpu(const struct sb_profile *profile,
				 const struct sb_situation *situation, const struct sb_call *call);

/*
 * On a started GPU: the launches, copies of A and B up and of C down by where they lie, and the
 * kernel. The longest of the three is seen in full, and of the others what is not hidden behind it:
 * of a call cut into p panels a p-th part, and of the rest the profile's share. What whole calls
 * took over that, where it was measured; and as much again for each caller in the queue.
 *
 * A team of devices shares a call as plan_split.h cuts it: each launches for itself, computes its
 * share and has a wire of its own. What goes through the rings is filled and emptied by the same
 * threads from the same memory, however many devices there are, so all of it together goes at the
 * rate that was measured for one.
 */
struct sb_gpu_parts {
	const struct sb_kernel *kernel; /* of an emulated product, the first of its tiers */
	enum sb_fallback fallback;	/* why not that, where it was asked for */
	int devices;			/* that share the call */
	int panels;
	double launch, up, down, computing;
	double seen;	 /* of the two shorter parts, a share */
	double measured; /* factor */
	double turns;
	double seconds; /* > 0 */
};
struct sb_gpu_parts sb_model_gpu(const struct sb_profile *profile,
				 const struct sb_situation *situation, const struct sb_call *call);

/* The same with a kernel that takes no time: less, and found without picking one. */
double sb_model_gpu_copies(const struct sb_profile *profile, const struct sb_situation *situation,
			   const struct sb_call *call);

/* Less than any call of these sizes on host memory takes on the GPU, pinned or not. */
double sb_model_gpu_least(const struct sb_profile *profile, const struct sb_situation *situation,
			  const struct sb_call *call);

/* The same for one device, nearer, and a dozen times as long to find. */
double sb_model_gpu_unseen(const struct sb_profile *profile, const struct sb_situation *situation,
			   const struct sb_call *call);

/* Seconds for copies of so many bytes. */
double sb_model_copy(const struct sb_profile *profile, enum sb_link link, double bytes);

/* Bytes a second of the largest copies that were measured. */
double sb_model_rate(const struct sb_profile *profile, enum sb_link link);

/* The parts put together, for those who measured some of them. */
int sb_model_panels(const struct sb_call *call);
double sb_model_seen(int panels, double overlap);

#endif
