/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches: checked against the kernel's row when they are queued, carried out by one of two
 * engines when their stream gets there.
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include "exact.h"
#include "quick.h"
#include "stand_in_world.h"

static size_t arguments_size(const struct kernel *kernel)
{
	if (kernel->kind == KERNEL_PACK)
		return sizeof(struct sb_pack_args);
	return kernel->kind == KERNEL_SPLIT ? sizeof(struct sb_split_args)
					    : sizeof(struct sb_gemm_args);
}

static uint64_t tiles(int64_t extent, unsigned tile)
{
	return ((uint64_t)extent + tile - 1) / tile;
}

static bool emulates(const struct kernel *kernel)
{
	return kernel->kind == KERNEL_FP16X3 || kernel->kind == KERNEL_BF16X6;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The grid that covers the work, neither less nor more. */
static uint64_t blocks(const struct kernel *kernel, const union arguments *a)
{
	uint64_t count;

	if (kernel->kind == KERNEL_PACK)
		return tiles(a->pack.padded_extent, kernel->tile_m) *
		       tiles(a->pack.padded_depth, kernel->tile_k);
	if (kernel->kind == KERNEL_SPLIT)
		return (uint64_t)a->split.padded_extent / kernel->tile_m *
		       tiles(a->split.padded_depth, kernel->tile_k);
	if (kernel->kind == KERNEL_SUM)
		return tiles((int64_t)a->gemm.m * a->gemm.n, kernel->tile_m);
	count = tiles(a->gemm.m, kernel->tile_m * kernel->cluster) * kernel->cluster *
		tiles(a->gemm.n, kernel->tile_n);
	if (emulates(kernel) && kernel->cuts)
		count *= tiles(a->gemm.k, (unsigned)a->gemm.part);
	if (emulates(kernel))
		return least(count, (uint64_t)world.settings.sms < kernel->cluster
					    ? kernel->cluster
					    : (uint64_t)world.settings.sms / kernel->cluster *
						      kernel->cluster);
	if (kernel->persistent && tiles(a->gemm.k, kernel->tile_k) + 1 >= kernel->stages)
		return count < (uint64_t)world.settings.sms ? count : (uint64_t)world.settings.sms;
	return count * (kernel->split ? tiles(a->gemm.k, SB_SLAB) : 1);
}

static bool sensible_split(const struct sb_split_args *s)
{
	return s->extent > 0 && s->depth > 0 && s->padded_extent % 64 == 0 &&
	       s->padded_depth % 64 == 0 && s->extent <= s->padded_extent &&
	       s->depth <= s->padded_depth && s->ld >= s->padded_extent && s->middle % 64 == 0 &&
	       s->exponents_ld >= s->padded_extent && s->ld % SB_PAD == 0 &&
	       (uintptr_t)s->planes % 128 == 0 &&
	       (s->panel ? s->planes && (uintptr_t)s->panel % 128 == 0
			 : s->from_i == 1 && s->from_k == s->ld && (uintptr_t)s->from % 128 == 0);
}

/* Of some product that has all of this in it. */
static bool sensible_chunk(const struct sb_gemm_args *g)
{
	return g->chunk >= sb_split_chunk(g->m, g->n, g->k) && g->chunk <= SB_CHUNK_MOST &&
	       g->chunk % SB_SPLIT_SLAB == 0;
}

static bool sensible(const struct kernel *kernel, const union arguments *a)
{
	const struct sb_gemm_args *g = &a->gemm;
	const struct sb_pack_args *p = &a->pack;
	unsigned pad;

	if (kernel->kind == KERNEL_PACK)
		return p->extent >= 0 && p->depth >= 0 && p->padded_extent > 0 &&
		       p->padded_depth > 0 && p->extent <= p->padded_extent &&
		       p->depth <= p->padded_depth && p->ld >= p->padded_extent &&
		       p->ld % SB_PAD == 0;
	if (kernel->kind == KERNEL_SPLIT)
		return sensible_split(&a->split);
	if (emulates(kernel) && ((g->resume && (g->k > g->chunk || g->beta != 0)) ||
				 !g->flags_a != !g->flags_b || kernel->cuts != (g->part != 0)))
		return false;
	if ((emulates(kernel) || g->part) && !sensible_chunk(g))
		return false;
	if (g->part < 0 || (g->part && (g->part % g->chunk || g->part >= g->k)))
		return false;
	if (g->m < 1 || g->n < 1 || g->k < 1 || g->ldc < g->m)
		return false;
	if ((kernel->split || kernel->kind == KERNEL_SUM) && g->k > SB_SLAB &&
	    !(g->work_i == 1 && g->work_j == g->m) && !(g->work_i == g->n && g->work_j == 1))
		return false;
	/* Maps may be of operands as they lie. */
	pad = kernel->bulk && !emulates(kernel) ? 4 : SB_PAD;
	return !kernel->panels ||
	       (g->a_m == 1 && g->b_n == 1 && g->a_k % pad == 0 && g->b_k % pad == 0 &&
		(uintptr_t)g->a % (4 * pad) == 0 && (uintptr_t)g->b % (4 * pad) == 0);
}

/*
 * What begins before the kernel before it has ended holds multiprocessors while it waits: behind a
 * product, from the products of other streams.
 */
static void note_order(struct CUstream_st *stream, const struct kernel *kernel, bool early)
{
	const bool prepares = kernel->kind == KERNEL_PACK || kernel->kind == KERNEL_SPLIT;

	if (early && prepares && stream->multiplies)
		world_violation("%s begins early behind a product", kernel->name);
	stream->multiplies = !prepares;
}

static sb_cu_result launch_at(const struct sb_cu_launch *at, sb_cu_function function,
			      void **parameters, void **extra)
{
	sb_cu_result error = world_enter(SLOT_launch);
	const struct kernel *kernel;
	struct CUstream_st *resolved;
	struct launch *launch;

	if (error)
		return error;
	resolved = stream_resolve(at->stream, &error);
	if (error)
		return world_leave(error);
	if (!context_top())
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (function->module->tag != TAG_LIVE || function->module->context != resolved->context) {
		world_violation("a function is launched in a stream of another context");
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	}
	if (context_top() != resolved->context) {
		world_violation("a launch while another context is current");
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	}
	kernel = function->kernel;
	if (!at->grid_x || !at->grid_y || !at->grid_z || !at->block_x || !at->block_y ||
	    !at->block_z || at->grid_x > 0x7fffffff || at->grid_y > 65535 || at->grid_z > 65535 ||
	    extra || !parameters ||
	    (uint64_t)at->block_x * at->block_y * at->block_z > kernel->threads ||
	    at->dynamic_shared > (unsigned)function->dynamic_limit)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if (world.settings.cc < kernel->arch) {
		world_violation("%s is launched below its architecture", kernel->name);
		return world_leave(SB_CU_ERROR_NO_BINARY_FOR_GPU);
	}
	launch = calloc(1, sizeof *launch);
	if (!launch)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	memcpy(&launch->arguments, parameters[0], arguments_size(kernel));
	launch->function = function;
	launch->grid = at->grid_x;
	launch->shared = at->dynamic_shared;
	if (at->block_x != kernel->threads || at->block_y != 1 || at->block_z != 1 ||
	    at->grid_y != 1 || at->grid_z != 1 || at->dynamic_shared != kernel->dynamic)
		world_violation("%s: %u threads and %u bytes of shared memory, not as its row says",
				kernel->name, at->block_x, at->dynamic_shared);
	else if (!sensible(kernel, &launch->arguments))
		world_violation("%s: arguments that args.h forbids", kernel->name);
	else if (at->grid_x != blocks(kernel, &launch->arguments))
		world_violation("%s: a grid of %u", kernel->name, at->grid_x);
	note_order(resolved, kernel, at->attributes_count > 0);
	stream_add(resolved, OPERATION_LAUNCH)->launch = launch;
	return world_leave(0);
}

sb_cu_result stand_in_launch(sb_cu_function function, unsigned grid_x, unsigned grid_y,
			     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
			     unsigned dynamic_shared, sb_cu_stream stream, void **parameters,
			     void **extra)
{
	const struct sb_cu_launch at = {.grid_x = grid_x,
					.grid_y = grid_y,
					.grid_z = grid_z,
					.block_x = block_x,
					.block_y = block_y,
					.block_z = block_z,
					.dynamic_shared = dynamic_shared,
					.stream = stream};

	return launch_at(&at, function, parameters, extra);
}

/* That launches overlap is allowed where a device can, and means nothing here; faults count both.
 */
sb_cu_result stand_in_launch_with(const struct sb_cu_launch *launch, sb_cu_function function,
				  void **parameters, void **extra)
{
	for (unsigned i = 0; launch && i < launch->attributes_count; i++)
		if (launch->attributes[i].kind != SB_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION ||
		    world.settings.cc < 90)
			return SB_CU_ERROR_INVALID_VALUE;
	return launch ? launch_at(launch, function, parameters, extra) : SB_CU_ERROR_INVALID_VALUE;
}

/* The allocation of the last access, which most likely is that of the next. */
struct reach {
	struct CUctx_st *context;
	const char *base, *end;
};

static bool check(void *context, const void *pointer, size_t bytes, bool write)
{
	struct reach *reach = context;
	const struct allocation *allocation;

	(void)write;
	if ((const char *)pointer >= reach->base && (const char *)pointer + bytes <= reach->end)
		return true;
	if (!memory_reach(reach->context, pointer, bytes, "kernel"))
		return false;
	allocation = memory_find(pointer);
	if (allocation) {
		reach->base = allocation->base;
		reach->end = allocation->base + allocation->bytes;
	}
	return true;
}

static bool run_exact(struct CUctx_st *context, const struct kernel *kernel,
		      const struct launch *launch)
{
	struct reach reach = {.context = context};
	struct sb_exact_memory memory = {.context = &reach, .check = check};

	if (sb_exact_run(kernel->name, launch->grid, kernel->threads, launch->shared,
			 &launch->arguments, arguments_size(kernel), &memory, NULL) == SB_EXACT_OK)
		return true;
	world_violation("%s", sb_exact_message());
	return false;
}

/* With the lock held: an engine sees memory that nobody else allocates or frees meanwhile. */
sb_cu_result launch_run(struct operation *operation)
{
	const struct launch *launch = operation->launch;
	const struct kernel *kernel = launch->function->kernel;
	struct CUctx_st *context = operation->stream->context;
	fenv_t caller;
	bool done;

	/* A device knows nothing of the rounding, flushing and flags of the thread that waits. */
	fegetenv(&caller);
	fesetenv(FE_DFL_ENV);
	if (world.settings.exact)
		done = run_exact(context, kernel, launch);
	else if (kernel->kind == KERNEL_GEMM)
		done = quick_gemm(context, kernel, &launch->arguments.gemm);
	else if (kernel->kind == KERNEL_SUM)
		done = quick_sum(context, &launch->arguments.gemm);
	else if (kernel->kind == KERNEL_SPLIT)
		done = quick_split(context, &launch->arguments.split);
	else if (emulates(kernel))
		done = quick_emulated(context, kernel, launch->grid, &launch->arguments.gemm);
	else
		done = quick_pack(context, kernel, &launch->arguments.pack);
	fesetenv(&caller);
	return done ? 0 : SB_CU_ERROR_ILLEGAL_ADDRESS;
}
