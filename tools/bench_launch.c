/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_launch.h"

#include <string.h>

#include "clock.h"

/* The longest that a queued piece of work may take. */
#define PATIENCE 30.0

#define FLAGGED 128 /* rows to a flag (args.h) */

static sb_cu_stream stream(const struct sb_bench_launch *launch)
{
	return launch->device->streams[SB_STREAM_COMPUTE];
}

static bool fine(struct sb_bench_launch *launch, sb_cu_result result, const char *what)
{
	return sb_device_check(launch->device, result, what) == SB_OK;
}

static bool finish(struct sb_bench_launch *launch)
{
	return fine(launch, launch->device->cu->event_record(launch->end, stream(launch)),
		    "a bench's event") &&
	       sb_device_wait(launch->device, launch->end, PATIENCE) == SB_OK;
}

static size_t offset(const struct sb_bench_launch *launch)
{
	return (size_t)launch->product->shape->offset * sizeof(float);
}

static bool take_floats(struct sb_bench_launch *launch, sb_cu_deviceptr *to, int64_t count)
{
	return launch->device->cu->memory_alloc(to, (size_t)count * sizeof(float)) == SB_CU_SUCCESS;
}

/* An operand, so far behind an aligned address as the shape says. */
static bool take(struct sb_bench_launch *launch, sb_cu_deviceptr *to, const float *from,
		 int64_t count)
{
	const struct sb_driver *cu = launch->device->cu;
	size_t bytes = (size_t)count * sizeof *from, behind = offset(launch);

	if (cu->memory_alloc(to, bytes + behind) != SB_CU_SUCCESS)
		return false;
	*to += behind;
	return !from || fine(launch, cu->copy_up(*to, from, bytes, stream(launch)), "an upload");
}

static bool poison(struct sb_bench_launch *launch)
{
	return fine(launch,
		    launch->device->cu->set_words(launch->c, SB_BENCH_POISON,
						  (size_t)launch->product->extent.c,
						  stream(launch)),
		    "a bench's poison");
}

static bool down(struct sb_bench_launch *launch, float *to)
{
	size_t bytes = (size_t)launch->product->extent.c * sizeof *to;

	return fine(launch, launch->device->cu->copy_down(to, launch->c, bytes, stream(launch)),
		    "a download") &&
	       finish(launch);
}

bool sb_bench_launch_open(struct sb_bench_launch *launch, struct sb_device *device,
			  const struct sb_bench_product *product, float *reference)
{
	const struct sb_bench_extent *extent = &product->extent;
	const struct sb_driver *cu = device->cu;
	bool done;

	*launch = (struct sb_bench_launch){
		.device = device, .product = product, .reference = reference};
	done = cu->event_create(&launch->start, SB_CU_EVENT_DEFAULT) == SB_CU_SUCCESS &&
	       cu->event_create(&launch->end, SB_CU_EVENT_DEFAULT) == SB_CU_SUCCESS &&
	       take(launch, &launch->a, product->a, extent->a) &&
	       take(launch, &launch->b, product->b, extent->b) &&
	       take(launch, &launch->c, NULL, extent->c);
	if (done && reference)
		done = sb_bench_launch_prepare(launch, sb_registry_plain()) && poison(launch) &&
		       sb_bench_launch_gemm(launch) && down(launch, reference);
	if (launch->kernel)
		sb_bench_launch_unprepare(launch);
	if (!done)
		sb_bench_launch_close(launch);
	return done;
}

void sb_bench_launch_lie(const struct sb_bench_launch *launch, struct sb_target *target)
{
	const struct sb_bench_shape *shape = launch->product->shape;
	const struct sb_bench_extent *extent = &launch->product->extent;

	target->a = sb_launch_lie((const void *)(uintptr_t)launch->a, extent->lda, !shape->trans_a);
	target->b = sb_launch_lie((const void *)(uintptr_t)launch->b, extent->ldb, shape->trans_b);
}

void sb_bench_launch_close(struct sb_bench_launch *launch)
{
	const struct sb_driver *cu = launch->device->cu;

	if (launch->c)
		(void)cu->memory_free(launch->c - offset(launch));
	if (launch->b)
		(void)cu->memory_free(launch->b - offset(launch));
	if (launch->a)
		(void)cu->memory_free(launch->a - offset(launch));
	if (launch->end)
		(void)cu->event_destroy(launch->end);
	if (launch->start)
		(void)cu->event_destroy(launch->start);
}

static int64_t whole(int64_t size, int64_t of)
{
	return (size + of - 1) / of * of;
}

/* Describes the panel of an operand: `extent` of it in tiles of `tile`, all of k. */
static struct sb_pack_args describe(const struct sb_bench_launch *launch, sb_cu_deviceptr from,
				    int64_t extent, int tile, bool k_contiguous, int64_t ld)
{
	const struct sb_kernel *kernel = launch->kernel;
	int64_t padded = whole(extent, tile), depth = launch->product->shape->k;

	return (struct sb_pack_args){
		.from = (const float *)(uintptr_t)from,
		.from_i = k_contiguous ? ld : 1,
		.from_k = k_contiguous ? 1 : ld,
		.ld = whole(padded, SB_PAD),
		.extent = (int32_t)extent,
		.depth = (int32_t)depth,
		.padded_extent = (int32_t)padded,
		.padded_depth =
			(int32_t)whole(depth, launch->emulated ? launch->tiers.bk : kernel->bk),
	};
}

