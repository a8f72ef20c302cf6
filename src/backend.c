/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "reference.h"
#include "settings.h"
#include "trace.h"

#ifndef SB_FALLBACK_BACKEND
#define SB_FALLBACK_BACKEND "libopenblas.so.0"
#endif

static const char *const source_words[SB_SOURCES] = {
	[SB_SOURCE_SETTING] = "setting",   [SB_SOURCE_NEXT] = "next",
	[SB_SOURCE_CLOSURE] = "closure",   [SB_SOURCE_WALK] = "walk",
	[SB_SOURCE_FALLBACK] = "fallback", [SB_SOURCE_BUILT_IN] = "built-in",
};

const char *sb_source_word(enum sb_source source)
{
	return source_words[source];
}

/* Every backend ever found; only ever grows, so that it may be read without a lock. */
static _Atomic(struct sb_backend *) found;

/*
 * The integer width of the library a plain name was found in, by its own isamax_: a length whose
 * lower half is 2 and whose upper half is negative is 2 to 32-bit integers and nothing to 64-bit
 * ones. Only plain names need asking: a prefix or suffix says its width.
 */
static int width_of(const void *function)
{
	static const float pair[2] = {1, 2};
	const int64_t length = (int64_t)(0xffffffff00000002u), step = 1;
	void *handle;
	long (*isamax)(const void *, const void *, const void *);
	int bits = 32;

	handle = sb_object_hold(function);
	if (!handle)
		return bits;
	*(void **)&isamax = dlsym(handle, "isamax_");
	if (isamax && sb_object_foreign((const void *)isamax))
		bits = (int)isamax(&length, pair, &step) == 2 ? 32 : 64;
	dlclose(handle);
	return bits;
}

struct sb_wrapper sb_backend_wrappers[1 << SB_SPELLING_BITS];

/* The first that is found for a spelling; of two of one name the other's calls count twice. */
static void note_wrapper(const struct sb_name *name, const void *function)
{
	struct sb_wrapper *wrapper = &sb_backend_wrappers[name->index];
	uintptr_t nothing = 0;

	if (name->interface == SB_CBLAS &&
	    atomic_compare_exchange_strong(&wrapper->from, &nothing, (uintptr_t)function))
		atomic_store(&wrapper->bytes, sb_object_function_bytes(function));
}

/* The record of a function, made if it is new; NULL only if memory is short. */
static struct sb_backend *record(const struct sb_name *name, const void *function,
				 enum sb_source source)
{
	struct sb_backend *backend = atomic_load(&found), *head = backend;
	const char *path;

	for (; backend; backend = backend->next)
		if ((const void *)backend->function == function && backend->source == source)
			return backend;
	backend = calloc(1, sizeof *backend);
	if (!backend)
		return NULL;
	*(const void **)&backend->function = function;
	backend->source = source;
	backend->bits = strcmp(name->spelling, name->plain) == 0 ? width_of(function) : name->bits;
	path = sb_object_path(function);
	path = path ? strdup(path) : NULL;
	backend->path = path ? path : "";
	backend->threads = sb_backend_threads_find(function, name->spelling, name->plain);
	note_wrapper(name, function);
	backend->next = head;
	while (!atomic_compare_exchange_weak(&found, &backend->next, backend))
		;
	return backend;
}

/* A spelling in an opened library: itself, or the plain name where that has the same integers. */
static void *symbol_in(void *handle, const struct sb_name *name)
{
	void *function = dlsym(handle, name->spelling);

	if (!function) {
		function = dlsym(handle, name->plain);
		if (function && width_of(function) != name->bits)
			return NULL;
	}
	return function && sb_object_foreign(function) ? function : NULL;
}

static void *opened_setting;
static pthread_once_t setting_once = PTHREAD_ONCE_INIT;

static void open_setting(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *path = sb_settings()->backend;
	const char *problem;

	if (!*path)
		return;
	opened_setting = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!opened_setting) {
		problem = dlerror();
		sb_trace_once(
			&said,
			"SHIMBLAS_BACKEND cannot be opened (%s); using the program's own BLAS",
			problem ? problem : path);
	}
}

static void *from_setting(struct sb_name *name, const void *caller)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	void *function;

	(void)caller;
	pthread_once(&setting_once, open_setting);
	if (!opened_setting)
		return NULL;
	function = symbol_in(opened_setting, name);
	if (!function)
		sb_trace_once(&said,
			      "SHIMBLAS_BACKEND=%s cannot answer %s; using the program's own BLAS",
			      sb_settings()->backend, name->spelling);
	return function;
}

