/* SPDX-License-Identifier: BSD-3-Clause */
#include "shares.h"

#include "arena.h"
#include "copy_threads.h"
#include "launch.h"
#include "model.h"
#include "profile.h"
#include "ring.h"
#include "settings.h"
#include "tiles.h"
#include "timeline.h"

struct sb_device *sb_shares_device(const struct sb_shares *s, int share)
{
	return &s->team->devices[s->first + share];
}

/* Does something with the device of a share while its context is current. */
static enum sb_status with_each(struct sb_shares *s, int count,
				enum sb_status (*act)(struct sb_shares *s, int share))
{
	enum sb_status status = SB_OK;

	for (int i = 0; i < count && status == SB_OK; i++) {
		enum sb_status back = SB_OK;

		if (i > 0)
			status = sb_device_step_over(sb_shares_device(s, i));
		if (status != SB_OK)
			return status;
		status = act(s, i);
		if (i > 0)
			back = sb_device_step_back(sb_shares_device(s, i));
		if (back != SB_OK)
			status = back;
	}
	return status;
}

/* By the profile: what a plan of an emulated product is chosen by. */
static struct sb_plan_pace pace_of(const struct sb_shares *s)
{
	const struct sb_profile *profile = sb_profile(NULL);
	bool up = s->places[0] != SB_PLACE_PINNED || s->places[1] != SB_PLACE_PINNED;
	bool down = s->places[2] != SB_PLACE_PINNED;

	if (!s->emulated)
		return (struct sb_plan_pace){0};
	return (struct sb_plan_pace){
		.up = sb_model_rate(profile, up ? SB_STAGED_UP : SB_PINNED_UP),
		.down = sb_model_rate(profile, down ? SB_STAGED_DOWN : SB_PINNED_DOWN),
		.multiprocessors = sb_launch_target(sb_shares_device(s, 0)).multiprocessors,
	};
}

static void make_wish(struct sb_shares *s)
{
	s->wish = (struct sb_split_wish){
		.call = {.m = s->call->m,
			 .n = s->call->n,
			 .k = s->call->k,
			 .trans_a = s->call->trans_a,
			 .trans_b = s->call->trans_b,
			 .place_a = s->places[0],
			 .place_b = s->places[1],
			 .place_c = s->places[2],
			 .maps_a = sb_launch_mappable(s->call->a, s->call->lda),
			 .maps_b = sb_launch_mappable(s->call->b, s->call->ldb),
			 .kernel = s->kernel,
			 .tiers = s->emulated ? &s->tiers : NULL,
			 .pace = pace_of(s),
			 .panels = (int)sb_settings()->panels},
		.devices = s->devices,
		.linked = s->team->linked,
	};
	for (int i = 0; i < s->devices; i++) {
		const struct sb_device *device = sb_shares_device(s, i);

		s->wish.device_bytes[i] = device->memory;
		s->wish.weights[i] = device->multiprocessors > 0 ? device->multiprocessors : 1;
	}
}

static size_t needed(const struct sb_shares *s, int share)
{
	return s->split.shares[share].plan.device_bytes;
}

/* What we hold already needs no look at what is free. */
static enum sb_status look_at_free(struct sb_shares *s, int share)
{
	struct sb_device *device = sb_shares_device(s, share);
	size_t bound;

	if (needed(s, share) <= sb_arena_held(device))
		return SB_OK;
	bound = sb_arena_bound(device);
	if (needed(s, share) <= bound)
		return SB_OK;
	s->wish.device_bytes[share] = bound;
	return SB_NO_MEMORY;
}

/* A failed allocation asks for half as much. */
static enum sb_status take(struct sb_shares *s, int share)
{
	enum sb_status status = SB_OK;

	if (needed(s, share))
		status = sb_arena_take(sb_shares_device(s, share), needed(s, share),
				       &s->carries[share].base);
	if (status == SB_NO_MEMORY)
		s->wish.device_bytes[share] = needed(s, share) / 2;
	return status;
}

static enum sb_status give(struct sb_shares *s, int share)
{
	sb_arena_give(sb_shares_device(s, share));
	return SB_OK;
}

/* Makes plans that fit and takes their regions. */
static enum sb_status plan_and_take(struct sb_shares *s)
{
	enum sb_status status = sb_split_make(&s->split, &s->wish);
	bool looked = false;

	while (status == SB_OK) {
		status = with_each(s, s->split.count, looked ? take : look_at_free);
		if (status == SB_OK && looked)
			return SB_OK;
		looked = looked || status == SB_OK;
		if (status == SB_NO_MEMORY) {
			sb_split_free(&s->split);
			status = sb_split_make(&s->split, &s->wish);
		}
	}
	return status;
}

/* The block of C that begins at row i0 and column j0, as a call of its own. */
static struct sb_call block_of(const struct sb_call *call, int64_t i0, int64_t j0, int64_t m,
			       int64_t n)
{
	struct sb_call block = *call;
	const float *a = block.a, *b = block.b;

	block.m = m;
	block.n = n;
	block.a = a + (block.trans_a ? i0 * block.lda : i0);
	block.b = b + (block.trans_b ? j0 : j0 * block.ldb);
	block.c = (float *)block.c + i0 + j0 * block.ldc;
	return block;
}
static enum sb_status prepare_ring(struct sb_shares *s, int share)
{
	return sb_ring_prepare(sb_shares_device(s, share));
}

static enum sb_status prepare_kernel(struct sb_shares *s, int share)
{
	struct sb_device *device = sb_shares_device(s, share);

	return s->emulated ? sb_launch_prepare_tiers(device, &s->tiers)
			   : sb_launch_prepare(device, s->kernel);
}

