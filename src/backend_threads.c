/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend_threads.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "object.h"

static const struct {
	const char *get, *set;
	bool wide;
} kinds[] = {
	{"openblas_get_num_threads", "openblas_set_num_threads", false},
	{"MKL_Get_Max_Threads", "MKL_Set_Num_Threads", false},
	{"mkl_get_max_threads", "mkl_set_num_threads", false},
	{"bli_thread_get_num_threads", "bli_thread_set_num_threads", true},
};

/* What stands before and behind the plain name in a spelling: "scipy_" and "64_", say. */
struct affixes {
	char prefix[32], suffix[32];
};

static struct affixes affixes_of(const char *spelling, const char *plain)
{
	struct affixes affixes = {"", ""};
	/* An underscore at the end of a Fortran name may be the suffix's first. */
	size_t stem = strcspn(plain, "_") + 1 == strlen(plain) ? strlen(plain) - 1 : strlen(plain);
	const char *at = spelling;

	while (*at && strncmp(at, plain, stem) != 0)
		at++;
	if (!*at)
		return affixes;
	snprintf(affixes.prefix, sizeof affixes.prefix, "%.*s", (int)(at - spelling), spelling);
	snprintf(affixes.suffix, sizeof affixes.suffix, "%s", at + stem);
	return affixes;
}

static void *look(void *handle, const struct affixes *affixes, const char *name)
{
	const char *suffix = affixes->suffix;
	/* sgemm_64_ has the suffix 64_ in Fortran's eyes, _64_ in C's. */
	const char *const suffixes[] = {suffix, suffix + (*suffix == '_'), ""};
	const char *const prefixes[] = {affixes->prefix, ""};

	for (size_t p = 0; p < 2; p++)
		for (size_t s = 0; s < 3; s++) {
			char symbol[128];
			void *found;

			snprintf(symbol, sizeof symbol, "%s%s%s", prefixes[p], name, suffixes[s]);
			found = dlsym(handle, symbol);
			if (found && sb_object_foreign(found))
				return found;
		}
	return NULL;
}

struct sb_backend_threads sb_backend_threads_find(const void *function, const char *spelling,
						  const char *plain)
{
	struct sb_backend_threads threads = {NULL, NULL, false};
	struct affixes affixes = affixes_of(spelling, plain);
	void *handle = sb_object_hold(function);

	for (size_t i = 0; handle && !threads.get && i < sizeof kinds / sizeof *kinds; i++) {
		*(void **)&threads.get = look(handle, &affixes, kinds[i].get);
		*(void **)&threads.set = look(handle, &affixes, kinds[i].set);
		threads.wide = kinds[i].wide;
	}
	if (handle)
		dlclose(handle);
	return threads;
}

int sb_backend_threads_get(const struct sb_backend_threads *threads)
{
	int64_t count;

	if (!threads->get)
		return 0;
	count = threads->wide ? ((int64_t(*)(void))threads->get)()
			      : ((int (*)(void))threads->get)();
	return count > 0 && count < 1 << 20 ? (int)count : 0;
}

bool sb_backend_threads_set(const struct sb_backend_threads *threads, int count)
{
	if (!threads->get || !threads->set)
		return false;
	if (threads->wide)
		((void (*)(int64_t))threads->set)(count);
	else
		((void (*)(int))threads->set)(count);
	return sb_backend_threads_get(threads) == count;
}
