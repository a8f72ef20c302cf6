/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_shape.h"

#include <string.h>

#include "args.h"
#include "whole.h"

#define ELEMENT	    sizeof(float)
#define ALIGNMENT   256
#define PANEL_LEAST 512 /* rows; narrower panels leave the device half empty */
#define RAW_LEAST   32	/* lines: a pack kernel's block */
#define RAW_SHARE   32	/* of the region that a raw buffer, or one more block of C, may take */
#define BUFFERS	    4

/* Widths tried when not everything fits, widest first. */
static const int64_t widths[] = {8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 1};

/* Sizes here are bounded by 2^31 an extent, so that their products fit 64 bits. */
static size_t bytes_of(int64_t lines, int64_t pitch)
{
	return (size_t)sb_round_up(lines * pitch * (int64_t)ELEMENT, ALIGNMENT);
}

/* `maps`: the kernel reads a map, which can be made of the operand where it lies. */
static enum sb_way way_of(enum sb_place place, bool k_slow, bool maps, bool panels_form)
{
	bool on_device = place == SB_PLACE_DEVICE;

	if (!panels_form)
		return on_device ? SB_WAY_IN_PLACE : SB_WAY_LANDED;
	if (on_device)
		return k_slow && maps ? SB_WAY_IN_PLACE : SB_WAY_PACKED;
	return k_slow ? SB_WAY_LANDED : SB_WAY_RAW;
}

static void set_operand(struct sb_plan_operand *o, int64_t extent, bool k_slow, enum sb_place place,
			bool maps, bool panels_form)
{
	o->extent = extent;
	o->k_slow = k_slow;
	o->way = way_of(place, k_slow, maps, panels_form);
}

/* How `rows` rows lie in the region, and how many bytes they take. */
static size_t set_layout(struct sb_plan_operand *o, int64_t rows, int tile, int64_t k,
			 const struct sb_plan *plan)
{
	bool panels_form = plan->panels_form;

	o->padded = panels_form ? sb_round_up(rows, tile) : rows;
	o->padded_k = panels_form ? sb_round_up(k, plan->tile_k) : k;
	if (o->way == SB_WAY_IN_PLACE) {
		o->stride_mn = o->stride_k = 0;
		return 0;
	}
	if (panels_form || o->k_slow) {
		o->stride_mn = 1;
		o->stride_k = sb_round_up(o->padded, SB_PAD);
		return bytes_of(o->padded_k, o->stride_k);
	}
	o->stride_mn = sb_round_up(k, SB_PAD);
	o->stride_k = 1;
	return bytes_of(o->padded, o->stride_mn);
}

static void set_panels(struct sb_plan_operand *o, int64_t panel)
{
	o->panel = sb_least(panel, o->extent);
	o->panels = (int)sb_least(sb_ceil_div(o->extent, o->panel), INT32_MAX);
}

/* Panels of `panel` rows, each in a slot. */
static void set_slots(struct sb_plan_operand *o, int64_t panel, int slots, int tile, int64_t k,
		      const struct sb_plan *plan)
{
	set_panels(o, panel);
	o->slot_bytes = set_layout(o, o->panel, tile, k, plan);
	o->slots = o->way == SB_WAY_IN_PLACE ? 0 : (int)sb_least(slots, o->panels);
}

/* The whole of an operand in one place. */
static void set_whole(struct sb_plan_operand *o, int64_t panel, int tile, int64_t k,
		      const struct sb_plan *plan)
{
	set_panels(o, panel);
	o->slot_bytes = set_layout(o, o->extent, tile, k, plan);
	o->slots = o->way == SB_WAY_IN_PLACE ? 0 : 1;
}

/* What splitting adds to a slot. */
static void set_split(struct sb_plan_operand *o, const struct sb_plan *plan)
{
	int64_t slabs = sb_ceil_div(o->padded_k, SB_SPLIT_SLAB);

	o->planes_bytes = o->split_bytes = 0;
	if (!plan->split)
		return;
	o->planes_bytes = bytes_of(o->padded, o->padded_k); /* two parts of half the size */
	o->split_bytes = o->planes_bytes + bytes_of(o->padded, slabs);
}

