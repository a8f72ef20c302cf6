/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "object.h"
#include "process.h"
#include "settings.h"
#include "trace.h"

#define DEFAULT_DRIVER "libcuda.so.1"

typedef sb_cu_result (*get_address_function)(const char *base, void **function, int version,
					     uint64_t flags, int *status);

static const struct slot {
	size_t offset;
	const char *base, *symbol;
	int version;
	bool required;
} slots[] = {
#define SB_DRIVER(slot, base, symbol, version, parameters)                                         \
	{offsetof(struct sb_driver, slot), base, symbol, version, true},
#define SB_DRIVER_OPTIONAL(slot, base, symbol, version, parameters)                                \
	{offsetof(struct sb_driver, slot), base, symbol, version, false},
#include "driver.def"
#undef SB_DRIVER
};

static struct sb_driver table;
static atomic_int state = SB_DRIVER_UNOPENED;
static int version;
static const char *missing;

static const char *driver_path(void)
{
	const char *path = sb_settings()->driver;

	return *path ? path : DEFAULT_DRIVER;
}

static void *find(void *library, get_address_function get_address, const struct slot *slot)
{
	void *function = NULL;
	int found = 0;

	if (get_address &&
	    get_address(slot->base, &function, slot->version, SB_CU_PROC_DEFAULT, &found) ==
		    SB_CU_SUCCESS &&
	    function)
		return function;
	return dlsym(library, slot->symbol);
}

static enum sb_driver_state fill(void *library)
{
	get_address_function get_address;
	void *address = dlsym(library, "cuGetProcAddress_v2");

	memcpy(&get_address, &address, sizeof address);
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		void *function = find(library, get_address, &slots[i]);

		if (!function && slots[i].required) {
			missing = slots[i].symbol;
			return SB_DRIVER_BROKEN;
		}
		memcpy((char *)&table + slots[i].offset, &function, sizeof function);
	}
	if (table.driver_version(&version) != SB_CU_SUCCESS)
		return SB_DRIVER_BROKEN;
	return version / 1000 < SB_CUDA_MAJOR ? SB_DRIVER_TOO_OLD : SB_DRIVER_USABLE;
}

static enum sb_driver_state open_and_fill(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *path = driver_path();
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	enum sb_driver_state found;

	if (!library) {
		/* Only what the user asked for by name is worth a line that was not asked for. */
		if (*sb_settings()->driver)
			sb_trace_once(&said, "SHIMBLAS_DRIVER: %s cannot be opened; using no GPU",
				      path);
		else
			sb_trace_line(2, "no CUDA driver (%s)", path);
		found = SB_DRIVER_ABSENT;
	} else {
		found = fill(library);
		if (found == SB_DRIVER_BROKEN && *sb_settings()->driver)
			sb_trace_once(&said,
				      "SHIMBLAS_DRIVER: %s is no CUDA driver (%s); "
				      "using no GPU",
				      path, missing ? missing : "it does not answer");
		else if (found != SB_DRIVER_USABLE)
			sb_trace_line(2, "CUDA driver %s not usable: version %d, missing %s", path,
				      version, missing ? missing : "nothing");
	}
	(void)dlerror();
	return found;
}

const struct sb_driver *sb_driver_open(void)
{
	int unopened = SB_DRIVER_UNOPENED;

	/*
	 * Nobody waits for the thread that opens: one that does while it holds the loader's lock (a
	 * constructor) would wait for ever.
	 */
	if (atomic_compare_exchange_strong(&state, &unopened, SB_DRIVER_OPENING))
		atomic_store(&state, (int)open_and_fill());
	return sb_driver();
}

const struct sb_driver *sb_driver(void)
{
	return atomic_load(&state) == SB_DRIVER_USABLE ? &table : NULL;
}

struct sb_driver_status sb_driver_status(void)
{
	struct sb_driver_status status = {.state = (enum sb_driver_state)atomic_load(&state),
					  .path = driver_path()};

	if (status.state > SB_DRIVER_OPENING) {
		status.version = version;
		status.missing = missing;
	}
	return status;
}

bool sb_driver_loaded(void)
{
	/* How many objects had been loaded when it was none of them; 0: nobody has looked. */
	static _Atomic uint64_t absent;
	const uint64_t loads = sb_driver() || sb_process_child() ? 0 : sb_object_loads();
	const int kept = errno;
	void *library;

	if (sb_driver())
		return true;
	if (loads && atomic_load_explicit(&absent, memory_order_relaxed) == loads)
		return false;
	library = dlopen(driver_path(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
	(void)dlerror();
	if (library)
		dlclose(library);
	else
		atomic_store(&absent, loads);
	errno = kept;
	return library != NULL;
}

int sb_driver_current_device(void)
{
	sb_cu_result (*get_current)(sb_cu_context * context);
	sb_cu_result (*get_device)(sb_cu_device * device);
	void *library = sb_driver_loaded()
				? dlopen(driver_path(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)
				: NULL;
	sb_cu_context context = NULL;
	sb_cu_device device = -1;
	void *functions[2];

	if (library) {
		functions[0] = dlsym(library, "cuCtxGetCurrent");
		functions[1] = dlsym(library, "cuCtxGetDevice");
		memcpy(&get_current, &functions[0], sizeof get_current);
		memcpy(&get_device, &functions[1], sizeof get_device);
		if (!get_current || !get_device || get_current(&context) != SB_CU_SUCCESS ||
		    !context || get_device(&device) != SB_CU_SUCCESS)
			device = -1;
		dlclose(library);
	}
	(void)dlerror();
	return device;
}

const char *sb_driver_error(sb_cu_result result)
{
	const struct sb_driver *cu = sb_driver();
	const char *name = NULL;

	if (!cu || cu->error_name(result, &name) != SB_CU_SUCCESS || !name)
		return "an unknown CUDA error";
	return name;
}

int sb_driver_survives(sb_cu_result result)
{
	static const sb_cu_result survivable[] = {
		SB_CU_SUCCESS,
		SB_CU_ERROR_INVALID_VALUE,
		SB_CU_ERROR_OUT_OF_MEMORY,
		SB_CU_ERROR_INVALID_IMAGE,
		SB_CU_ERROR_NO_BINARY_FOR_GPU,
		SB_CU_ERROR_INVALID_PTX,
		SB_CU_ERROR_NO_JIT_COMPILER,
		SB_CU_ERROR_UNSUPPORTED_PTX_VERSION,
		SB_CU_ERROR_NOT_FOUND,
		SB_CU_ERROR_NOT_READY,
		SB_CU_ERROR_LAUNCH_OUT_OF_RESOURCES,
		SB_CU_ERROR_NOT_SUPPORTED,
	};

	for (size_t i = 0; i < sizeof survivable / sizeof *survivable; i++)
		if (result == survivable[i])
			return 1;
	return 0;
}
