/* SPDX-License-Identifier: BSD-3-Clause */
/* With SHIMBLAS_REPRODUCIBLE=1 the side is a function of the shape: not of when a call comes. */
#include "child.h"

#include <pthread.h>
#include <stdatomic.h>

#include "distance.h"
#include "shimblas.h"

static const int shapes[][3] = {{40, 40, 40}, {150, 150, 150}, {900, 900, 256}, {1500, 1200, 128}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 1500 * 1500 };

static distance_cblas *gemm;
static __typeof__(&shimblas_last_decision) last_decision;
static float a[MOST], b[MOST];
static atomic_bool over;

/* Multiplies; was it the GPU? */
static int on_gpu(const int *shape)
{
	struct shimblas_decision last = {.size = sizeof last};
	float *c = malloc((size_t)shape[0] * (size_t)shape[1] * sizeof *c);

	gemm(COLUMN, NOTRANS, NOTRANS, shape[0], shape[1], shape[2], 1, a, shape[0], b, shape[2], 0,
	     c, shape[0]);
	free(c);
	CHECK(last_decision(&last) == 0);
	return strcmp(last.side, "gpu") == 0;
}

static void *disturb(void *unused)
{
	while (!atomic_load(&over))
		on_gpu(shapes[2]);
	return unused;
}

/* What of the shapes went to the GPU, by bits: called in this order, or backwards in a crowd. */
static void sides(const void *argument)
{
	int backwards = *(const int *)argument, found = 0;
	pthread_t crowd[3];

	*(void **)&gemm = suite_symbol("cblas_sgemm");
	*(void **)&last_decision = suite_symbol("shimblas_last_decision");
	for (int i = 0; backwards && i < 3; i++)
		CHECK(pthread_create(&crowd[i], NULL, disturb, NULL) == 0);
	for (int i = 0; i < SHAPES; i++) {
		int s = backwards ? SHAPES - 1 - i : i;

		found |= on_gpu(shapes[s]) << s;
	}
	atomic_store(&over, true);
	for (int i = 0; backwards && i < 3; i++)
		CHECK(pthread_join(crowd[i], NULL) == 0);
	exit(child_failures ? 100 : found);
}

static void the_side_is_the_shapes(void)
{
	static const char fixed[] = "SB_STAND_IN=start=300 SHIMBLAS_REPRODUCIBLE=1";
	const int forwards = 0, backwards = 1;
	int one = in_child(fixed, sides, &forwards), two = in_child(fixed, sides, &backwards);

	CU_ASSERT_EQUAL(one, two);
	/* The small ones did not go, the large ones did, at the first call. */
	CU_ASSERT_EQUAL(one & 1, 0);
	CU_ASSERT_EQUAL(one & 8, 8);
	CU_ASSERT(one < 16);
	/* So is an emulated product's. */
	one = in_child("SHIMBLAS_MATH=emulated SB_STAND_IN=start=300 SHIMBLAS_REPRODUCIBLE=1",
		       sides, &forwards);
	two = in_child("SHIMBLAS_MATH=emulated SB_STAND_IN=start=300 SHIMBLAS_REPRODUCIBLE=1",
		       sides, &backwards);
	CU_ASSERT(one == two && one >= 8 && one < 16);
	/* Without it calls come before the GPU is there, and stay. */
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=start=300", sides, &forwards), 0);
}

int main(void)
{
	const struct suite_case tests[] = {{"the side is the shape's", the_side_is_the_shapes}};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	/* More threads than there are processors would make the CPU look faster than it is. */
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	return SUITE("reproducible", tests);
}
