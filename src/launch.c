/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch.h"

#include "function.h"
#include "whole.h"

#define DEFAULT_SHARED_LIMIT (48 << 10)
#define MAPPABLE	     16 /* bytes that a map's address and stride are multiples of */
#define STRIDE_LIMIT	     ((uint64_t)1 << 40)
#define FOLLOWS_ARCH	     90 /* kernels that are launched so wait by themselves (device.cuh) */

enum role { PREPARES, MULTIPLIES, SUMS };

struct sb_target sb_launch_target(const struct sb_device *device)
{
	return (struct sb_target){
		.arch = device->arch,
		.multiprocessors = device->multiprocessors > 0 ? device->multiprocessors : 1,
		.shared = device->shared_optin,
		.maps = device->cu->tensor_map != NULL,
	};
}

static enum sb_status find_gemm(struct sb_device *device, const struct sb_kernel *kernel,
				struct sb_function **found)
{
	const struct sb_target target = sb_launch_target(device);
	enum sb_status status;

	if (!sb_registry_runs(kernel, &target))
		return SB_DECLINE;
	status = sb_function_find(device, kernel->source, kernel->name, found);
	if (status == SB_OK && kernel->arithmetic != SB_STRICT)
		status = sb_function_look_behind(device, *found);
	if (status != SB_OK || (*found)->raised || kernel->dynamic <= DEFAULT_SHARED_LIMIT)
		return status;
	status = sb_device_check(device,
				 device->cu->function_set((*found)->function,
							  SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
							  kernel->dynamic),
				 "raising a kernel's shared memory");
	(*found)->raised = status == SB_OK;
	return status;
}

static enum sb_status find_sums(struct sb_device *device)
{
	enum sb_status status = SB_OK;
	struct sb_function *found;

	for (int i = 0; status == SB_OK && i < sb_registry_sums(); i++) {
		const struct sb_sum_kernel *sum = sb_registry_sum_row(i);

		status = sb_function_find(device, sum->source, sum->name, &found);
	}
	return status;
}

enum sb_status sb_launch_prepare(struct sb_device *device, const struct sb_kernel *kernel)
{
	struct sb_function *found;
	enum sb_status status = find_gemm(device, kernel, &found);

	for (int across = 0; status == SB_OK && kernel->form != SB_FORM_ANY && across <= 1;
	     across++) {
		const struct sb_pack_kernel *pack = sb_registry_pack(across);

		status = sb_function_find(device, pack->source, pack->name, &found);
	}
	if (status == SB_OK && sb_registry_splits(kernel))
		status = find_sums(device);
	return status;
}

enum sb_status sb_launch_prepare_tiers(struct sb_device *device, const struct sb_tiers *tiers)
{
	const struct sb_kernel *all[SB_TIERS_KERNELS];
	int count = sb_registry_tiers_kernels(tiers, all);
	enum sb_status status = SB_OK;
	struct sb_function *found;

	for (int i = 0; status == SB_OK && i < count; i++)
		status = sb_launch_prepare(device, all[i]);
	if (status == SB_OK)
		status = find_sums(device);
	/* Where nothing reads planes, a panel's guard may have to be asked by itself. */
	for (int raw = 0; status == SB_OK && raw <= (tiers->fp16x3 != NULL); raw++) {
		const struct sb_split_kernel *split = sb_registry_split(raw);

		status = sb_function_find(device, split->source, split->name, &found);
	}
	return status;
}

bool sb_launch_mappable(const void *base, int64_t ld)
{
	const uint64_t bytes = (uint64_t)ld * sizeof(float);

	return (uintptr_t)base % MAPPABLE == 0 && bytes % MAPPABLE == 0 && bytes < STRIDE_LIMIT;
}

enum sb_lie sb_launch_lie(const void *base, int64_t ld, bool k_slow)
{
	if (sb_launch_mappable(base, ld))
		return k_slow ? SB_LIE_ALONG : SB_LIE_ACROSS;
	return k_slow ? SB_LIE_ALONG_WORDS : SB_LIE_ACROSS_WORDS;
}

