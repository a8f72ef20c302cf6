/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: what, besides the call, a decision rests on. Plain data, so that tests can ask the judge
 * about any situation; route.c gathers the real one.
 */
#ifndef SB_SITUATION_H
#define SB_SITUATION_H

#include <stdbool.h>

#include "device.h"

/* What calls of the process took over what was predicted of them, as experience.h has it. */
struct sb_experience {
	double cpu, gpu; /* factors; 0 is 1 */
	bool try_again;	 /* the side that the model chose and they did not */
};

struct sb_situation {
	enum sb_health health;
	enum sb_reason unusable; /* why, where health is neither ready nor unborn */
	enum sb_place places[3]; /* of A, B and C; pageable where nobody can know */
	int queue;		 /* callers who have or wait for the device */
	int devices;		 /* of the team; 0 where nobody knows yet, which is as one */
	bool linked;		 /* devices reach each other's memory */
	int threads;		 /* of the backend, for this caller */
	int callers;		 /* others who have the backend at work on such a call */
	bool emulate;		 /* products on the GPU, where it can */
	struct sb_experience experience;
	int processors; /* that all of them share; 0: as many as there are threads */
};

#endif
