/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 5: how large super-blocks of C are, and how long runs of slabs (plan.h). */
#include "plan_shape.h"

#include "whole.h"

#define STEPS_MANY (1 << 19) /* products; a plan of more takes too much memory itself */

/* Runs of k that are tried, 0 ends them; and panels of B in a super-block. */
static const int64_t runs[] = {4096, 2048, 1024, 512, 256, 0};
static const int blocks_of_super[] = {8, 4, 2, 1};

/*
 * Of A and of B: one run is read while another comes up, and while one of A, which is larger, comes
 * up. With one of each they take turns, where memory is so short.
 */
static const int roomy[SB_OPERANDS] = {2, 4}, lean[SB_OPERANDS] = {1, 1};

/* Number r of the runs of a product; 0: there are no more. An emulated one is cut between chunks,
 * where its kernels go on. */
static int64_t run_of(const struct sb_plan_wish *wish, size_t r)
{
	if (!wish->tiers)
		return runs[r];
	return r == 0 ? wish->tiers->chunk : 0;
}

/*
 * Makes the panels of B as wide as fit, and then all as wide as each other. Rows and columns that
 * would cross the wire, weighed against narrow blocks, short runs and the wait for blocks on their
 * way home, or 0 if it does not fit.
 */
static double try_super(struct sb_plan *plan, const struct sb_plan_wish *wish, struct sb_super *s)
{
	const int64_t tile = plan->tile_n, room = (int64_t)(wish->device_bytes / sizeof(float));
	const struct sb_plan_operand *a = &plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *b = &plan->operands[SB_OPERAND_B];
	int64_t left = room - s->slots[SB_OPERAND_A] * s->high * s->run, groups;
	double lines, longer;

	if (left <= 0)
		return 0;
	s->wide = sb_least(left / (s->blocks * s->high + s->slots[SB_OPERAND_B] * s->run) / tile *
				   tile,
			   sb_round_up(sb_ceil_div(wish->n, s->blocks), tile));
	while (s->wide > 0 && !sb_plan_lay_out_super(plan, wish, s))
		s->wide = (s->wide - 1) * 15 / 16 / tile * tile;
	if (s->wide <= 0)
		return 0;
	groups = sb_ceil_div(wish->n, s->wide * s->blocks);
	s->wide = sb_round_up(sb_ceil_div(wish->n, groups * s->blocks), tile);
	if (!sb_plan_lay_out_super(plan, wish, s) ||
	    (double)a->panels * b->panels * (double)(wish->k / s->run) > STEPS_MANY)
		return 0;
	lines = (a->slots ? (double)groups * (double)a->extent : 1) +
		(b->slots ? (double)a->panels * (double)b->extent : 0);
	/* Flags first. */
	if (wish->tiers)
		lines += (double)a->extent + (double)b->extent;
	longer = (double)(a->panel > b->panel ? a->panel : b->panel);
	return lines * (1 + 128.0 / longer) * (1 + 64.0 / (double)b->panel) *
	       (1 + 64.0 / (double)s->run) * (1 + 0.1 / plan->buffers);
}

/* The best super-blocks with so many slots: their cost, or 0 if none fits. */
static double best_super(struct sb_plan *plan, const struct sb_plan_wish *wish, const int *slots,
			 struct sb_super *best)
{
	double least = 0;

	for (int64_t rows = 1;; rows += 1 + rows / 8) {
		struct sb_super s = {.high = sb_round_up(sb_ceil_div(wish->m, rows), plan->tile_m),
				     .slots = {slots[SB_OPERAND_A], slots[SB_OPERAND_B]}};

		for (size_t r = 0; (s.run = run_of(wish, r)) != 0; r++)
			for (size_t b = 0; b < sizeof blocks_of_super / sizeof *blocks_of_super;
			     b++) {
				double cost;

				s.blocks = blocks_of_super[b];
				cost = s.run < wish->k ? try_super(plan, wish, &s) : 0;
				if (cost > 0 && (least == 0 || cost < least)) {
					least = cost;
					*best = s;
				}
			}
		if (s.high <= plan->tile_m)
			return least;
	}
}

double sb_plan_fit_runs(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	struct sb_super best = {0};
	double least;

	if (!wish->tiers &&
	    (wish->place_c == SB_PLACE_DEVICE || !sb_registry_resumes(wish->kernel)))
		return 0;
	least = best_super(plan, wish, roomy, &best);
	if (least == 0 && wish->tiers)
		least = best_super(plan, wish, lean, &best);
	return least > 0 && sb_plan_lay_out_super(plan, wish, &best) ? least : 0;
}
