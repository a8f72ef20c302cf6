/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that calls the BLAS it was linked with: a wheel's extension module, say. */
#include <stddef.h>
#include <stdint.h>

#define ONE                                                                                        \
	{                                                                                          \
		sgemm_("N", "N", &one, &one, &one, &unit, &unit, &one, &unit, &one, &zero, &c,     \
		       &one, 1, 1);                                                                \
		sum += c;                                                                          \
	}
#define TEN	 ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
#define HUNDRED	 TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

void sgemm_(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
	    const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
	    const float *beta, float *c, const int *ldc, size_t length_a, size_t length_b);

static const int one = 1;
static const float unit = 1, zero = 0;

/* The number of the BLAS that answers a call from here. */
float caller_run(void);
float caller_run(void)
{
	float c = 0, sum = 0;

	ONE return sum;
}

/* The same from 3000 places, added up. There is nothing to find here that is worth the ten minutes
 * a compiler takes to watch each of them. */
float caller_run_often(void);
__attribute__((no_sanitize("address"))) __attribute__((no_sanitize("undefined"))) float
caller_run_often(void)
{
	float c = 0, sum = 0;

	THOUSAND THOUSAND THOUSAND return sum;
}

/* Jumps on to sgemm_: the return address it finds is that of this function's caller. */
void caller_jump(void);
#ifdef __x86_64__
__asm__(".text\n.globl caller_jump\n.type caller_jump, @function\ncaller_jump:\n"
	"\tjmp sgemm_@PLT\n.size caller_jump, . - caller_jump\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl caller_jump\n.type caller_jump, %function\ncaller_jump:\n"
	"\tb sgemm_\n.size caller_jump, . - caller_jump\n");
#endif
