/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 5: what plan.c and plan_whole.c lay steps with. */
#ifndef SB_PLAN_LAY_H
#define SB_PLAN_LAY_H

#include "plan_shape.h"

#define SB_NO_STEP	 (-1)
#define SB_PLAN_PRODUCTS 64 /* most of a whole plan: two a panel, and the last one in pieces */

/* Event numbers: one for each thing that is waited for, so that each belongs to one stream. */
enum {
	SB_EVENT_FILLED, /* by operand, and slot or (whole) panel */
	SB_EVENT_RAW_UP =
		SB_EVENT_FILLED + SB_OPERANDS * SB_PLAN_SLOTS, /* whole: in the same way */
	SB_EVENT_RAW_PACKED = SB_EVENT_RAW_UP + SB_OPERANDS * SB_PLAN_SLOTS,
	SB_EVENT_GEMM = SB_EVENT_RAW_PACKED + 2, /* by buffer of C; whole: by product */
	SB_EVENT_DOWN = SB_EVENT_GEMM + SB_PLAN_PRODUCTS,
	SB_EVENT_CLEARED = SB_EVENT_DOWN + SB_PLAN_BUFFERS,
	SB_EVENT_SPLIT, /* by operand, and slot or (whole) panel */
	SB_EVENTS = SB_EVENT_SPLIT + SB_OPERANDS * SB_PLAN_SLOTS
};
/* The last few events of a device are for the executor itself. */
_Static_assert(SB_EVENTS + SB_STREAMS <= SB_DEVICE_EVENTS, "a plan may not name so many events");

/* What is where while the steps are laid. Members are step indices, or SB_NO_STEP. */
struct sb_layer {
	struct sb_plan *plan;
	const struct sb_plan_wish *wish;
	int holder[SB_OPERANDS][SB_PLAN_SLOTS];	 /* the panel in a slot */
	int filled[SB_OPERANDS][SB_PLAN_SLOTS];	 /* the step that completed it; whole: by panel */
	int used[SB_OPERANDS][SB_PLAN_SLOTS][2]; /* the last GEMMs that read it, on each stream */
	int raw_packed[2], raw_next;
	int downed[SB_PLAN_BUFFERS];
	int64_t launched;
	int64_t k0, depth; /* of the steps being laid */
	bool guards;	   /* operands come up for their flags alone */
	int guarded;	   /* the last step that raised some of those */
	bool failed;
};

/* A range of rows of op(A) or columns of op(B), and the last of its panels to arrive. */
struct sb_span {
	int64_t start, count;
	int newest;
	int newest_peer; /* of those that came from another device, on another stream */
};

int sb_plan_last(const struct sb_layer *l);
struct sb_step *sb_plan_lay(struct sb_layer *l, enum sb_step_kind kind, enum sb_stream stream,
			    int event);
void sb_plan_need(struct sb_step *step, int earlier);

/* Lays a step that brings rows [start, start + count) of an operand to `to` in the region. */
struct sb_step *sb_plan_bring(struct sb_layer *l, enum sb_step_kind kind, enum sb_stream stream,
			      int event, int operand, int64_t start, int64_t count, size_t to);
int sb_plan_filled_event(int operand, int slot);

/* The kernel reads zeros beyond the operand: what the copies will not write is cleared first. */
bool sb_plan_has_padding(const struct sb_layer *l, const struct sb_plan_operand *o, int64_t count);
void sb_plan_land(struct sb_layer *l, int operand, int slot, int64_t start, int64_t count,
		  size_t to);

/* Lays the packing of `count` rows that begin `into` the slot; the last piece writes the padding.
 */
struct sb_step *sb_plan_pack(struct sb_layer *l, int operand, int slot, int64_t start,
			     int64_t count, int64_t into, bool end, int event);

/*
 * After a panel has arrived in its slot by a step: lays its splitting, unless it was packed and so
 * split already, or the raising of its flags.
 */
void sb_plan_split_panel(struct sb_layer *l, int operand, int slot, int64_t start, int64_t count,
			 int arrived);

/* Lays a block of C: its product, or a run of it, and, after the last one and unless C is on the
 * device, its way home. */
void sb_plan_multiply(struct sb_layer *l, const struct sb_span *a, const struct sb_span *b,
		      size_t at_a, size_t at_b);

/* Everything stays: panels of A and B in turn, and with each the block that it completes. */
void sb_plan_lay_whole(struct sb_layer *l);
/* The same where one operand is common to several plans (wish->among). */
void sb_plan_lay_among(struct sb_layer *l);

/* Brings a panel of an operand that lies whole in the region. */
void sb_plan_acquire_whole(struct sb_layer *l, int operand, int panel);
/* Zeros where an operand that lies whole has padding that no copy writes; false if it has none. */
bool sb_plan_clear_whole(struct sb_layer *l, int operand, int event);
/* The product of two spans of operands that lie whole; `last`: in pieces, the last one small. */
void sb_plan_multiply_whole(struct sb_layer *l, const struct sb_span *a, const struct sb_span *b,
			    bool last);

#endif