static enum sb_status make_map(struct sb_device *device, struct sb_tensor_map *map,
			       const float *panel, int64_t extent, int64_t depth, int64_t stride,
			       int box_i, int box_k)
{
	/* Not the padded ones: what lies in place ends there, and the copies bring zeros. */
	const uint64_t sizes[2] = {(uint64_t)extent, (uint64_t)depth};
	const uint64_t strides[1] = {(uint64_t)stride * sizeof *panel};
	const uint32_t box[2] = {(uint32_t)box_i, (uint32_t)box_k};
	const uint32_t element_strides[2] = {1, 1};

	if (!device->cu->tensor_map)
		return SB_DECLINE;
	return sb_device_check(device,
			       device->cu->tensor_map(map, SB_CU_TENSOR_FLOAT32, 2,
						      (void *)(uintptr_t)panel, sizes, strides, box,
						      element_strides, SB_CU_TENSOR_INTERLEAVE_NONE,
						      SB_CU_TENSOR_SWIZZLE_NONE,
						      SB_CU_TENSOR_L2_256B, SB_CU_TENSOR_FILL_ZERO),
			       "making a tensor map");
}

void sb_launch_apart(struct sb_device *device, enum sb_stream stream)
{
	device->leads[stream] = false;
}

static enum sb_status launch_overlapping(struct sb_device *device, sb_cu_function function,
					 int64_t blocks, int threads, int dynamic,
					 enum sb_stream stream, void **parameters)
{
	const struct sb_cu_launch_attribute follows = {
		.kind = SB_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION, .value.allowed = 1};
	const struct sb_cu_launch launch = {
		.grid_x = (unsigned)blocks,
		.grid_y = 1,
		.grid_z = 1,
		.block_x = (unsigned)threads,
		.block_y = 1,
		.block_z = 1,
		.dynamic_shared = (unsigned)dynamic,
		.stream = device->streams[stream],
		.attributes = &follows,
		.attributes_count = 1,
	};

	return sb_device_check(device, device->cu->launch_with(&launch, function, parameters, NULL),
			       "a launch");
}

static enum sb_status launch(struct sb_device *device, sb_cu_function function, int64_t blocks,
			     int threads, int dynamic, enum role role, enum sb_stream stream,
			     void *args)
{
	void *parameters[] = {args};
	bool follows = role == SUMS || (role == PREPARES && device->leads[stream]);

	if (blocks > INT32_MAX) /* the limit of a grid's first dimension */
		return SB_DECLINE;
	device->leads[stream] = role == PREPARES;
	if (follows && device->arch >= FOLLOWS_ARCH && device->cu->launch_with)
		return launch_overlapping(device, function, blocks, threads, dynamic, stream,
					  parameters);
	return sb_device_check(device,
			       device->cu->launch(function, (unsigned)blocks, 1, 1,
						  (unsigned)threads, 1, 1, (unsigned)dynamic,
						  device->streams[stream], parameters, NULL),
			       "a launch");
}

enum sb_status sb_launch_sum(struct sb_device *device, struct sb_gemm_args *args,
			     enum sb_stream stream)
{
	const struct sb_sum_kernel *sum = sb_registry_sum(
		args->m, args->n, sb_ceil_div(args->k, args->part ? args->chunk : SB_SLAB),
		sb_launch_target(device).multiprocessors);
	struct sb_function *found;
	enum sb_status status = sb_function_find(device, sum->source, sum->name, &found);

	if (status != SB_OK)
		return status;
	return launch(device, found->function, sb_ceil_div((int64_t)args->m * args->n, sum->be),
		      sum->threads, 0, SUMS, stream, args);
}

/* The words by which the warps of persistent blocks tell each other that sums are there. */
static enum sb_status lower_flags(struct sb_device *device, const struct sb_kernel *kernel,
				  const struct sb_gemm_args *args, int64_t blocks,
				  enum sb_stream stream)
{
	float *flags = args->work + blocks * kernel->bm * kernel->bn;

	return sb_device_check(device,
			       device->cu->set_words((sb_cu_deviceptr)(uintptr_t)flags, 0,
						     (size_t)(blocks * (kernel->threads / 32)),
						     device->streams[stream]),
			       "lowering flags");
}

static int64_t blocks_of(const struct sb_kernel *kernel, const struct sb_gemm_args *args, int most)
{
	if (!args->part || kernel->arithmetic == SB_STRICT)
		return sb_registry_blocks(kernel, args->m, args->n, args->k, most);
	return sb_registry_tensor_blocks(kernel, args->m, args->n, sb_ceil_div(args->k, args->part),
					 most);
}

enum sb_status sb_launch_gemm(struct sb_device *device, const struct sb_kernel *kernel,
			      struct sb_gemm_args *args, enum sb_stream stream)
{
	struct sb_function *found;
	enum sb_status status = find_gemm(device, kernel, &found);
	int64_t slabs = sb_registry_slabs(kernel, args->k);
	int64_t blocks = blocks_of(kernel, args, sb_launch_target(device).multiprocessors);

