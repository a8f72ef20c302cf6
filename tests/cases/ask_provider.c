/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client that links no BLAS: it opens the library it is given and asks for names one at a time,
 * as Julia's libblastrampoline and Java's loaders do. `isamax_` is what they ask for to tell the
 * integer width. Arguments: the library. Prints the values; exits 0 when they are right.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static void *ask(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		printf("%s: not there\n", name);
	return found;
}

int main(int argc, char **argv)
{
	static const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
	static const int two = 2, three = 3;
	static const float one = 1, zero = 0;
	float c[4] = {0}, d[4] = {0};

	if (argc != 2)
		return 2;
	void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);

	if (!library) {
		puts(dlerror());
		return 1;
	}
	void (*row)(int, int, int, int, int, int, float, const float *, int, const float *, int,
		    float, float *, int) = ask(library, "cblas_sgemm");
	void (*column)(const char *, const char *, const int *, const int *, const int *,
		       const float *, const float *, const int *, const float *, const int *,
		       const float *, float *, const int *) = ask(library, "sgemm_");
	int (*largest)(const int *, const float *, const int *) = ask(library, "isamax_");
	/* 64-bit clients read the answer as 64 bits and look at the sign of n = -2^32 + 3. */
	int64_t wide_n = (int64_t)((uint64_t)0xffffffff00000003);
	int64_t unit = 1;
	int64_t (*wide)(const int64_t *, const float *, const int64_t *) =
		(int64_t(*)(const int64_t *, const float *, const int64_t *))(void *)largest;

	if (!row || !column || !largest || !ask(library, "cblas_saxpy") || !ask(library, "dgemm_"))
		return 1;
	row(101, 111, 111, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
	/* The same row-major product, told to the column-major interface. */
	column("N", "N", &two, &two, &three, &one, b, &two, a, &three, &zero, d, &two);
	printf("%g %g %g %g | %g %g %g %g | %d | %s\n", c[0], c[1], c[2], c[3], d[0], d[1], d[2],
	       d[3], largest(&three, a, &(int){1}),
	       (int32_t)wide(&wide_n, a, &unit) == 3 ? "lp64" : "ilp64");
	return !(c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154 && d[0] == 58 &&
		 d[1] == 64 && d[2] == 139 && d[3] == 154);
}
