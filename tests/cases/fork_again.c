/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ones times ones, n = 2048: in the parent, in a forked child, in the child's child, and in the
 * parent again, under a 30 s alarm each. Argument "late": the parent multiplies only after the
 * fork. A number: another n. Prints each corner; exits 0 if all are n.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas_names.h"

static int n = 2048;

static int multiply(const char *who)
{
	size_t elements = (size_t)n * (size_t)n;
	float *a = malloc(elements * sizeof *a), *b = malloc(elements * sizeof *b);
	float *c = malloc(elements * sizeof *c);
	int wrong = 0;

	alarm(30);
	if (!a || !b || !c)
		return 1;
	for (size_t i = 0; i < elements; i++)
		a[i] = b[i] = 1;
	cblas_sgemm(COLUMN_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1, a, n, b, n, 0, c, n);
	for (size_t i = 0; i < elements; i++)
		wrong += c[i] != (float)n;
	printf("%s: %g, %d wrong\n", who, c[elements - 1], wrong);
	fflush(stdout);
	free(a);
	free(b);
	free(c);
	return wrong != 0;
}

static int wait_for(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int late = 0, wrong = 0;
	pid_t child;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "late") == 0)
			late = 1;
		else
			n = atoi(argv[i]);
	wrong = late ? 0 : multiply("parent");
	child = fork();

	if (child == 0) {
		pid_t grandchild;

		wrong = multiply("child");
		grandchild = fork();
		if (grandchild == 0)
			_exit(multiply("grandchild"));
		_exit(wrong + wait_for(grandchild));
	}
	wrong += wait_for(child);
	return wrong + multiply("parent again") != 0;
}
