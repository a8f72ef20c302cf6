/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 6: what each device of a team does of a call: a plan that fits it, its memory, its kernels,
 * and carrying it out.
 */
#ifndef SB_SHARES_H
#define SB_SHARES_H

#include "carry.h"
#include "plan_split.h"

struct sb_shares {
	const struct sb_call *call;
	struct sb_team *team;
	enum sb_place places[3]; /* of A, B and C, as the first device sees them */
	double patience;
	int first;   /* the device that is entered, by its index */
	int devices; /* from there on that may take part */

	/* Of the last attempt. */
	const struct sb_kernel *kernel;
	struct sb_tiers tiers; /* of an emulated product: fp16x3 or bf16x6 is the kernel */
	bool emulated;
	int64_t tiles[SB_ARITHMETICS]; /* how many of C got which; 0: nobody has looked */
	struct sb_split_wish wish;
	struct sb_split split;
	int count; /* that took part; 0: no plan was found */
	struct sb_carry carries[SB_DEVICES];
	struct sb_call calls[SB_DEVICES]; /* each one's block of C */
};

struct sb_device *sb_shares_device(const struct sb_shares *shares, int share);

/*
 * Computes the call with a kernel, with the team taken and the first device entered. As
 * sb_carry_out(), and SB_NO_IMAGE if the kernel does not run on every device that is to take part.
 */
enum sb_status sb_shares_try(struct sb_shares *shares, const struct sb_kernel *kernel);
/* The same of an emulated product; with `look` the tiles of each kind are counted. */
enum sb_status sb_shares_try_emulated(struct sb_shares *shares, const struct sb_tiers *tiers,
				      bool look);
/* Forgets an attempt; to be called before the next one, and in the end. */
void sb_shares_drop(struct sb_shares *shares);

/* Has any of C been written? */
bool sb_shares_begun(const struct sb_shares *shares);

/* Calls rest() for blocks that are, together, exactly what of C has not been written. */
typedef void sb_shares_block(void *context, const struct sb_call *block);
void sb_shares_rest(const struct sb_shares *shares, sb_shares_block *rest, void *context);

#endif
