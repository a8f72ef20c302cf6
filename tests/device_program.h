/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with CUDA of its own that multiplies, through the library under test, operands which
 * lie wherever it likes.
 */
#ifndef SB_DEVICE_PROGRAM_H
#define SB_DEVICE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* ANOTHER: another device. SHUT: an address the CPU cannot read, although nobody knows it. */
enum lies { PAGEABLE, PINNED, MANAGED, DEVICE, ANOTHER, SHUT, NOWHERE };

struct shape {
	int64_t m, n, k;
	bool trans_a, trans_b;
	int64_t gap; /* of every leading dimension beyond the least */
	float alpha, beta;
	enum lies lies[3]; /* of A, B and C */
	bool late;	   /* A is still being written, by a stream of the program, at the call */
};

/* Opens the driver; starts CUDA too, on device 0, and makes its context current. */
void program_open(void);
void program_start(void);

/* A function of the driver that the library under test does not use; NULL: it has none. */
void *program_symbol(const char *name);

/* What became of C and of what lies around it. */
enum result { RIGHT, UNTOUCHED, UNREACHABLE, WRONG };
enum result program_multiplies(const struct shape *shape);

#endif