/* A panel of an operand, where the kernel wants one; its address and strides are the product's
 * then. */
static bool take_panel(struct sb_bench_launch *launch, sb_cu_deviceptr *panel,
		       struct sb_pack_args *pack, const float **at, int64_t *i, int64_t *k)
{
	bool maps = launch->in_place && !launch->emulated && sb_registry_has_maps(launch->kernel);

	if (maps && pack->from_i == 1 && sb_launch_mappable(pack->from, pack->from_k))
		return true;
	if (!take_floats(launch, panel, pack->ld * pack->padded_depth))
		return false;
	pack->to = (float *)(uintptr_t)*panel;
	*at = pack->to;
	*i = 1;
	*k = pack->ld;
	return true;
}

static bool take_panels(struct sb_bench_launch *launch)
{
	struct sb_gemm_args *g = &launch->gemm;

	return take_panel(launch, &launch->panel_a, &launch->pack_a, &g->a, &g->a_m, &g->a_k) &&
	       take_panel(launch, &launch->panel_b, &launch->pack_b, &g->b, &g->b_n, &g->b_k) &&
	       sb_bench_launch_pack(launch);
}

static bool take_work(struct sb_bench_launch *launch)
{
	const struct sb_bench_shape *shape = launch->product->shape;
	int64_t m = shape->m, n = shape->n, k = shape->k;
	size_t bytes = launch->emulated ? sb_registry_tiers_work(&launch->tiers, m, n, k)
					: sb_registry_work(launch->kernel, m, n, k);

	if (bytes && !take_floats(launch, &launch->work, (int64_t)(bytes / sizeof(float))))
		return false;
	launch->gemm.work = (float *)(uintptr_t)launch->work;
	return true;
}

/* Planes and exponents of a panel, one behind the other. */
static bool take_parts(struct sb_bench_launch *launch, sb_cu_deviceptr *parts,
		       const struct sb_pack_args *panel, struct sb_split_args *split)
{
	int64_t elements = (int64_t)panel->padded_extent * panel->padded_depth;
	int64_t slabs = whole(panel->padded_depth, SB_SPLIT_SLAB) / SB_SPLIT_SLAB;

	*split = (struct sb_split_args){
		.from = panel->to,
		.from_i = 1,
		.from_k = panel->ld,
		.ld = panel->ld,
		.exponents_ld = panel->padded_extent,
		.extent = panel->extent,
		.depth = panel->depth,
		.padded_extent = panel->padded_extent,
		.padded_depth = panel->padded_depth,
	};
	if (!launch->tiers.fp16x3)
		return true;
	if (!take_floats(launch, parts, elements + slabs * panel->padded_extent))
		return false;
	split->planes = (uint16_t *)(uintptr_t)*parts;
	split->exponents = (int32_t *)(uintptr_t)*parts + elements;
	return true;
}

static int64_t flags_of(const struct sb_pack_args *panel)
{
	return panel->padded_extent / FLAGGED;
}

static bool take_emulated(struct sb_bench_launch *launch)
{
	int64_t words_a = flags_of(&launch->pack_a), words_b = flags_of(&launch->pack_b);

	launch->flag_words = (size_t)(words_a + words_b);
	if (!take_parts(launch, &launch->parts[0], &launch->pack_a, &launch->split_a) ||
	    !take_parts(launch, &launch->parts[1], &launch->pack_b, &launch->split_b) ||
	    !take_floats(launch, &launch->flags, words_a + words_b))
		return false;
	launch->split_a.flags = (uint32_t *)(uintptr_t)launch->flags;
	launch->split_b.flags = launch->split_a.flags + words_a;
	launch->gemm.planes_a = launch->split_a.planes;
	launch->gemm.planes_b = launch->split_b.planes;
	launch->gemm.exponents_a = launch->split_a.exponents;
	launch->gemm.exponents_b = launch->split_b.exponents;
	launch->gemm.exponents_a_ld = launch->split_a.exponents_ld;
	launch->gemm.exponents_b_ld = launch->split_b.exponents_ld;
	launch->gemm.flags_a = launch->split_a.flags;
	launch->gemm.flags_b = launch->split_b.flags;
	return sb_bench_launch_split(launch);
}

static enum sb_status prepare_kernels(struct sb_bench_launch *launch)
{
	const struct sb_target target = sb_launch_target(launch->device);
	const struct sb_bench_shape *shape = launch->product->shape;
	enum sb_fallback why;

	launch->emulated = launch->kernel->arithmetic != SB_STRICT;
	if (!launch->emulated)
		return sb_launch_prepare(launch->device, launch->kernel);
	if (!sb_registry_tiers_of(launch->kernel, shape->m, shape->n, shape->k, &target,
				  &launch->tiers, &why))
		return SB_DECLINE;
	return sb_launch_prepare_tiers(launch->device, &launch->tiers);
}

