/* SPDX-License-Identifier: BSD-3-Clause */
/* What test_every_fault.c and test_first_faults.c go through: kinds of calls, and ways to fail. */
#ifndef FAULT_KINDS_H
#define FAULT_KINDS_H

#include <stdbool.h>

#include "product.h"

/* How a kind is computed; each has its oracle. SHARED: some fault leaves one part of C to the GPU
 * and one to the CPU. */
enum { FAULT_STRICT = 1, FAULT_EMULATED = 2, FAULT_SHARED = 4 };
struct fault_arithmetic {
	const char *name, *environment;
	unsigned bit;
};
extern const struct fault_arithmetic fault_arithmetics[];
extern const int fault_arithmetics_count;

enum { FAULT_PAGEABLE, FAULT_PINNED, FAULT_DEVICE };

struct fault_kind {
	const char *name;
	unsigned traits; /* FAULT_ of each arithmetic that it is computed in, and what it is beside
			  */
	const char *environment;
	const char *only; /* slots whose names begin so */
	long launches;	  /* at least, or it is not of this kind */
	int places[3];	  /* of A, B and C */
	struct product product;
};
extern const struct fault_kind fault_kinds[];
extern const int fault_kinds_count;

enum fault_slot {
#define SB_DRIVER(slot, base, symbol, version, parameters) FAULT_SLOT_##slot,
#include "driver.def"
#undef SB_DRIVER
	FAULT_SLOTS
};
extern const char *const fault_slots[FAULT_SLOTS];

/* A fault of the stand-in driver's; printed with the name of a slot and the number of a call. */
struct fault_way {
	const char *format;
	bool queues; /* of calls that queue something alone */
};
extern const struct fault_way fault_ways[];
extern const int fault_ways_count;

/* Does a call of the slot queue something? */
bool fault_queues(enum fault_slot slot);

/* What every kind is run with, in the environment, and what this one is. */
void fault_environment(char *text, size_t size, const struct fault_arithmetic *arithmetic,
		       const struct fault_kind *kind);

#endif
