/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: the few CUDA driver API types and constants we use, so that building needs no CUDA. The
 * values are the driver's ABI (CUDA Driver API reference, cuda.h); where a <cuda.h> is found,
 * tests/test_cuda_types.c checks every one of them against it.
 */
#ifndef SB_CUDA_TYPES_H
#define SB_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int sb_cu_result; /* CUresult */
typedef int sb_cu_device; /* CUdevice */
typedef unsigned long long sb_cu_deviceptr;
typedef unsigned long long sb_cu_memory; /* CUmemGenericAllocationHandle */
typedef struct CUctx_st *sb_cu_context;
typedef struct CUmod_st *sb_cu_module;
typedef struct CUfunc_st *sb_cu_function;
typedef struct CUstream_st *sb_cu_stream;
typedef struct CUevent_st *sb_cu_event;

enum {
	SB_CU_SUCCESS = 0,
	SB_CU_ERROR_INVALID_VALUE = 1,
	SB_CU_ERROR_OUT_OF_MEMORY = 2,
	SB_CU_ERROR_NOT_INITIALIZED = 3,
	SB_CU_ERROR_DEINITIALIZED = 4,
	SB_CU_ERROR_NO_DEVICE = 100,
	SB_CU_ERROR_INVALID_DEVICE = 101,
	SB_CU_ERROR_INVALID_IMAGE = 200,
	SB_CU_ERROR_INVALID_CONTEXT = 201,
	SB_CU_ERROR_NO_BINARY_FOR_GPU = 209,
	SB_CU_ERROR_INVALID_PTX = 218,
	SB_CU_ERROR_NO_JIT_COMPILER = 221,
	SB_CU_ERROR_UNSUPPORTED_PTX_VERSION = 222,
	SB_CU_ERROR_INVALID_HANDLE = 400,
	SB_CU_ERROR_NOT_FOUND = 500,
	SB_CU_ERROR_NOT_READY = 600,
	SB_CU_ERROR_ILLEGAL_ADDRESS = 700,
	SB_CU_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
	SB_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
	SB_CU_ERROR_CONTEXT_IS_DESTROYED = 709,
	SB_CU_ERROR_LAUNCH_FAILED = 719,
	SB_CU_ERROR_NOT_SUPPORTED = 801,
	SB_CU_ERROR_UNKNOWN = 999
};

enum { /* CUdevice_attribute */
       SB_CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK = 8,
       SB_CU_ATTR_CLOCK_RATE = 13,
       SB_CU_ATTR_MULTIPROCESSOR_COUNT = 16,
       SB_CU_ATTR_INTEGRATED = 18,
       SB_CU_ATTR_COMPUTE_MODE = 20,
       SB_CU_ATTR_PCI_BUS_ID = 33,
       SB_CU_ATTR_MEMORY_CLOCK_RATE = 36,
       SB_CU_ATTR_GLOBAL_MEMORY_BUS_WIDTH = 37,
       SB_CU_ATTR_L2_CACHE_SIZE = 38,
       SB_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR = 39,
       SB_CU_ATTR_ASYNC_ENGINE_COUNT = 40,
       SB_CU_ATTR_UNIFIED_ADDRESSING = 41,
       SB_CU_ATTR_COMPUTE_CAPABILITY_MAJOR = 75,
       SB_CU_ATTR_COMPUTE_CAPABILITY_MINOR = 76,
       SB_CU_ATTR_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
       SB_CU_ATTR_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
       SB_CU_ATTR_PAGEABLE_MEMORY_ACCESS = 88,
       SB_CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
       SB_CU_ATTR_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102
};

enum { /* CUfunction_attribute */
       SB_CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
       SB_CU_FUNC_SHARED_SIZE_BYTES = 1,
       SB_CU_FUNC_LOCAL_SIZE_BYTES = 3,
       SB_CU_FUNC_NUM_REGS = 4,
       SB_CU_FUNC_PTX_VERSION = 5,
       SB_CU_FUNC_BINARY_VERSION = 6,
       SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum { /* CUpointer_attribute */
       SB_CU_POINTER_CONTEXT = 1,
       SB_CU_POINTER_MEMORY_TYPE = 2,
       SB_CU_POINTER_BUFFER_ID = 7,
       SB_CU_POINTER_IS_MANAGED = 8,
       SB_CU_POINTER_DEVICE_ORDINAL = 9
};
enum { SB_CU_MEMORY_HOST = 1, SB_CU_MEMORY_DEVICE = 2, SB_CU_MEMORY_ARRAY = 3 };

enum {
	SB_CU_STREAM_NON_BLOCKING = 1,
	SB_CU_EVENT_DEFAULT = 0,
	SB_CU_EVENT_DISABLE_TIMING = 2,
	SB_CU_HOST_ALLOC_PORTABLE = 1,
	SB_CU_CAPTURE_MODE_GLOBAL = 0,
	SB_CU_CAPTURE_MODE_RELAXED = 2,
	SB_CU_PROC_DEFAULT = 0
};

enum {					   /* memory apart from its addresses */
       SB_CU_MEMORY_PINNED_ALLOCATION = 1, /* CUmemAllocationType */
       SB_CU_MEMORY_ON_DEVICE = 1,	   /* CUmemLocationType */
       SB_CU_MEMORY_GRANULARITY_LEAST = 0,
       SB_CU_MEMORY_READ_WRITE = 3
};

struct sb_cu_memory_place { /* CUmemLocation */
	int type, device;
};

struct sb_cu_memory_kind { /* CUmemAllocationProp */
	int type, handles;
	struct sb_cu_memory_place place;
	void *unused;
	unsigned char flags[8];
};

struct sb_cu_memory_access { /* CUmemAccessDesc */
	struct sb_cu_memory_place place;
	int flags;
};

enum { /* tensor maps */
       SB_CU_TENSOR_FLOAT32 = 7,
       SB_CU_TENSOR_INTERLEAVE_NONE = 0,
       SB_CU_TENSOR_SWIZZLE_NONE = 0,
       SB_CU_TENSOR_SWIZZLE_128B = 3,
       SB_CU_TENSOR_L2_NONE = 0,
       SB_CU_TENSOR_L2_256B = 3,
       SB_CU_TENSOR_FILL_ZERO = 0
};

/* CUlaunchAttribute: of a kind (SB_CU_LAUNCH_*), and its value. */
struct sb_cu_launch_attribute {
	int kind;
	_Alignas(8) union {
		char room[64];
		int allowed;
	} value;
};

enum { SB_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

/* CUlaunchConfig */
struct sb_cu_launch {
	unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared;
	sb_cu_stream stream;
	const struct sb_cu_launch_attribute *attributes;
	unsigned attributes_count;
};

/* CUDA_MEMCPY2D */
struct sb_cu_memcpy2d {
	size_t src_x_bytes, src_y;
	int src_type; /* SB_CU_MEMORY_* */
	const void *src_host;
	sb_cu_deviceptr src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x_bytes, dst_y;
	int dst_type;
	void *dst_host;
	sb_cu_deviceptr dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width_bytes, height;
};

#endif
