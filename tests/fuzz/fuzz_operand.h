/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands of fuzz_sgemm.c: memory that ends where nothing may be touched, and what came of C. */
#ifndef SB_FUZZ_OPERAND_H
#define SB_FUZZ_OPERAND_H

#include "call.h"
#include "fuzz.h"

struct fuzz_operand {
	int index;	 /* 0, 1 and 2: A, B and C */
	int at_end;	 /* it ends at a page that cannot be touched, else it begins at one */
	unsigned offset; /* bytes away from that */
	unsigned fill;	 /* what kind of values */
	uint32_t seed;
	char *first;
	size_t bytes;
};

/* Three pieces of memory, once. */
void fuzz_operands_open(void);
/* Where and with what values; in the order A, B, C. */
void fuzz_operand_read(struct fuzz_operand *operand, struct fuzz_bytes *bytes);
/* Places and fills it. */
void fuzz_operand_make(struct fuzz_operand *operand, size_t bytes);
/* A and B cannot be written until unlocked. */
void fuzz_operands_lock(void);
void fuzz_operands_unlock(void);

/* C, and what lies around it, before and as OpenBLAS left it. */
enum fuzz_kept { FUZZ_BEFORE, FUZZ_OPENBLAS, FUZZ_KEPT };
void fuzz_keep(const struct fuzz_operand *c, enum fuzz_kept which);
void fuzz_put_back(const struct fuzz_operand *c); /* as before */

int fuzz_aligned(const struct sb_call *call);

/* The oracle of one arithmetic or the other (oracle.h, oracle_emulated.h). */
typedef void fuzz_oracle(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_m,
			 int64_t a_k, const float *b, int64_t b_n, int64_t b_k, float beta,
			 float *c, int64_t ldc);

/* C is bit for bit what OpenBLAS made of it; what an oracle makes of it; near enough to the
 * product where that can be said. Around it everything is as before. */
void fuzz_check_same(const struct fuzz_operand *c);
void fuzz_check_oracle(const struct fuzz_operand *c, const struct sb_call *call,
		       fuzz_oracle *oracle);
void fuzz_check_near(const struct fuzz_operand *c, const struct sb_call *call);

#endif