static void make_carries(struct sb_shares *s)
{
	for (s->count = 0; s->count < s->split.count; s->count++) {
		const struct sb_share *share = &s->split.shares[s->count];
		struct sb_carry *carry = &s->carries[s->count];

		s->calls[s->count] = block_of(s->call, share->i0, share->j0, share->m, share->n);
		*carry = (struct sb_carry){
			.device = sb_shares_device(s, s->count),
			.call = &s->calls[s->count],
			.kernel = s->kernel,
			.tiers = s->emulated ? &s->tiers : NULL,
			.plan = &share->plan,
			.base = carry->base,
			.places = {s->places[0], s->places[1]},
			/*
			 * Never by DMA into the caller's C, pinned or not: a device that is given
			 * up with such a copy on its way may wake and make it after the CPU has
			 * answered and the program has gone on, over whatever lies there then.
			 * Nothing can call a copy back.
			 */
			.direct = false,
			.patience = s->patience,
		};
	}
	if (s->places[2] == SB_PLACE_PAGEABLE && s->call->beta == 0)
		s->carries[0].fresh = s->call;
}

static enum sb_status begin_timeline(struct sb_shares *s, int share)
{
	sb_timeline_enter(sb_shares_device(s, share), s->patience);
	return SB_OK;
}

static enum sb_status end_timeline(struct sb_shares *s, int share)
{
	sb_timeline_leave(sb_shares_device(s, share));
	return SB_OK;
}

static enum sb_status carry_out(struct sb_shares *s)
{
	enum sb_status status = sb_timeline_here ? with_each(s, s->count, begin_timeline) : SB_OK;

	if (status == SB_OK)
		status = sb_carry_out(s->carries, s->count);
	if (sb_timeline_here && status != SB_LOST &&
	    with_each(s, s->count, end_timeline) == SB_LOST)
		status = SB_LOST;
	return status;
}

/* Who copies, and through what, is the profile's; made once, they stay. */
static void wish_for_copying(const struct sb_shares *s)
{
	const struct sb_profile *profile = sb_profile(NULL);

	sb_copy_threads_wish(sb_copy_threads_for(profile->copy_threads, s->team->count,
						 sb_profile_processors()));
	sb_ring_wish(profile->copy_slot);
}

/* Whatever must be there before the first step. */
static enum sb_status prepare(struct sb_shares *s, int devices)
{
	enum sb_status status = with_each(s, devices, prepare_ring);

	if (status != SB_OK)
		return status;
	status = with_each(s, devices, prepare_kernel);
	if (status == SB_DECLINE)
		return SB_NO_IMAGE;
	return status == SB_OK ? plan_and_take(s) : status;
}

static enum sb_status count_tiles(struct sb_shares *s, int share)
{
	return sb_tiles_count(&s->carries[share], s->tiles);
}

/* C is complete, whatever becomes of this; and it is no part of the call's timeline. */
static void look_at_tiles(struct sb_shares *s)
{
	struct sb_timeline *timeline = sb_timeline_here;

	sb_timeline_here = NULL;
	(void)with_each(s, s->count, count_tiles);
	sb_timeline_here = timeline;
}

static enum sb_status attempt(struct sb_shares *s, const struct sb_kernel *kernel, bool look)
{
	double begin = sb_timeline_begin(sb_timeline_here, SB_TIMELINE_PREPARE);
	enum sb_status status;
	int devices;

	s->kernel = kernel;
	wish_for_copying(s);
	make_wish(s);
	devices = sb_split_devices(&s->wish);
	status = prepare(s, devices);
	sb_timeline_end(sb_timeline_here, SB_TIMELINE_PREPARE, 0, begin, 0);
	if (status == SB_NO_IMAGE)
		return status;
	if (status == SB_OK) {
		make_carries(s);
		status = carry_out(s);
	}
	if (status == SB_OK && look)
		look_at_tiles(s);
	if (status != SB_LOST && with_each(s, devices, give) == SB_LOST)
		status = SB_LOST;
	return status;
}

enum sb_status sb_shares_try(struct sb_shares *s, const struct sb_kernel *kernel)
{
	s->emulated = false;
	return attempt(s, kernel, false);
}

enum sb_status sb_shares_try_emulated(struct sb_shares *s, const struct sb_tiers *tiers, bool look)
{
	s->tiers = *tiers;
	s->emulated = true;
	for (int i = 0; i < SB_ARITHMETICS; i++)
		s->tiles[i] = 0;
	return attempt(s, sb_registry_first(tiers), look);
}

bool sb_shares_begun(const struct sb_shares *s)
{
	for (int i = 0; i < s->count; i++)
		if (sb_carry_begun(&s->carries[i]))
			return true;
	return false;
}

/* A share's pieces of C that were not written, as calls of their own. */
struct rest {
	const struct sb_call *call; /* of the share */
	sb_shares_block *finish;
	void *context;
};

static void finish_block(void *context, int64_t i0, int64_t j0, int64_t m, int64_t n)
{
	const struct rest *rest = context;
	struct sb_call block = block_of(rest->call, i0, j0, m, n);

	rest->finish(rest->context, &block);
}

void sb_shares_rest(const struct sb_shares *s, sb_shares_block *finish, void *context)
{
	for (int i = 0; i < s->count; i++) {
		struct rest rest = {&s->calls[i], finish, context};

		sb_carry_rest(&s->carries[i], finish_block, &rest);
	}
}

void sb_shares_drop(struct sb_shares *s)
{
	s->count = 0;
	sb_split_free(&s->split);
}