/* Raw buffers hold lines along k, a block's worth at least. */
static void set_raw(struct sb_plan *plan, int64_t k, size_t limit)
{
	const int64_t least = plan->split ? SB_PLAN_PIECE : RAW_LEAST;
	int64_t pitch = sb_round_up(k, SB_PAD), lines, most = 0;

	plan->raw_bytes = 0;
	for (int i = 0; i < SB_OPERANDS; i++) {
		const struct sb_plan_operand *o = &plan->operands[i];

		if (o->way != SB_WAY_RAW)
			continue;
		lines = (int64_t)(limit / ((size_t)pitch * ELEMENT)) / least * least;
		if (lines < least)
			lines = least;
		lines = sb_least(lines, sb_round_up(o->panel, least));
		plan->raw_pitch[i] = pitch;
		plan->raw_lines[i] = lines;
		if (lines > most)
			most = lines;
	}
	if (most)
		plan->raw_bytes = bytes_of(most, pitch);
}

static void set_buffers(struct sb_plan *plan, int64_t buffers, bool in_place)
{
	const struct sb_plan_operand *a = &plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *b = &plan->operands[SB_OPERAND_B];

	plan->buffers = in_place ? 0 : (int)buffers;
	plan->buffer_ld = sb_round_up(a->panel, SB_PAD);
	plan->buffer_bytes = in_place ? 0 : bytes_of(b->panel, plan->buffer_ld);
}

