/* SPDX-License-Identifier: BSD-3-Clause */
/* cuTensorMapEncodeTiled: the rules of the CUDA Driver API reference, and what the engines read. */
#include <string.h>
#include "stand_in_world.h"
#include "tensor_map.h"

/* Everything that the reference demands of a float32 map. */
static bool legal(unsigned rank, const void *address, const uint64_t *sizes,
		  const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides)
{
	uint64_t least = 4 * sizes[0];

	if ((uintptr_t)address % 16 || box[0] * 4 % 16)
		return false;
	for (unsigned d = 0; d < rank; d++)
		if (sizes[d] == 0 || sizes[d] > (uint64_t)1 << 32 || box[d] == 0 || box[d] > 256 ||
		    element_strides[d] == 0 || element_strides[d] > 8)
			return false;
	for (unsigned d = 0; d + 1 < rank; d++) {
		if (strides[d] % 16 || strides[d] >= (uint64_t)1 << 40 || strides[d] < least)
			return false;
		least = strides[d] * sizes[d + 1];
	}
	return true;
}

sb_cu_result stand_in_tensor_map(void *map, int type, unsigned rank, void *address,
				 const uint64_t *sizes, const uint64_t *strides,
				 const uint32_t *box, const uint32_t *element_strides,
				 int interleave, int swizzle, int l2_promotion, int fill)
{
	sb_cu_result error = world_enter(SLOT_tensor_map);
	struct sb_stand_in_map out = {.magic = SB_TENSOR_MAP_MAGIC};

	if (error)
		return error;
	if (!map || (uintptr_t)map % 64 || !address || rank < 1 || rank > SB_TENSOR_MAP_RANK ||
	    type != SB_CU_TENSOR_FLOAT32 || interleave != SB_CU_TENSOR_INTERLEAVE_NONE ||
	    swizzle < 0 || swizzle > SB_CU_TENSOR_SWIZZLE_128B || l2_promotion < 0 ||
	    l2_promotion > SB_CU_TENSOR_L2_256B || fill < 0 || fill > 1 ||
	    !legal(rank, address, sizes, strides, box, element_strides))
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	/* an inner box wider than the swizzle's span is refused */
	if (swizzle != SB_CU_TENSOR_SWIZZLE_NONE && box[0] * 4 > 16u << swizzle)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	out.rank = (uint8_t)rank;
	out.type = (uint8_t)type;
	out.swizzle = (uint8_t)swizzle;
	out.address = (uintptr_t)address;
	for (unsigned d = 0; d < rank; d++) {
		out.size[d] = sizes[d];
		out.box[d] = (uint16_t)box[d];
		if (d + 1 < rank)
			out.stride[d] = strides[d];
	}
	memset(map, 0, sizeof(struct sb_tensor_map));
	memcpy(map, &out, sizeof out);
	return world_leave(0);
}
