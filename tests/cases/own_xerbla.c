/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with an xerbla_ of its own, which the library must call instead of its own: once a
 * fault. Argument "return": it notes the number and comes back. "jump": it leaves by longjmp, and
 * the next, legal, call must still be answered. Prints the numbers it was given.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas_names.h"

void xerbla_(const char *name, const int *number, size_t length);

static jmp_buf back;
static int jumps, times;

void xerbla_(const char *name, const int *number, size_t length)
{
	times++;
	printf("xerbla_: %.5s argument %d (%d)\n", name, *number, length > 0);
	if (jumps)
		longjmp(back, 1);
}

int main(int argc, char **argv)
{
	static const int two = 2, three = 3, short_ld = 1, minus = -1;
	static const float one = 1, zero = 0;
	static const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
	float c[4] = {0};

	jumps = argc > 1 && strcmp(argv[1], "jump") == 0;
	for (volatile int round = 0; round < 3; round++) {
		if (setjmp(back) == 0)
			sgemm_("N", "N", &two, &two, &three, &one, b, &short_ld, a, &three, &zero,
			       c, &two);
		if (setjmp(back) == 0)
			sgemm_("N", "N", &minus, &two, &three, &one, b, &two, a, &three, &zero, c,
			       &two);
		memset(c, 0, sizeof c);
		sgemm_("N", "N", &two, &two, &three, &one, b, &two, a, &three, &zero, c, &two);
		printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
	}
	printf("%d times\n", times);
	return !(times == 6 && c[0] == 58 && c[3] == 154);
}
