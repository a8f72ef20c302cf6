/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stand-in driver keeps in the 128 opaque bytes of a tensor map. Its
 * cuTensorMapEncodeTiled fills one in; the exact engine's bulk copies read it. Sizes and box are in
 * elements, dimension 0 is the contiguous one, stride[d] is the distance in bytes between
 * neighbours along dimension d + 1. Elements outside the sizes read as zero.
 */
#ifndef SB_TENSOR_MAP_H
#define SB_TENSOR_MAP_H

#include <stdint.h>

#define SB_TENSOR_MAP_MAGIC 0x73626d61u /* tells a map from uninitialised bytes */
#define SB_TENSOR_MAP_RANK  5

struct sb_stand_in_map {
	uint32_t magic;
	uint8_t rank;	 /* 1 to SB_TENSOR_MAP_RANK; our kernels use 2 */
	uint8_t type;	 /* SB_CU_TENSOR_FLOAT32 */
	uint8_t swizzle; /* SB_CU_TENSOR_SWIZZLE_NONE */
	uint8_t reserved;
	uint64_t address; /* multiple of 16 */
	uint64_t size[SB_TENSOR_MAP_RANK];
	uint64_t stride[SB_TENSOR_MAP_RANK - 1]; /* multiples of 16 */
	uint16_t box[SB_TENSOR_MAP_RANK];	 /* 1 to 256 each */
};

#ifdef __cplusplus
static_assert(sizeof(struct sb_stand_in_map) <= 128, "a tensor map has 128 bytes");
#else
_Static_assert(sizeof(struct sb_stand_in_map) <= 128, "a tensor map has 128 bytes");
#endif

/* The map of a panel of floats as kernels.def wants it, for who runs kernels without a driver. */
#define SB_PANEL_MAP(panel, extent, depth, box_i, box_k)                                           \
	{                                                                                          \
		.magic = SB_TENSOR_MAP_MAGIC, .rank = 2, .type = SB_CU_TENSOR_FLOAT32,             \
		.swizzle = SB_CU_TENSOR_SWIZZLE_NONE, .address = (uintptr_t)(panel),               \
		.size = {(uint64_t)(extent), (uint64_t)(depth)},                                   \
		.stride = {(uint64_t)(extent) * sizeof(float)},                                    \
		.box = {(uint16_t)(box_i), (uint16_t)(box_k)},                                     \
	}

#endif
