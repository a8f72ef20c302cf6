/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every argument made illegal in turn, both orders, both interfaces, each in a child of its own
 * since some libraries end the process at an illegal argument. Prints what became of each child
 * and of C; the library's messages stand between. Ends by itself or by a 5 s alarm a child.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas_names.h"

struct arguments {
	int order, trans_a, trans_b, m, n, k, lda, ldb, ldc;
};

static const struct arguments legal[] = {
	{COLUMN_MAJOR, NO_TRANS, NO_TRANS, 3, 2, 4, 3, 4, 3},
	{COLUMN_MAJOR, TRANS, TRANS, 3, 2, 4, 4, 2, 3},
	{ROW_MAJOR, NO_TRANS, NO_TRANS, 3, 2, 4, 4, 2, 2},
	{ROW_MAJOR, TRANS, TRANS, 3, 2, 4, 3, 4, 2},
};

/* Which field, and the value that makes it illegal. */
static const struct {
	int field, value;
} faults[] = {{0, 99}, {1, 7}, {2, 7}, {3, -1}, {4, -1}, {5, -1}, {6, 1},
	      {6, 0},  {7, 1}, {7, 0}, {8, 1},	{8, 0},	 {3, -9}, {6, -1}};

static void call(const struct arguments *x, int fortran)
{
	static float a[64], b[64], c[64];
	static const float one = 1;
	/* A Fortran caller has no order and says transposes by letter. */
	const char *letter_a = x->trans_a == NO_TRANS ? "N" : x->trans_a == TRANS ? "T" : "?";
	const char *letter_b = x->trans_b == NO_TRANS ? "N" : x->trans_b == TRANS ? "T" : "?";
	int touched = 0;

	for (int i = 0; i < 64; i++)
		c[i] = 7;
	if (fortran)
		sgemm_(letter_a, letter_b, &x->m, &x->n, &x->k, &one, a, &x->lda, b, &x->ldb, &one,
		       c, &x->ldc);
	else
		cblas_sgemm(x->order, x->trans_a, x->trans_b, x->m, x->n, x->k, 1, a, x->lda, b,
			    x->ldb, 1, c, x->ldc);
	for (int i = 0; i < 64; i++)
		touched += c[i] != 7;
	printf("returned, %d elements of C touched\n", touched);
	fflush(stdout);
	_exit(0);
}

static int in_child(const struct arguments *x, int fortran)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(5);
		call(x, fortran);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal %d\n", WTERMSIG(status));
	else
		printf("status %d\n", WEXITSTATUS(status));
	return WIFSIGNALED(status);
}

int main(void)
{
	int killed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int fortran = 0; fortran < 2; fortran++)
		for (int start = 0; start < (fortran ? 2 : 4); start++)
			for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
				struct arguments x = legal[start];

				if (fortran && faults[i].field == 0)
					continue;
				((int *)&x)[faults[i].field] = faults[i].value;
				printf("%s %d: field %d = %d\n", fortran ? "sgemm_" : "cblas_sgemm",
				       start, faults[i].field, faults[i].value);
				killed += in_child(&x, fortran);
			}
	return killed != 0;
}
