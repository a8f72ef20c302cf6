/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault_kinds.h"

#include <stdio.h>

const struct fault_arithmetic fault_arithmetics[] = {
	{"strict", "SHIMBLAS_KERNEL=sgemm_plain_64x64x16", FAULT_STRICT},
	/* Six products of bf16 where k is short, three of fp16 where it is long. */
	{"emulated", "SHIMBLAS_KERNEL=sgemm_fp16x3_128x128x64", FAULT_EMULATED},
};
const int fault_arithmetics_count = sizeof fault_arithmetics / sizeof *fault_arithmetics;

enum {
	STRICT = FAULT_STRICT,
	EMULATED = FAULT_EMULATED,
	BOTH = FAULT_STRICT | FAULT_EMULATED,
	SHARED = FAULT_SHARED
};

const struct fault_kind fault_kinds[] = {
	{"nn", BOTH, "A=1", "", 1, {0}, {37, 29, 11, 0, 0, 0, 0, 0, 1, 0}},
	{"nn beta", BOTH, "A=1", "", 1, {0}, {37, 29, 11, 0, 0, 1, 2, 3, 1.5f, 0.5f}},
	{"nt", BOTH, "A=1", "", 1, {0}, {37, 29, 11, 0, 1, 3, 1, 2, -1, 0}},
	{"nt beta", BOTH, "A=1", "", 1, {0}, {37, 29, 300, 0, 1, 0, 0, 0, 1, 1}},
	{"tn", BOTH, "A=1", "", 1, {0}, {37, 29, 11, 1, 0, 2, 5, 1, 2, 0}},
	{"tn beta", BOTH, "A=1", "", 1, {0}, {37, 29, 11, 1, 0, 0, 1, 7, 1, -2}},
	{"tt", BOTH, "A=1", "", 1, {0}, {37, 29, 300, 1, 1, 1, 0, 0, 1, 0}},
	{"tt beta", BOTH, "A=1", "", 1, {0}, {37, 29, 11, 1, 1, 0, 3, 9, 0.5f, 1}},
	{"bulk",
	 STRICT,
	 "SHIMBLAS_KERNEL=sgemm_bulk_32x32x32",
	 "",
	 3,
	 {0},
	 {70, 66, 40, 1, 0, 1, 0, 2, 2, 0.5f}},
	{"split",
	 STRICT,
	 "SHIMBLAS_KERNEL=sgemm_split_32x32x32",
	 "",
	 2,
	 {0},
	 {40, 36, 600, 0, 0, 1, 0, 2, 2, 1}},
	{"panels",
	 STRICT | SHARED,
	 "SHIMBLAS_PANELS=3",
	 "",
	 4,
	 {0},
	 {200, 190, 11, 1, 0, 1, 0, 2, 1, 0.5f}},
	{"out of core",
	 STRICT | SHARED,
	 "SHIMBLAS_DEVICE_MEMORY=80K",
	 "",
	 9,
	 {0},
	 {140, 170, 33, 0, 1, 0, 2, 3, 1, 0}},
	{"out of core beta",
	 STRICT | SHARED,
	 "SHIMBLAS_DEVICE_MEMORY=80K",
	 "",
	 9,
	 {0},
	 {140, 170, 33, 1, 0, 0, 2, 3, 1, 0.5f}},
	{"runs of slabs",
	 STRICT | SHARED,
	 "SHIMBLAS_DEVICE_MEMORY=400K",
	 "",
	 6,
	 {0},
	 {40, 66, 780, 0, 0, 3, 1, 5, 1.5f, 0.5f}},
	{"more than is kept",
	 STRICT,
	 "SB_STAND_IN=memory=32M",
	 "memory_",
	 1,
	 {0},
	 {800, 690, 1, 0, 0, 1, 0, 3, 1, 0.5f}},
	{"more than is kept, in one piece",
	 STRICT,
	 "SB_STAND_IN=memory=16M,whole",
	 "memory_",
	 1,
	 {0},
	 {530, 520, 2, 1, 1, 1, 0, 3, 1, 0}},
	{"two devices",
	 STRICT | SHARED,
	 "SHIMBLAS_DEVICE=all SB_STAND_IN=devices=2 SHIMBLAS_PANELS=4",
	 "",
	 6,
	 {0},
	 {130, 200, 5, 1, 0, 1, 0, 2, 2, 0.5f}},
	{"two devices, not linked",
	 STRICT | SHARED,
	 "SHIMBLAS_DEVICE=all SB_STAND_IN=devices=2,nopeer SHIMBLAS_PANELS=4",
	 "",
	 6,
	 {0},
	 {130, 200, 5, 0, 1, 1, 0, 2, 1, 0}},
	{"three devices",
	 STRICT | SHARED,
	 "SHIMBLAS_DEVICE=all SB_STAND_IN=devices=3 SHIMBLAS_PANELS=4",
	 "",
	 6,
	 {0},
	 {200, 70, 3, 1, 1, 0, 2, 1, 1, 1}},
	{"pinned",
	 BOTH,
	 "A=1",
	 "",
	 1,
	 {FAULT_PINNED, FAULT_PINNED, FAULT_PINNED},
	 {70, 66, 20, 0, 0, 2, 1, 0, 1, 0}},
	{"pinned beta",
	 BOTH,
	 "A=1",
	 "",
	 1,
	 {FAULT_PINNED, FAULT_PAGEABLE, FAULT_PINNED},
	 {70, 66, 20, 1, 1, 0, 0, 3, 1, 2}},
	{"A on the device",
	 BOTH,
	 "SB_STAND_IN=sealed",
	 "",
	 1,
	 {FAULT_DEVICE, FAULT_PAGEABLE},
	 {70, 66, 20, 0, 1, 2, 1, 3, 1, 0.5f}},
	{"B on the device",
	 BOTH,
	 "SB_STAND_IN=sealed",
	 "",
	 1,
	 {FAULT_PINNED, FAULT_DEVICE},
	 {70, 66, 20, 1, 0, 2, 1, 3, 1, 0}},
	{"C on the device",
	 BOTH,
	 "SB_STAND_IN=sealed",
	 "",
	 1,
	 {FAULT_PAGEABLE, FAULT_PAGEABLE, FAULT_DEVICE},
	 {70, 66, 20, 0, 0, 0, 1, 3, 1, 2}},
	{"runs of slabs, C on the device",
	 STRICT,
	 "SB_STAND_IN=sealed SHIMBLAS_DEVICE_MEMORY=400K",
	 "",
	 2,
	 {FAULT_PAGEABLE, FAULT_PAGEABLE, FAULT_DEVICE},
	 {40, 66, 780, 0, 0, 3, 1, 5, 1.5f, 0.5f}},
	{"all on the device",
	 BOTH,
	 "SB_STAND_IN=sealed",
	 "",
	 1,
	 {FAULT_DEVICE, FAULT_DEVICE, FAULT_DEVICE},
	 {70, 66, 20, 1, 1, 2, 1, 3, 1, 0}},
	{"recorded", BOTH, "SHIMBLAS_VERBOSE=2", "", 1, {0}, {70, 66, 20, 0, 0, 2, 1, 3, 1, 0.5f}},
	/* Tiles of emulated products are large, and the model of a tensor core is slow: thin ones.
	 */
	{"planes", EMULATED, "A=1", "", 4, {0}, {5, 6, 1030, 0, 0, 1, 2, 3, 1, 0}},
	{"planes beta", EMULATED, "A=1", "", 4, {0}, {5, 6, 1030, 1, 1, 1, 2, 3, 2, 0.5f}},
	{"planes, k not cut", EMULATED, "A=1", "", 5, {0}, {5, 6, 1024, 0, 1, 1, 2, 3, 2, 0.5f}},
	{"runs of chunks",
	 EMULATED,
	 "SHIMBLAS_DEVICE_MEMORY=4200000",
	 "",
	 10,
	 {0},
	 {5, 6, 2060, 1, 0, 1, 2, 3, 1, 0.5f}},
	{"planes on the device",
	 EMULATED,
	 "SB_STAND_IN=sealed",
	 "",
	 4,
	 {FAULT_DEVICE, FAULT_PAGEABLE},
	 {5, 6, 1030, 0, 1, 2, 1, 3, 1, 0.5f}},
	{"emulated panels",
	 EMULATED | SHARED,
	 "SHIMBLAS_PANELS=3",
	 "",
	 4,
	 {0},
	 {300, 2, 11, 1, 0, 1, 0, 2, 1, 0.5f}},
	{"emulated out of core",
	 EMULATED,
	 "SHIMBLAS_DEVICE_MEMORY=200K",
	 "",
	 8,
	 {0},
	 {300, 2, 33, 1, 0, 0, 2, 3, 1, 0.5f}},
	{"emulated on two devices",
	 EMULATED | SHARED,
	 "SHIMBLAS_DEVICE=all SB_STAND_IN=devices=2 SHIMBLAS_PANELS=4",
	 "",
	 4,
	 {0},
	 {300, 3, 5, 1, 0, 1, 0, 2, 2, 0.5f}},
};
const int fault_kinds_count = sizeof fault_kinds / sizeof *fault_kinds;

