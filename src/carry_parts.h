/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: what the steps of an emulated product do beyond those of others: planes and flags. */
#ifndef SB_CARRY_PARTS_H
#define SB_CARRY_PARTS_H

#include "args.h"
#include "carry.h"

/*
 * The rows of a step become planes, exponents and flags in the split slot that begins at `parts`;
 * args say where they lie, and where their panel is to be.
 */
enum sb_status sb_carry_split_to(struct sb_carry *carry, const struct sb_step *step, size_t parts,
				 struct sb_split_args *args);

/* The steps SPLIT and FLAG. */
enum sb_status sb_carry_split(struct sb_carry *carry, const struct sb_step *step);
enum sb_status sb_carry_flag(struct sb_carry *carry, const struct sb_step *step);

/* What the tiers of a GEMM step read beside panels. */
void sb_carry_add_parts(const struct sb_carry *carry, const struct sb_step *step,
			struct sb_gemm_args *args);

#endif
