/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzzing target without a fuzzer: calls it with each file that it is given, or that lies in a
 * folder that it is given. Prints how many there were; exits 1 if there was none, 2 if one cannot
 * be read. A fault that a target finds ends the process.
 */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SB_LIBFUZZER /* which has a main of its own */
enum { MOST = 1 << 20 };

static int replayed;

static int replay_file(const char *path)
{
	uint8_t *buffer = malloc(MOST), *copy = NULL;
	FILE *file = fopen(path, "rb");
	size_t length = 0;

	if (file && buffer) {
		length = fread(buffer, 1, MOST, file);
		/* Memory of just that size, so that a sanitizer sees a read past it. */
		copy = malloc(length ? length : 1);
	}
	if (file)
		fclose(file);
	if (copy) {
		memcpy(copy, buffer, length);
		(void)LLVMFuzzerTestOneInput(copy, length);
		replayed++;
	}
	free(buffer);
	free(copy);
	return copy ? 0 : 2;
}

static int replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int failed = 0;

	if (!folder)
		return 2;
	while ((entry = readdir(folder))) {
		char name[4096];

		if (entry->d_name[0] == '.' ||
		    snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name)
			continue;
		failed |= replay_file(name);
	}
	closedir(folder);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	(void)LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++) {
		struct stat facts;

		if (stat(argv[i], &facts) == 0 && S_ISDIR(facts.st_mode))
			failed |= replay_folder(argv[i]);
		else
			failed |= replay_file(argv[i]);
	}
	printf("%d inputs\n", replayed);
	return failed ? failed : replayed == 0;
}
#endif
