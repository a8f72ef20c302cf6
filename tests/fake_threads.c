/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS that multiplies nothing and says how many threads it has, under the names of one kind of
 * library: FAKE_GEMM, FAKE_GET and FAKE_SET, with numbers of type FAKE_COUNT.
 */
#include <stdint.h>

void FAKE_GEMM(void);
void FAKE_GEMM(void)
{
}

static FAKE_COUNT count = 5;

FAKE_COUNT FAKE_GET(void);
FAKE_COUNT FAKE_GET(void)
{
	return count;
}

void FAKE_SET(FAKE_COUNT wanted);
void FAKE_SET(FAKE_COUNT wanted)
{
	count = wanted;
}
