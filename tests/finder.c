/* SPDX-License-Identifier: BSD-3-Clause */
#include "finder.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "suite.h"

void *load(const char *file, int flags)
{
	void *handle = dlopen(suite_built(file), RTLD_NOW | flags);

	if (!handle)
		printf("    %s\n", dlerror());
	SUITE_EXPECT(handle != NULL);
	return handle;
}

const void *here(void)
{
	return (const void *)here;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool found(struct sb_name *name, const void *caller, enum sb_source source, const char *file)
{
	const struct sb_backend *backend;

	errno = 4321;
	backend = sb_backend_find(name, caller);
	if (errno == 4321 && !dlerror() && backend->source == source &&
	    (*file ? ends_in(backend->path, file) : !*backend->path))
		return sb_backend_find(name, caller) == backend || source == SB_SOURCE_BUILT_IN;
	printf("    %s: %s, %s\n", name->spelling, sb_source_word(backend->source), backend->path);
	return false;
}
