/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens the libraries it is given, RTLD_LOCAL, and lets each in turn call a BLAS of its own under
 * names that the others have as well. A further argument "copy=FILE" is a second copy of a real
 * BLAS that stays open beside them. Prints what each call reached.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	float (*run[8])(int);
	int plugins = 0;

	for (int i = 1; i < argc && plugins < 8; i++) {
		const char *path = strncmp(argv[i], "copy=", 5) == 0 ? argv[i] + 5 : argv[i];
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

		if (!library) {
			puts(dlerror());
			return 1;
		}
		if (path == argv[i])
			*(void **)&run[plugins++] = dlsym(library, "run");
	}
	for (int round = 0; round < 3; round++)
		for (int spelling = 0; spelling < 2; spelling++)
			for (int i = 0; i < plugins; i++)
				printf("%g\n", (double)run[i](spelling));
	return 0;
}
