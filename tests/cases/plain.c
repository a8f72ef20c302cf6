/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plainest caller: one small product, as often as the argument says (once if there is none).
 * Prints its values, which are exact.
 */
#include <stdio.h>
#include <stdlib.h>

#include "blas_names.h"

int main(int argc, char **argv)
{
	static const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
	int times = argc > 1 ? atoi(argv[1]) : 1;
	float c[4];

	for (int i = 0; i < times; i++) {
		cblas_sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
		if (i == 0)
			printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
	}
	return 0;
}
