/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_split.h"

#include <string.h>

#include "whole.h"

/*
 * A share below 512 columns leaves a device half empty, as a panel does (plan_shape.c). What is
 * saved is the wire's time first: 8 MiB take it 0.16 ms, of which a further device that brought
 * half would save less than its own first slots and launches take.
 */
struct sb_split_least sb_split_least = {.extent = 512, .bytes = 8 << 20};

static bool along_n(const struct sb_plan_wish *call)
{
	return call->n >= call->m;
}

/* Rows or columns between the borders on which the call may be cut. */
static int64_t tile_of(const struct sb_plan_wish *call)
{
	if (call->tiers)
		return along_n(call) ? call->tiers->bn : call->tiers->bm;
	return along_n(call) ? call->kernel->bn : call->kernel->bm;
}

static int64_t tiles_of(const struct sb_plan_wish *call)
{
	int64_t extent = along_n(call) ? call->n : call->m, tile = tile_of(call);

	return extent / tile + (extent % tile != 0);
}

int sb_split_devices(const struct sb_split_wish *wish)
{
	const struct sb_plan_wish *call = &wish->call;
	const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
	const double bytes = (m * k + k * n + m * n) * sizeof(float);
	int devices = (int)sb_least(wish->devices, tiles_of(call));

	/* What lies on a device stays there. */
	if (call->place_a == SB_PLACE_DEVICE || call->place_b == SB_PLACE_DEVICE ||
	    call->place_c == SB_PLACE_DEVICE)
		return 1;
	while (devices > 1 &&
	       ((along_n(call) ? call->n : call->m) / devices < sb_split_least.extent ||
		bytes / devices < sb_split_least.bytes))
		devices--;
	return devices;
}

/* Cuts C on borders of tiles, in proportion to the weights; every share has a tile. */
static void cut(struct sb_split *split, const struct sb_split_wish *wish)
{
	const struct sb_plan_wish *call = &wish->call;
	const int64_t tile = tile_of(call);
	const int64_t tiles = tiles_of(call);
	int64_t all = 0, sum = 0, begin = 0;

	for (int i = 0; i < split->count; i++)
		all += wish->weights[i];
	for (int i = 0; i < split->count; i++) {
		struct sb_share *share = &split->shares[i];
		int64_t least = begin + 1, most = tiles - (split->count - 1 - i), end;

		sum += wish->weights[i];
		end = (int64_t)((double)tiles * (double)sum / (double)all + 0.5);
		end = end < least ? least : sb_least(end, most);
		*share = (struct sb_share){.m = call->m, .n = call->n};
		if (along_n(call)) {
			share->j0 = begin * tile;
			share->n = sb_least(end * tile, call->n) - share->j0;
		} else {
			share->i0 = begin * tile;
			share->m = sb_least(end * tile, call->m) - share->i0;
		}
		begin = end;
	}
}

/* One plan a share; on failure there is nothing to free. */
static enum sb_status make_plans(struct sb_split *split, const struct sb_split_wish *wish,
				 bool among)
{
	enum sb_status status = SB_OK;
	int made, panels = wish->call.panels;

	for (made = 0; made < split->count; made++) {
		struct sb_share *share = &split->shares[made];
		struct sb_plan_wish part = wish->call;

		part.m = share->m;
		part.n = share->n;
		part.device_bytes = wish->device_bytes[made];
		part.among = (struct sb_plan_among){
			.devices = among ? split->count : 1,
			.device = made,
			.operand = along_n(&wish->call) ? SB_OPERAND_A : SB_OPERAND_B,
		};
		/* What is common has the same panels everywhere. */
		if (made == 0 && split->count > 1 && !panels)
			panels = sb_plan_panels(&part);
		part.panels = panels;
		status = sb_plan_make(&share->plan, &part);
		if (status != SB_OK)
			break;
	}
	while (status != SB_OK && made > 0)
		sb_plan_free(&split->shares[--made].plan);
	return status;
}

static bool all_whole(const struct sb_split *split)
{
	for (int i = 0; i < split->count; i++)
		if (!split->shares[i].plan.whole)
			return false;
	return true;
}

/* The step after which a panel of the common operand is in its place. */
static int filled_by(const struct sb_plan *plan, int operand, int64_t start)
{
	enum sb_step_kind kind =
		plan->operands[operand].way == SB_WAY_LANDED ? SB_STEP_UP : SB_STEP_PACK;

	for (int i = 0; i < plan->count; i++)
		if (plan->steps[i].kind == kind && plan->steps[i].operand == operand &&
		    plan->steps[i].start == start)
			return i;
	return -1;
}

/* Where each panel that comes from another device lies there, and which step of it to wait for. */
static void tie(struct sb_split *split)
{
	for (int i = 0; i < split->count; i++) {
		struct sb_plan *plan = &split->shares[i].plan;

		for (int s = 0; s < plan->count; s++) {
			struct sb_step *step = &plan->steps[s];
			const struct sb_plan *other = &split->shares[step->peer].plan;

			if (step->kind != SB_STEP_PEER)
				continue;
			step->there = filled_by(other, step->operand, step->start);
			step->from = step->to - plan->operands[step->operand].base +
				     other->operands[step->operand].base;
		}
	}
}

enum sb_status sb_split_make(struct sb_split *split, const struct sb_split_wish *wish)
{
	enum sb_status status;
	bool among;

	memset(split, 0, sizeof *split);
	split->count = sb_split_devices(wish);
	cut(split, wish);
	among = wish->linked && split->count > 1;
	status = make_plans(split, wish, among);
	if (status == SB_OK && among && !all_whole(split)) {
		sb_split_free(split);
		among = false;
		status = make_plans(split, wish, among);
	}
	if (status != SB_OK)
		split->count = 0;
	else if (among)
		tie(split);
	return status;
}

void sb_split_free(struct sb_split *split)
{
	for (int i = 0; i < split->count; i++)
		sb_plan_free(&split->shares[i].plan);
}
