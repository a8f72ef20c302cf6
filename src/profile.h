/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the measured numbers that predictions rest on. Rates are bytes or operations a second,
 * latencies seconds. The shipped profile is for a GPU of the H200's class on PCIe 5 and a server
 * core, with the copy threads that this process may have.
 */
#ifndef SB_PROFILE_H
#define SB_PROFILE_H

struct sb_profile {
	double cpu_thread_rate;	   /* FP32 operations of one backend thread in a large product */
	double cpu_thread_latency; /* to wake and join one more thread */
	double staged_up, staged_down; /* pageable memory, through the ring */
	double staged_latency;	       /* until the ring's first slots are full, each way */
	double pinned_up, pinned_down;
	double call_latency; /* of a call on the GPU that copies and computes next to nothing */
	double gpu_peak;     /* FP32 operations, where the device is not known yet */
	double gpu_share;    /* of its peak that the best kernel reaches in a large product */
	double gpu_tile;     /* m and n are rounded up to this */
	double overlap;	     /* share of the shorter of copying and computing that stays visible */
};

/* The profile in force; never NULL. */
const struct sb_profile *sb_profile(void);

#endif
