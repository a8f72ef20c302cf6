/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the plan of a call: an array of steps with their dependencies. Made by a pure function
 * of the wish, so that tests can make thousands and check every one; carried out by offload.c.
 *
 * A and B are cut into panels over m and n, and C into blocks, each the product of some panels. As
 * long as that moves little, panels hold all of k.
 *
 * Where all fits, A, B and C lie whole in the device region (the plan is `whole`). Panels of A and
 * B alternate, and with each comes one product, of that panel and of all of the other operand that
 * is there. Else panels live in slots; one operand stays, as many panels as fit, the other passes
 * by, once for each group of panels that stay; and blocks of C live in buffers until they are down.
 *
 * The longer k is, the narrower such panels get, and the more often the other operand passes by. So
 * where k is several times the square root of the region's elements, C stays and K is cut as well,
 * on borders of slabs: for each super-block, of one panel of A and some of B, runs of slabs of both
 * come up in turn, and the GEMMs of a run go on from the raw totals that those of the run before
 * have left in the blocks' buffers (args.h). The blocks go down after the last run.
 *
 * A product that is emulated (the wish has tiers) is cut on borders of their tiles, and along k, as
 * above, on those of chunks alone, whose sums are added up in order: no plan changes a bit. Beside
 * the slots of an operand lie their planes and exponents, and a flag for each 128 of its rows; a
 * panel that has arrived is split, as it is packed or after it, or flagged as a whole where there
 * is no tier that reads planes. Flags are about all of k. So where K is cut, all of both operands
 * comes up once before, for its flags alone; and where C is on the device, finished blocks are
 * added to it there.
 *
 * Streams run their own steps in order, each stream as far as it gets. A step waits for its
 * `needs`, all of them earlier steps. Each step that another stream waits for records its `event`;
 * an event number is recorded on one stream only, so that waiting for its latest record is never
 * too early.
 */
#ifndef SB_PLAN_H
#define SB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "registry.h"

/*
 * A plan that is one of several, each of a device of its own: C is cut along n (or m), so that A
 * (or B) is common to all of them. Where that lies whole on every device it comes from the host
 * once: each plan brings every devices-th of its panels, and the others come from the devices that
 * do.
 */
struct sb_plan_among {
	int devices, device; /* how many there are (0, 1: this one alone), and which this is */
	int operand;	     /* the common one */
};

/* How fast things go, for plans that are chosen by it: bytes a second, both ways alone. */
struct sb_plan_pace {
	double up, down;
	int multiprocessors;
};

struct sb_plan_wish {
	int64_t m, n, k; /* > 0 */
	bool trans_a, trans_b;
	enum sb_place place_a, place_b, place_c;
	bool maps_a, maps_b; /* mappable, if they lie on the device (launch.h) */
	const struct sb_kernel *kernel;
	const struct sb_tiers *tiers; /* NULL: not emulated; else the kernel is the first of them */
	struct sb_plan_pace pace;     /* of emulated products */
	size_t device_bytes;	      /* the region may be no larger */
	int panels; /* that A and B are each cut into where all fits; 0: as is best */
	struct sb_plan_among among; /* without effect where the plan is not whole */
};

/* How an operand comes to where the kernel reads it. */
enum sb_way {
	SB_WAY_IN_PLACE, /* on the device already, read through its strides */
	SB_WAY_LANDED,	 /* uploaded into its slot in the form in which it is read */
	SB_WAY_RAW,	 /* uploaded into a raw buffer in pieces, packed from there into its slot */
	SB_WAY_PACKED	 /* on the device already, packed from there into its slot */
};

enum { SB_OPERAND_A, SB_OPERAND_B, SB_OPERANDS };

struct sb_plan_operand {
	enum sb_way way;
	bool k_slow;	/* in the caller's memory neighbours are neighbours in m or n, else in k */
	int64_t extent; /* m or n */
	int64_t panel;	/* rows (of A) or columns (of B) in a panel; the last may be shorter */
	int panels, slots;	     /* slots 0: in place */
	size_t base, slot_bytes;     /* of slot 0 in the region; from slot to slot */
	size_t bytes;		     /* of all of it in the region */
	int64_t stride_mn, stride_k; /* elements in a slot; 0 in place: the caller's */
	int64_t padded, padded_k;    /* extents of a slot, or of the whole, that the kernel reads */
	size_t raw_base;	     /* whole: of the operand as it was uploaded, to be packed */
	/* Emulated: of slot 0 in the region, from slot to slot; in each, planes and then exponents.
	 */
	size_t split_base, split_bytes, planes_bytes;
	size_t flags_base; /* of all of it */
};