	args->work_i = sb_registry_flat(kernel) ? args->n : 1;
	args->work_j = sb_registry_flat(kernel) ? 1 : args->m;
	if (status == SB_OK && sb_registry_has_maps(kernel))
		status = make_map(device, &args->map_a, args->a, args->m, args->k, args->a_k,
				  kernel->bm, kernel->bk);
	if (status == SB_OK && sb_registry_has_maps(kernel))
		status = make_map(device, &args->map_b, args->b, args->n, args->k, args->b_k,
				  kernel->bn, kernel->bk);
	if (status != SB_OK)
		return status;
	if (sb_registry_persists(kernel) && args->k > SB_SLAB)
		status = lower_flags(device, kernel, args, blocks, stream);
	if (status == SB_OK)
		status = launch(device, found->function, blocks, kernel->threads, kernel->dynamic,
				MULTIPLIES, stream, args);
	if (status == SB_OK && slabs > 1)
		status = sb_launch_sum(device, args, stream);
	return status;
}

enum sb_status sb_launch_pack(struct sb_device *device, const struct sb_pack_args *args,
			      enum sb_stream stream)
{
	const struct sb_pack_kernel *pack = sb_registry_pack(args->from_k == 1);
	struct sb_pack_args copy = *args;
	struct sb_function *found;
	enum sb_status status = sb_function_find(device, pack->source, pack->name, &found);

	if (status != SB_OK)
		return status;
	return launch(device, found->function,
		      sb_ceil_div(args->padded_extent, pack->bi) *
			      sb_ceil_div(args->padded_depth, pack->bk),
		      pack->threads, 0, PREPARES, stream, &copy);
}

enum sb_status sb_launch_split(struct sb_device *device, const struct sb_split_args *args,
			       enum sb_stream stream)
{
	const struct sb_split_kernel *split = sb_registry_split(args->panel != NULL);
	struct sb_split_args copy = *args;
	struct sb_function *found;
	enum sb_status status = sb_function_find(device, split->source, split->name, &found);

	if (status != SB_OK)
		return status;
	return launch(device, found->function,
		      sb_ceil_div(args->padded_extent, split->bi) *
			      sb_ceil_div(args->padded_depth, split->bk),
		      split->threads, 0, PREPARES, stream, &copy);
}

enum sb_status sb_launch_tiers(struct sb_device *device, const struct sb_tiers *tiers,
			       struct sb_gemm_args *args, enum sb_stream stream)
{
	const struct sb_tiers_launch launch = sb_registry_tiers_launch(
		tiers, args->m, args->n, args->k, sb_launch_target(device).multiprocessors);
	enum sb_status status = SB_OK;
	bool written = false; /* some of C has been */

	args->part = launch.part;
	args->chunk = tiers->chunk;
	for (int i = 0; status == SB_OK && i < launch.count; i++) {
		if (launch.part && i + 1 == launch.count) {
			status = sb_launch_sum(device, args, stream);
			written = status == SB_OK;
		}
		if (status == SB_OK)
			status = sb_launch_gemm(device, launch.kernels[i], args, stream);
		/* beta has been applied to some tiles and not to others, and nobody could tell to
		 * which. */
		if (status != SB_OK && status != SB_LOST && written && args->beta != 0)
			status = sb_device_lose(device, "C on it is written in part");
		written = written || !launch.part;
	}
	return status;
}

enum sb_status sb_launch_facts(struct sb_device *device, const struct sb_kernel *kernel,
			       struct sb_kernel_facts *facts)
{
	const struct sb_driver *cu = device->cu;
	struct sb_function *found;
	enum sb_status status = find_gemm(device, kernel, &found);
	const struct {
		int attribute, *value;
	} wanted[] = {
		{SB_CU_FUNC_NUM_REGS, &facts->registers},
		{SB_CU_FUNC_SHARED_SIZE_BYTES, &facts->static_shared},
		{SB_CU_FUNC_LOCAL_SIZE_BYTES, &facts->local},
	};

	for (size_t i = 0; status == SB_OK && i < sizeof wanted / sizeof *wanted; i++)
		status = sb_device_check(
			device,
			cu->function_get(wanted[i].value, wanted[i].attribute, found->function),
			"asking about a kernel");
	if (status == SB_OK)
		status = sb_device_check(device,
					 cu->occupancy(&facts->blocks_per_multiprocessor,
						       found->function, kernel->threads,
						       (size_t)kernel->dynamic),
					 "asking for a kernel's occupancy");
	return status;
}