const char *const fault_slots[FAULT_SLOTS] = {
#define SB_DRIVER(slot, base, symbol, version, parameters) #slot,
#include "driver.def"
#undef SB_DRIVER
};

const struct fault_way fault_ways[] = {
	{"fail=%s:%ld:INVALID_VALUE", false},
	{"fail=%s:%ld:OUT_OF_MEMORY", false},
	{"from=%s:%ld:INVALID_VALUE", false},
	{"from=%s:%ld:OUT_OF_MEMORY", false},
	{"lose=%s:%ld", false},
	{"crash=%s:%ld", true},
	{"hang=%s:%ld", true},
};
const int fault_ways_count = sizeof fault_ways / sizeof *fault_ways;

bool fault_queues(enum fault_slot slot)
{
	switch (slot) {
	case FAULT_SLOT_copy_up:
	case FAULT_SLOT_copy_down:
	case FAULT_SLOT_copy_across:
	case FAULT_SLOT_copy_peer:
	case FAULT_SLOT_copy_2d:
	case FAULT_SLOT_set_words:
	case FAULT_SLOT_launch:
	case FAULT_SLOT_event_record:
	case FAULT_SLOT_stream_wait_event:
		return true;
	default:
		return false;
	}
}

void fault_environment(char *text, size_t size, const struct fault_arithmetic *arithmetic,
		       const struct fault_kind *kind)
{
	snprintf(text, size,
		 "SHIMBLAS_PINNED_MEMORY=512K SHIMBLAS_LOGFILE=/dev/null "
		 "SHIMBLAS_THREADS=2 %s %s",
		 arithmetic->environment, kind->environment);
}
