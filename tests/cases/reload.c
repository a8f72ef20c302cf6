/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens and closes the library it is given 100 times, first without and then with a call between,
 * under a 60 s alarm. Prints by how many mappings and pages of memory the process has grown after
 * the fifth time; exits 1 if those are more than the arguments allow: library, mappings, pages.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	long lines = 0;

	for (int byte; maps && (byte = getc(maps)) != EOF;)
		lines += byte == '\n';
	if (maps)
		fclose(maps);
	return lines;
}

static long count_pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (!statm || fscanf(statm, "%ld %ld", &size, &resident) != 2)
		puts("no /proc/self/statm");
	if (statm)
		fclose(statm);
	return resident;
}

static int open_and_close(const char *path, int call)
{
	static const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	float c[4] = {0};

	if (!library) {
		puts(dlerror());
		return 0;
	}
	void (*gemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
		     float, float *, int);
	*(void **)&gemm = dlsym(library, "cblas_sgemm");
	if (call)
		gemm(101, 111, 111, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
	dlclose(library);
	return !call || (c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154);
}

int main(int argc, char **argv)
{
	int wrong = 0;

	if (argc != 4)
		return 2;
	alarm(60);
	for (int call = 0; call < 2; call++) {
		long mappings = 0, pages = 0;

		for (int round = 0; round < 100; round++) {
			wrong += !open_and_close(argv[1], call);
			if (round == 4) {
				mappings = count_mappings();
				pages = count_pages();
			}
		}
		mappings = count_mappings() - mappings;
		pages = count_pages() - pages;
		printf("call %d: %ld mappings, %ld pages, %d wrong\n", call, mappings, pages,
		       wrong);
		wrong += mappings > atol(argv[2]) || pages > atol(argv[3]);
	}
	return wrong != 0;
}
