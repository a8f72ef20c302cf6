/* SPDX-License-Identifier: BSD-3-Clause */
/* cuGetProcAddress, from the same table as everything: a row is found by base name and version. */
#include <string.h>
#include "stand_in_world.h"

typedef void any_function(void);

static const struct {
	const char *base;
	int version;
	any_function *function;
} symbols[] = {
#define SB_DRIVER(slot, base, symbol, version, parameters)                                         \
	{base, version, (any_function *)stand_in_##slot},
#include "../../src/driver.def"
#undef SB_DRIVER
};

enum { FOUND, NOT_FOUND, VERSION_TOO_LOW };

EXPORTED sb_cu_result cuGetProcAddress_v2(const char *name, void **function, int version,
					  uint64_t flags, int *status);
EXPORTED sb_cu_result cuGetProcAddress(const char *name, void **function, int version,
				       uint64_t flags);

/* A name that is not there is no error: *function is NULL and *status says why. */
sb_cu_result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
				 int *status)
{
	int found = NOT_FOUND;

	if (!name || !function || flags > 2)
		return SB_CU_ERROR_INVALID_VALUE;
	world_lock();
	config_start();
	*function = NULL;
	if (strcmp(name, "cuGetProcAddress") == 0) {
		*(any_function **)function = (any_function *)cuGetProcAddress_v2;
		found = FOUND;
	}
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		if (strcmp(symbols[i].base, name) != 0 ||
		    symbols[i].version > world.settings.driver)
			continue;
		if (symbols[i].version > version) {
			found = VERSION_TOO_LOW;
			continue;
		}
		*(any_function **)function = symbols[i].function;
		found = FOUND;
	}
	world_unlock();
	if (status)
		*status = found;
	return 0;
}

sb_cu_result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	sb_cu_result error = cuGetProcAddress_v2(name, function, version, flags, NULL);

	return error ? error : *function ? 0 : SB_CU_ERROR_NOT_FOUND;
}