enum sb_step_kind {
	SB_STEP_CLEAR, /* zero a slot, or a whole operand */
	SB_STEP_UP,    /* caller -> slot or raw buffer */
	SB_STEP_PACK,  /* raw buffer or caller -> slot */
	SB_STEP_PEER,  /* another device's slot -> the same of this one */
	SB_STEP_SPLIT, /* a panel in its slot -> planes, exponents and flags */
	SB_STEP_FLAG,  /* all flags of a panel are raised */
	SB_STEP_GEMM,  /* slots -> C buffer, or the caller's C on the device */
	SB_STEP_DOWN   /* C buffer -> caller */
};

#define SB_STEP_NEEDS 4

struct sb_step {
	enum sb_step_kind kind;
	enum sb_stream stream;
	int needs[SB_STEP_NEEDS]; /* indices of earlier steps; -1: none */
	int event;		  /* recorded after the step; -1: none */
	int operand;		  /* of CLEAR, UP, PACK, PEER, SPLIT and FLAG */
	int64_t start, count;	  /* of these: rows of op(A) or columns of op(B) */
	int64_t k0, depth;	  /* of all but DOWN: the values of k */
	bool run;		  /* they are not all there are */
	int64_t into;		  /* PACK, SPLIT: where in the slot they begin */
	int64_t padded;	 /* PACK, PEER, SPLIT, FLAG: rows to write, the rest of them zeros */
	int64_t flagged; /* PACK, SPLIT, FLAG: rows whose flags begin here, as zeros or raised */
	size_t parts;	 /* PACK, emulated: the split slot */
	int64_t i0, m, j0, n; /* of GEMM and DOWN: the block of C */
	size_t a, b;	      /* GEMM: offsets of the first row and the first column */
	int slots[2];	      /* GEMM, emulated: that they are in, of A and of B */
	size_t from, to;      /* UP, CLEAR: to; PACK, PEER: both; DOWN: from; GEMM: to; SPLIT:
				 from, and to the split slot; FLAG: neither */
	int peer, there; /* PEER: whose region `from` is in, and the step of its plan to wait for */
};

struct sb_plan {
	struct sb_plan_operand operands[SB_OPERANDS];
	size_t device_bytes;
	bool whole;		    /* each operand has one slot, and all of C one buffer */
	int tile_m, tile_n, tile_k; /* panels are padded to multiples of them, and cut on them */
	bool panels_form;	    /* the kernels read canonical panels */
	bool emulated, split;	    /* there are flags; there are planes: PACK splits as well */
	bool settles;	   /* C is on the device and has buffers: DOWN adds those to it there */
	int64_t run;	   /* values of k in a run of slabs, where C stays; else all of k */
	int stays;	   /* the operand that stays, where not both do */
	int buffers;	   /* of C; 0: in place */
	int64_t buffer_ld; /* their leading dimension */
	size_t buffer_base, buffer_bytes;
	size_t work_base[2], work_bytes; /* what launches work in, by GEMM stream */
	size_t raw_base[2], raw_bytes;	 /* not whole: two raw buffers in all; bytes of each */
	int64_t raw_pitch[SB_OPERANDS],
		raw_lines[SB_OPERANDS]; /* elements; lines in a raw buffer */
	struct sb_step *steps;
	int count, room;
};

/*
 * Fills the plan. SB_OK; SB_NO_MEMORY if device_bytes is too little for any plan with this kernel
 * (one whose tile is smaller may still fit) or the host has no memory for the steps; SB_DECLINE if
 * the kernel cannot do the call at all (a size beyond 31 bits that cannot be cut).
 */
enum sb_status sb_plan_make(struct sb_plan *plan, const struct sb_plan_wish *wish);
void sb_plan_free(struct sb_plan *plan);

/*
 * Into how many panels A and B of an emulated product are best cut where all fits; 0: as always, or
 * it does not fit. The first of several devices decides for all.
 */
int sb_plan_panels(const struct sb_plan_wish *wish);

/*
 * The seconds that an emulated plan is predicted to take by its wish's pace: its steps by streams,
 * what they wait for included.
 */
double sb_plan_seconds(const struct sb_plan *plan, const struct sb_plan_wish *wish);

/* One line of text for a step, as SHIMBLAS_VERBOSE=2 prints it. */
void sb_plan_line(const struct sb_step *step, char *text, size_t size);

#endif
