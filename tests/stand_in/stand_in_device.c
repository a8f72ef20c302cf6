/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices that the stand-in claims to have, and the names of its errors. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stand_in_world.h"

static const struct {
	sb_cu_result error;
	const char *name;
} errors[] = {
	{0, "CUDA_SUCCESS"},
	{SB_CU_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
	{SB_CU_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
	{SB_CU_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
	{SB_CU_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED"},
	{SB_CU_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
	{SB_CU_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
	{SB_CU_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
	{SB_CU_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
	{SB_CU_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
	{ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
	{SB_CU_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
	{SB_CU_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
	{SB_CU_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
	{SB_CU_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
	{SB_CU_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
	{SB_CU_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
	{SB_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
	{SB_CU_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
	{SB_CU_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
	{SB_CU_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
	{SB_CU_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
};

sb_cu_result error_find(const char *name, size_t length)
{
	if (length > 0 && isdigit((unsigned char)*name))
		return atoi(name);
	for (size_t i = 1; i < sizeof errors / sizeof *errors; i++) {
		const char *word = errors[i].name + strlen("CUDA_ERROR_");

		if (strlen(word) == length && memcmp(word, name, length) == 0)
			return errors[i].error;
	}
	return -1;
}

sb_cu_result stand_in_error_name(sb_cu_result error, const char **name)
{
	sb_cu_result failed = world_enter(SLOT_error_name);

	if (failed)
		return failed;
	*name = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			*name = errors[i].name;
	return world_leave(*name ? 0 : SB_CU_ERROR_INVALID_VALUE);
}

sb_cu_result stand_in_driver_version(int *version)
{
	sb_cu_result error = world_enter(SLOT_driver_version);

	if (error)
		return error;
	*version = (int)world.settings.driver;
	return world_leave(0);
}

sb_cu_result stand_in_device_count(int *count)
{
	sb_cu_result error = world_enter(SLOT_device_count);

	if (error)
		return error;
	*count = (int)world.settings.devices;
	return world_leave(0);
}

static bool absent(int device)
{
	return device < 0 || device >= world.settings.devices;
}

sb_cu_result stand_in_device_get(sb_cu_device *device, int ordinal)
{
	sb_cu_result error = world_enter(SLOT_device_get);

	if (error)
		return error;
	if (absent(ordinal))
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	*device = ordinal;
	return world_leave(0);
}

sb_cu_result stand_in_device_name(char *name, int length, sb_cu_device device)
{
	sb_cu_result error = world_enter(SLOT_device_name);

	if (error)
		return error;
	if (absent(device))
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	if (length < 1)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	snprintf(name, (size_t)length, "Stand-in sm_%ld", world.settings.cc);
	return world_leave(0);
}

sb_cu_result stand_in_device_memory(size_t *bytes, sb_cu_device device)
{
	sb_cu_result error = world_enter(SLOT_device_memory);

	if (error)
		return error;
	if (absent(device))
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	*bytes = (size_t)world.settings.memory;
	return world_leave(0);
}

bool device_linked(int device, int peer)
{
	int island = world.settings.island ? (int)world.settings.island : DEVICES;

	return !world.settings.nopeer && device != peer && device / island == peer / island;
}

sb_cu_result stand_in_device_can_access(int *can, sb_cu_device device, sb_cu_device peer)
{
	sb_cu_result error = world_enter(SLOT_device_can_access);

	if (error)
		return error;
	if (absent(device) || absent(peer))
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	*can = device_linked(device, peer);
	return world_leave(0);
}

int device_threads_of_multiprocessor(void)
{
	long cc = world.settings.cc;

	if (cc == 75)
		return 1024;
	return cc == 80 || cc == 90 || cc == 100 || cc == 103 ? 2048 : 1536;
}

static bool find_attribute(int *value, int attribute, sb_cu_device device)
{
	const struct settings *s = &world.settings;
	const struct {
		int attribute;
		long value;
	} table[] = {
		{SB_CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
		{SB_CU_ATTR_CLOCK_RATE, 1980000},
		{SB_CU_ATTR_MULTIPROCESSOR_COUNT, s->sms},
		{SB_CU_ATTR_INTEGRATED, 0},
		{SB_CU_ATTR_COMPUTE_MODE, 0},
		{SB_CU_ATTR_PCI_BUS_ID, 16 * device + 1},
		{SB_CU_ATTR_MEMORY_CLOCK_RATE, 3201000},
		{SB_CU_ATTR_GLOBAL_MEMORY_BUS_WIDTH, 6144},
		{SB_CU_ATTR_L2_CACHE_SIZE, 60 << 20},
		{SB_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR, device_threads_of_multiprocessor()},
		{SB_CU_ATTR_ASYNC_ENGINE_COUNT, 3},
		{SB_CU_ATTR_UNIFIED_ADDRESSING, 1},
		{SB_CU_ATTR_COMPUTE_CAPABILITY_MAJOR, s->cc / 10},
		{SB_CU_ATTR_COMPUTE_CAPABILITY_MINOR, s->cc % 10},
		{SB_CU_ATTR_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, s->shared},
		{SB_CU_ATTR_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
		{SB_CU_ATTR_PAGEABLE_MEMORY_ACCESS, s->pageable},
		/* the system keeps 1 KiB a block, on 7.5 none */
		{SB_CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
		 s->cc < 80 ? s->shared : s->shared - 1024},
		{SB_CU_ATTR_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, !s->whole},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].attribute == attribute) {
			*value = (int)table[i].value;
			return true;
		}
	return false;
}

sb_cu_result stand_in_device_attribute(int *value, int attribute, sb_cu_device device)
{
	sb_cu_result error = world_enter(SLOT_device_attribute);

	if (error)
		return error;
	if (absent(device))
		return world_leave(SB_CU_ERROR_INVALID_DEVICE);
	return world_leave(find_attribute(value, attribute, device) ? 0
								    : SB_CU_ERROR_INVALID_VALUE);
}