bool sb_bench_launch_prepare(struct sb_bench_launch *launch, const struct sb_kernel *kernel)
{
	const struct sb_bench_shape *shape = launch->product->shape;
	const struct sb_bench_extent *extent = &launch->product->extent;
	bool panels = kernel->form != SB_FORM_ANY;
	int bm, bn;

	launch->kernel = kernel;
	launch->panel_a = launch->panel_b = launch->work = 0;
	launch->parts[0] = launch->parts[1] = launch->flags = 0;
	launch->split_a = launch->split_b = (struct sb_split_args){.planes = NULL};
	if (prepare_kernels(launch) != SB_OK)
		return false;
	bm = launch->emulated ? launch->tiers.bm : kernel->bm;
	bn = launch->emulated ? launch->tiers.bn : kernel->bn;
	launch->pack_a = describe(launch, launch->a, shape->m, bm, shape->trans_a, extent->lda);
	launch->pack_b = describe(launch, launch->b, shape->n, bn, !shape->trans_b, extent->ldb);
	launch->gemm = (struct sb_gemm_args){
		.a = launch->pack_a.from,
		.b = launch->pack_b.from,
		.c = (float *)(uintptr_t)launch->c,
		.a_m = launch->pack_a.from_i,
		.a_k = launch->pack_a.from_k,
		.b_n = launch->pack_b.from_i,
		.b_k = launch->pack_b.from_k,
		.ldc = extent->ldc,
		.m = (int32_t)shape->m,
		.n = (int32_t)shape->n,
		.k = (int32_t)shape->k,
		.alpha = 1,
	};
	if (!take_work(launch)) {
		sb_bench_launch_unprepare(launch);
		return false;
	}
	if (!panels)
		return true;
	if (take_panels(launch) && (!launch->emulated || take_emulated(launch)))
		return true;
	sb_bench_launch_unprepare(launch);
	return false;
}

void sb_bench_launch_unprepare(struct sb_bench_launch *launch)
{
	const struct sb_driver *cu = launch->device->cu;

	/* What reads the panels must be over. */
	(void)finish(launch);
	if (launch->flags)
		(void)cu->memory_free(launch->flags);
	for (int i = 0; i < 2; i++)
		if (launch->parts[i])
			(void)cu->memory_free(launch->parts[i]);
	if (launch->work)
		(void)cu->memory_free(launch->work);
	if (launch->panel_b)
		(void)cu->memory_free(launch->panel_b);
	if (launch->panel_a)
		(void)cu->memory_free(launch->panel_a);
	launch->kernel = NULL;
}

/* Seconds a run, of `count` in a row. */
static double once(struct sb_bench_launch *launch, sb_bench_queue *queue, int count)
{
	const struct sb_driver *cu = launch->device->cu;
	float milliseconds;

	if (!poison(launch) ||
	    !fine(launch, cu->event_record(launch->start, stream(launch)), "a bench's event"))
		return -1;
	for (int i = 0; i < count; i++) {
		sb_launch_apart(launch->device, SB_STREAM_COMPUTE);
		if (!queue(launch))
			return -1;
	}
	if (!finish(launch) ||
	    !fine(launch, cu->event_elapsed(&milliseconds, launch->start, launch->end),
		  "a bench's clock"))
		return -1;
	return (double)milliseconds / 1e3 / count;
}

/* How many to run in a row, of each so many seconds; one that takes hardly any counts as `least`.
 * What the events themselves cost does not count then. */
static int in_a_row(double seconds, double sustained)
{
	const double enough = 1e-3, least = enough / 64;

	return 1 + (int)(sb_longer(sustained, enough) / sb_longer(seconds, least));
}

double sb_bench_launch_median(struct sb_bench_launch *launch, struct sb_bench_pace pace,
			      sb_bench_queue *queue)
{
	double seconds[SB_BENCH_MOST_REPEATS];
	double spent = once(launch, queue, 1);
	int count = 0, row = spent < 0 ? 1 : in_a_row(spent, pace.sustained);

	while (spent >= 0 && count < pace.repeat && (!count || spent < pace.budget)) {
		seconds[count] = once(launch, queue, row);
		if (seconds[count] < 0)
			return -1;
		spent += row * seconds[count++];
	}
	return spent < 0 ? -1 : sb_bench_middle(seconds, count);
}

bool sb_bench_launch_right(struct sb_bench_launch *launch)
{
	struct sb_bench_product product = *launch->product;

	product.reference = launch->reference;
	return down(launch, product.c) && sb_bench_right(&product);
}

bool sb_bench_launch_same(struct sb_bench_launch *launch)
{
	const float *c = launch->product->c;

	return poison(launch) && sb_bench_launch_gemm(launch) && sb_bench_launch_right(launch) &&
	       (launch->emulated ||
		memcmp(c, launch->reference, (size_t)launch->product->extent.c * sizeof *c) == 0);
}