static void *from_next(struct sb_name *name, const void *caller)
{
	void *function = dlsym(RTLD_NEXT, name->spelling);

	(void)caller;
	return function && sb_object_foreign(function) ? function : NULL;
}

static void *from_closure(struct sb_name *name, const void *caller)
{
	void *handle = sb_object_hold(caller);
	void *function = handle ? dlsym(handle, name->spelling) : NULL;

	/* The handle is kept: what is remembered for this address holds only while its object
	 * stays. */
	return function && sb_object_foreign(function) ? function : NULL;
}

static void *from_walk(struct sb_name *name, const void *caller)
{
	(void)caller;
	return sb_object_walk(name->spelling);
}

static void *from_fallback(struct sb_name *name, const void *caller)
{
	static const char soname[] = SB_FALLBACK_BACKEND;
	/* An empty name would be the program itself. */
	void *handle = *soname ? dlopen(soname, RTLD_NOW | RTLD_LOCAL) : NULL;

	(void)caller;
	return handle ? symbol_in(handle, name) : NULL;
}

static void *(*const seek[SB_SOURCES])(struct sb_name *, const void *) = {
	[SB_SOURCE_SETTING] = from_setting,   [SB_SOURCE_NEXT] = from_next,
	[SB_SOURCE_CLOSURE] = from_closure,   [SB_SOURCE_WALK] = from_walk,
	[SB_SOURCE_FALLBACK] = from_fallback,
};

/* Slots are filled once and never emptied; a full neighbourhood only means looking again. */
enum { SLOTS = 1 << SB_SLOT_BITS, PROBES = 8 };
struct sb_slot sb_backend_slots[SLOTS];

static struct sb_slot *slot_at(uint64_t key, size_t probe)
{
	return &sb_backend_slots[(sb_backend_slot(key) + probe) % SLOTS];
}

static struct sb_backend *remembered(uint64_t key)
{
	for (size_t probe = 0; probe < PROBES; probe++) {
		struct sb_slot *slot = slot_at(key, probe);
		uint64_t known = atomic_load_explicit(&slot->key, memory_order_acquire);

		if (known == key)
			return atomic_load_explicit(&slot->backend, memory_order_acquire);
		if (!known)
			return NULL;
	}
	return NULL;
}

static void remember(uint64_t key, struct sb_backend *backend)
{
	for (size_t probe = 0; probe < PROBES; probe++) {
		struct sb_slot *slot = slot_at(key, probe);
		uint64_t known = 0;

		if (atomic_compare_exchange_strong(&slot->key, &known, key) || known == key) {
			atomic_store(&slot->backend, backend);
			return;
		}
	}
}

static const struct sb_backend *built_in_of(const struct sb_name *name)
{
	static struct sb_backend built_in[] = {
		{.source = SB_SOURCE_BUILT_IN, .bits = 32, .path = ""},
		{.source = SB_SOURCE_BUILT_IN, .bits = 64, .path = ""},
	};

	return &built_in[name->bits == 64];
}

/* Has a search found nobody, and has nothing been loaded since? */
static bool has_nobody(const struct sb_name *name)
{
	uint64_t loads = atomic_load_explicit(&name->nobody, memory_order_acquire);

	return loads && loads == sb_object_loads();
}

static __attribute__((noinline)) const struct sb_backend *search(struct sb_name *name,
								 const void *caller)
{
	/* Before the search: what is loaded meanwhile may have come too late for it. */
	uint64_t loads = sb_object_loads();
	struct sb_backend *backend = NULL;
	int kept = errno;

	for (int source = SB_SOURCE_SETTING; source < SB_SOURCE_BUILT_IN && !backend; source++) {
		void *function = seek[source](name, caller);

		if (!function)
			continue;
		backend = record(name, function, (enum sb_source)source);
		if (!backend)
			continue;
		if (source <= SB_SOURCE_NEXT)
			atomic_store(&name->process_wide, backend);
		else
			remember(sb_backend_key(name, caller), backend);
	}
	dlerror();
	errno = kept;
	if (!backend)
		atomic_store(&name->nobody, loads);
	return backend ? backend : built_in_of(name);
}

const struct sb_backend *sb_backend_find(struct sb_name *name, const void *caller)
{
	const struct sb_backend *backend = sb_backend_known(name, caller);

	if (!backend)
		backend = remembered(sb_backend_key(name, caller));
	if (backend)
		return backend;
	return has_nobody(name) ? built_in_of(name) : search(name, caller);
}
