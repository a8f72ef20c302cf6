/* SPDX-License-Identifier: BSD-3-Clause */
#include "function.h"

#include <string.h>

#include "images.h"

#define MODULES_MAX	64
#define FUNCTIONS_MAX	128
#define REGISTERS_LEAST 64 /* of a thread of any kernel on the tensor cores */

enum module_state { MODULE_UNTRIED, MODULE_LOADED, MODULE_REFUSED };

static struct module {
	enum module_state state;
	sb_cu_module module;
} modules[SB_DEVICES][MODULES_MAX];

static struct sb_function functions[SB_DEVICES][FUNCTIONS_MAX];

static enum sb_status load(struct sb_device *device, int row)
{
	struct module *module = &modules[device->index][row];
	enum sb_status status;

	if (module->state == MODULE_LOADED)
		return SB_OK;
	if (module->state == MODULE_REFUSED)
		return SB_DECLINE;
	status = sb_device_check(device,
				 device->cu->module_load(&module->module, sb_images_row(row)->data),
				 "loading an image");
	if (status == SB_OK)
		module->state = MODULE_LOADED;
	else if (status == SB_DECLINE)
		module->state = MODULE_REFUSED;
	return status;
}

static enum sb_status look_in(struct sb_device *device, int row, struct sb_function *entry)
{
	enum sb_status status = load(device, row);

	if (status != SB_OK)
		return status;
	return sb_device_check(device,
			       device->cu->module_function(&entry->function,
							   modules[device->index][row].module,
							   entry->name),
			       "looking for a kernel");
}

/* A source file may hold several methods: the image of the method's own name is tried first. */
static enum sb_status look_everywhere(struct sb_device *device, const char *source,
				      struct sb_function *entry)
{
	enum sb_status status = SB_DECLINE;

	for (int own = 1; own >= 0; own--)
		for (int row = 0; row < sb_images_count() && row < MODULES_MAX; row++) {
			if ((strcmp(sb_images_row(row)->source, source) == 0) != own)
				continue;
			status = look_in(device, row, entry);
			if (status != SB_DECLINE)
				return status;
		}
	return status;
}

enum sb_status sb_function_find(struct sb_device *device, const char *source, const char *name,
				struct sb_function **found)
{
	struct sb_function *own = functions[device->index];
	enum sb_status status;
	int i;

	for (i = 0; i < FUNCTIONS_MAX && own[i].name; i++)
		if (strcmp(own[i].name, name) == 0) {
			*found = &own[i];
			return SB_OK;
		}
	if (i == FUNCTIONS_MAX)
		return SB_DECLINE;
	own[i].name = name;
	status = look_everywhere(device, source, &own[i]);
	if (status != SB_OK)
		own[i].name = NULL;
	*found = &own[i];
	return status;
}

/*
 * Where an image is not of the architecture whose instructions a kernel needs, its symbol is there
 * with nothing behind it: that needs few registers, which these kernels never do with.
 */
enum sb_status sb_function_look_behind(struct sb_device *device, struct sb_function *function)
{
	int registers = 0;
	enum sb_status status;

	if (function->solid)
		return SB_OK;
	status = sb_device_check(
		device,
		device->cu->function_get(&registers, SB_CU_FUNC_NUM_REGS, function->function),
		"asking about a kernel");
	function->solid = status == SB_OK && registers >= REGISTERS_LEAST;
	return status == SB_OK && !function->solid ? SB_DECLINE : status;
}