/* Room for the chains of the largest block. */
static void set_work(struct sb_plan *plan, const struct sb_plan_wish *wish, int64_t k)
{
	const struct sb_plan_operand *a = &plan->operands[SB_OPERAND_A];
	const struct sb_plan_operand *b = &plan->operands[SB_OPERAND_B];
	int64_t m = plan->whole ? a->extent : a->panel, n = plan->whole ? b->extent : b->panel;
	size_t bytes = wish->tiers ? sb_registry_tiers_work(wish->tiers, m, n, k)
				   : sb_registry_work(wish->kernel, m, n, k);

	plan->work_bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Lays everything out, one after the other; the size of the region. */
static size_t lay_out(struct sb_plan *plan)
{
	size_t at = 0;

	for (int i = 0; i < SB_OPERANDS; i++) {
		struct sb_plan_operand *o = &plan->operands[i];

		o->base = at;
		o->bytes = (size_t)o->slots * o->slot_bytes;
		at += o->bytes;
	}
	for (int i = 0; i < SB_OPERANDS && plan->emulated; i++) {
		struct sb_plan_operand *o = &plan->operands[i];
		int64_t rows =
			sb_round_up(o->extent, i == SB_OPERAND_A ? plan->tile_m : plan->tile_n);

		set_split(o, plan);
		o->split_base = at;
		at += (size_t)o->slots * o->split_bytes;
		o->flags_base = at;
		at += bytes_of(sb_ceil_div(rows, SB_PLAN_FLAGGED), 1);
	}
	plan->buffer_base = at;
	at += (size_t)plan->buffers * plan->buffer_bytes;
	/* Products in place all run on one stream. */
	for (int i = 0; i < (plan->buffers ? 2 : 1); i++) {
		plan->work_base[i] = at;
		at += plan->work_bytes;
	}
	for (int i = 0; i < 2 && !plan->whole; i++) {
		plan->raw_base[i] = at;
		at += plan->raw_bytes;
	}
	for (int i = 0; i < SB_OPERANDS && plan->whole; i++) {
		struct sb_plan_operand *o = &plan->operands[i];

		o->raw_base = at;
		if (o->way == SB_WAY_RAW)
			at += bytes_of(o->extent, plan->raw_pitch[i]);
	}
	plan->device_bytes = at;
	return at;
}

/* The width of panels where everything fits: so many that copies and work overlap. */
static int64_t whole_width(int64_t extent, int tile, int panels)
{
	int64_t most = panels > 0 && panels < SB_PLAN_SLOTS ? panels : SB_PLAN_SLOTS;
	int64_t width = sb_ceil_div(extent, most);

	if (panels == 0 && width < PANEL_LEAST)
		width = PANEL_LEAST;
	return sb_round_up(width, tile);
}

static bool all_in_place(const struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	return plan->operands[SB_OPERAND_A].way == SB_WAY_IN_PLACE &&
	       plan->operands[SB_OPERAND_B].way == SB_WAY_IN_PLACE &&
	       wish->place_c == SB_PLACE_DEVICE;
}

static bool fits_whole(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	const int tiles[] = {plan->tile_m, plan->tile_n};
	bool c_in_place = wish->place_c == SB_PLACE_DEVICE;

	plan->whole = true;
	plan->settles = false;
	plan->run = wish->k;
	for (int i = 0; i < SB_OPERANDS; i++) {
		struct sb_plan_operand *o = &plan->operands[i];

		set_whole(o,
			  all_in_place(plan, wish) ? o->extent
						   : whole_width(o->extent, tiles[i], wish->panels),
			  tiles[i], wish->k, plan);
		plan->raw_pitch[i] = sb_round_up(wish->k, SB_PAD);
	}
	plan->buffers = c_in_place ? 0 : 1;
	plan->buffer_ld = sb_round_up(wish->m, SB_PAD);
	plan->buffer_bytes = c_in_place ? 0 : bytes_of(wish->n, plan->buffer_ld);
	set_work(plan, wish, wish->k);
	return lay_out(plan) <= wish->device_bytes;
}

/*
 * One shape under a bound: operand `stays` gets as many slots as fit beside two of the other, or,
 * if lean, one. The rows and columns that would cross the wire, weighed against narrow panels, or 0
 * if it does not fit.
 */
static double try_width(struct sb_plan *plan, const struct sb_plan_wish *wish, int64_t width,
			int stays, bool lean)
{
	const int tiles[] = {plan->tile_m, plan->tile_n};
	struct sb_plan_operand *stay = &plan->operands[stays];
	struct sb_plan_operand *pass = &plan->operands[!stays];
	int64_t groups, blocks;
	size_t spare;
	double lines;

	for (int i = 0; i < SB_OPERANDS; i++)
		set_slots(&plan->operands[i], sb_round_up(width, tiles[i]),
			  i == stays || lean ? 1 : 2, tiles[i], wish->k, plan);
	blocks = (int64_t)stay->panels * pass->panels;
	set_raw(plan, wish->k, wish->device_bytes / RAW_SHARE);
	set_buffers(plan, sb_least(blocks, lean ? 1 : 2), wish->place_c == SB_PLACE_DEVICE);
	set_work(plan, wish, wish->k);
	if (lay_out(plan) > wish->device_bytes)
		return 0;
	spare = wish->device_bytes - plan->device_bytes;
	/* Two blocks are computed at once, and others are on their way home. */
	while (plan->buffers && plan->buffers < BUFFERS && plan->buffers < blocks &&
	       plan->buffer_bytes <= wish->device_bytes / RAW_SHARE &&
	       plan->buffer_bytes <= spare) {
		plan->buffers++;
		spare -= plan->buffer_bytes;
	}
	if (stay->slot_bytes)
		stay->slots = (int)sb_least(
			sb_least(stay->panels, SB_PLAN_SLOTS),
			1 + (int64_t)(spare / (stay->slot_bytes + stay->split_bytes)));
	lay_out(plan);
	plan->stays = stays;
	/* What lies in place crosses no wire. */
	groups = stay->slots ? sb_ceil_div(stay->panels, stay->slots) : 1;
	lines = (stay->slots ? (double)stay->extent : 1) +
		(pass->slots ? (double)groups * (double)pass->extent : 0);
	return lines * (1 + 128.0 / (double)stay->panel);
}

static double best_width(struct sb_plan *plan, const struct sb_plan_wish *wish, bool lean)
{
	double best = 0;
	int best_width = 0, best_stays = 0;

	for (int w = 0; w < (int)(sizeof widths / sizeof *widths); w++)
		for (int stays = 0; stays < SB_OPERANDS; stays++) {
			double cost = try_width(plan, wish, widths[w], stays, lean);

			if (cost > 0 && (best == 0 || cost < best)) {
				best = cost;
				best_width = w;
				best_stays = stays;
			}
		}
	return best > 0 ? try_width(plan, wish, widths[best_width], best_stays, lean) : 0;
}

/* The best of these shapes, laid out; its cost, or 0 if none fits. */
static double fits_passing(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	double cost;

	plan->whole = plan->settles = false;
	plan->run = wish->k;
	cost = best_width(plan, wish, false);
	return cost > 0 || !wish->tiers ? cost : best_width(plan, wish, true);
}

bool sb_plan_lay_out_super(struct sb_plan *plan, const struct sb_plan_wish *wish,
			   const struct sb_super *s)
{
	struct sb_plan_operand *a = &plan->operands[SB_OPERAND_A];
	struct sb_plan_operand *b = &plan->operands[SB_OPERAND_B];

	plan->run = s->run;
	plan->settles = wish->place_c == SB_PLACE_DEVICE;
	set_slots(a, s->high, s->slots[SB_OPERAND_A], plan->tile_m, s->run, plan);
	set_slots(b, s->wide, s->slots[SB_OPERAND_B], plan->tile_n, s->run, plan);
	/* There are more runs than panels. */
	a->slots = a->way == SB_WAY_IN_PLACE ? 0 : s->slots[SB_OPERAND_A];
	b->slots = b->way == SB_WAY_IN_PLACE ? 0 : s->slots[SB_OPERAND_B];
	set_raw(plan, s->run, wish->device_bytes / RAW_SHARE);
	set_buffers(plan, sb_least(s->blocks, b->panels), false);
	set_work(plan, wish, s->run);
	return lay_out(plan) <= wish->device_bytes;
}

/* Runs where they save a fifth: the other way has no totals to hand on. */
static bool fits_in_parts(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	double passing = fits_passing(plan, wish), cut;

	if (passing > 0 && passing < 1.2 * (double)(wish->m + wish->n))
		return true;
	cut = sb_plan_fit_runs(plan, wish);
	if (cut > 0 && (passing == 0 || cut < 0.8 * passing))
		return true;
	return passing > 0 && fits_passing(plan, wish) > 0;
}

enum sb_status sb_plan_shape(struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	const struct sb_kernel *kernel = wish->kernel;
	/* Padding must not take a size past 31 bits. */
	const int64_t limit = INT32_MAX - 1024;
	const bool maps = !wish->tiers && sb_registry_has_maps(kernel);

	memset(plan, 0, sizeof *plan);
	plan->tile_m = wish->tiers ? wish->tiers->bm : kernel->bm;
	plan->tile_n = wish->tiers ? wish->tiers->bn : kernel->bn;
	plan->tile_k = wish->tiers ? wish->tiers->bk : kernel->bk;
	plan->panels_form = wish->tiers || kernel->form != SB_FORM_ANY;
	plan->emulated = wish->tiers != NULL;
	plan->split = wish->tiers && wish->tiers->fp16x3;
	set_operand(&plan->operands[SB_OPERAND_A], wish->m, !wish->trans_a, wish->place_a,
		    maps && wish->maps_a, plan->panels_form);
	set_operand(&plan->operands[SB_OPERAND_B], wish->n, wish->trans_b, wish->place_b,
		    maps && wish->maps_b, plan->panels_form);
	if (wish->m > limit || wish->n > limit || wish->k > limit)
		return SB_DECLINE;
	if (fits_whole(plan, wish) || fits_in_parts(plan, wish))
		return SB_OK;
	return SB_NO_MEMORY;
}
