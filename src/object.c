/* SPDX-License-Identifier: BSD-3-Clause */
#include "object.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static const char soname[] = "libshimblas.so.0";

static const struct link_map *map_of(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* The string table of a loaded object; its address may or may not be relocated already. */
static const char *strings(const struct link_map *map)
{
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_STRTAB)
			return (const char *)(entry->d_un.d_ptr < map->l_addr
						      ? entry->d_un.d_ptr + map->l_addr
						      : entry->d_un.d_ptr);
	return NULL;
}

static bool is_or_needs_us(const struct link_map *map)
{
	const char *text = map->l_ld ? strings(map) : NULL;

	if (!text)
		return false;
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if ((entry->d_tag == DT_NEEDED || entry->d_tag == DT_SONAME) &&
		    strcmp(text + entry->d_un.d_val, soname) == 0)
			return true;
	return false;
}

bool sb_object_foreign(const void *address)
{
	const struct link_map *map = map_of(address), *own = map_of(soname);

	return map && map != own && !is_or_needs_us(map);
}

const char *sb_object_path(const void *address)
{
	const struct link_map *map = map_of(address);

	return map ? map->l_name : NULL;
}

void *sb_object_hold(const void *address)
{
	const char *path = sb_object_path(address);

	return path ? dlopen(*path ? path : NULL, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

size_t sb_object_function_bytes(const void *function)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    info.dli_saddr != function)
		return 0;
	return (size_t)symbol->st_size;
}

struct paths {
	char **path;
	size_t count, room;
};

/* Only takes names: dlopen in here would wait for a thread that holds the loader's other lock. */
static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
	struct paths *paths = context;
	char *copy;

	(void)size;
	if (!info->dlpi_name || !strchr(info->dlpi_name, '/'))
		return 0;
	if (paths->count == paths->room) {
		size_t room = paths->room ? 2 * paths->room : 64;
		char **more = realloc(paths->path, room * sizeof *more);

		if (!more)
			return 1;
		paths->path = more;
		paths->room = room;
	}
	copy = strdup(info->dlpi_name);
	if (copy)
		paths->path[paths->count++] = copy;
	return 0;
}

static void *find_in(const char *path, const char *symbol)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	void *address = handle ? dlsym(handle, symbol) : NULL;

	if (address && sb_object_foreign(address) && sb_object_hold(address)) {
		dlclose(handle);
		return address;
	}
	if (handle)
		dlclose(handle);
	return NULL;
}

void *sb_object_walk(const char *symbol)
{
	struct paths paths = {NULL, 0, 0};
	void *address = NULL;

	dl_iterate_phdr(collect, &paths);
	for (size_t i = 0; i < paths.count; i++) {
		if (!address)
			address = find_in(paths.path[i], symbol);
		free(paths.path[i]);
	}
	free(paths.path);
	return address;
}

/* The first object tells it of all. */
static int read_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
	(void)size;
	*(uint64_t *)loads = info->dlpi_adds;
	return 1;
}

uint64_t sb_object_loads(void)
{
	uint64_t loads = 0;

	dl_iterate_phdr(read_loads, &loads);
	return loads;
}
