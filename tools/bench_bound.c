/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_bound.h"

#include "arena.h"
#include "bench_launch.h"
#include "gpu.h"
#include "settings.h"

enum { BYTES = 256 << 20 };
static const double patience = 30;

/* What the wire is measured with: one end of it each way. */
enum { DOWN, UP, WAYS };
struct ends {
	void *host[WAYS];
	sb_cu_deviceptr device[WAYS];
	sb_cu_event start[WAYS], stop[WAYS];
};

static bool take(struct sb_device *device, struct ends *ends)
{
	const struct sb_driver *cu = device->cu;

	for (int i = 0; i < WAYS; i++)
		if (cu->host_alloc(&ends->host[i], BYTES, 0) != SB_CU_SUCCESS ||
		    cu->memory_alloc(&ends->device[i], BYTES) != SB_CU_SUCCESS ||
		    cu->event_create(&ends->start[i], SB_CU_EVENT_DEFAULT) != SB_CU_SUCCESS ||
		    cu->event_create(&ends->stop[i], SB_CU_EVENT_DEFAULT) != SB_CU_SUCCESS)
			return false;
	return true;
}

static void give(struct sb_device *device, struct ends *ends)
{
	const struct sb_driver *cu = device->cu;

	for (int i = 0; i < WAYS; i++) {
		if (ends->stop[i])
			(void)cu->event_destroy(ends->stop[i]);
		if (ends->start[i])
			(void)cu->event_destroy(ends->start[i]);
		if (ends->device[i])
			(void)cu->memory_free(ends->device[i]);
		if (ends->host[i])
			(void)cu->host_free(ends->host[i]);
	}
}

static bool queue_copy(struct sb_device *device, const struct ends *ends, int way)
{
	const struct sb_driver *cu = device->cu;
	sb_cu_stream stream = device->streams[way == UP ? SB_STREAM_UP : SB_STREAM_DOWN];
	void *host = ends->host[way];

	return cu->event_record(ends->start[way], stream) == SB_CU_SUCCESS &&
	       (way == UP
			? cu->copy_up(ends->device[way], host, BYTES, stream)
			: cu->copy_down(host, ends->device[way], BYTES, stream)) == SB_CU_SUCCESS &&
	       cu->event_record(ends->stop[way], stream) == SB_CU_SUCCESS;
}

/* The longer of the ways that are asked for, by the device's clock; negative if one failed. */
static double once(struct sb_device *device, const struct ends *ends, const bool ways[WAYS])
{
	float longest = 0, milliseconds;

	for (int way = 0; way < WAYS; way++)
		if (ways[way] && !queue_copy(device, ends, way))
			return -1;
	for (int way = 0; way < WAYS; way++) {
		if (!ways[way])
			continue;
		if (sb_device_wait(device, ends->stop[way], patience) != SB_OK ||
		    device->cu->event_elapsed(&milliseconds, ends->start[way], ends->stop[way]) !=
			    SB_CU_SUCCESS)
			return -1;
		longest = milliseconds > longest ? milliseconds : longest;
	}
	return 1e-3 * (double)longest;
}

/* Bytes a second each way, of copies up, down or both at once; 0 if they failed. */
static double rate(struct sb_bench *bench, struct sb_device *device, const struct ends *ends,
		   bool up, bool down)
{
	const bool ways[WAYS] = {[DOWN] = down, [UP] = up};
	double seconds[SB_BENCH_MOST_REPEATS];

	for (int i = -1; i < bench->pace.repeat; i++) {
		double time = once(device, ends, ways);

		if (time <= 0)
			return 0;
		if (i >= 0)
			seconds[i] = time;
	}
	return BYTES / sb_bench_middle(seconds, bench->pace.repeat);
}

void sb_bench_bounds_open(struct sb_bench_bounds *bounds, struct sb_bench *bench)
{
	static const char *const columns[] = {SB_BENCH_COLUMNS, "memory",	  "kernel",
					      "#wire_ms",	"#arithmetic_ms", "#in_ms",
					      "#out_ms",	"#bound_ms",	  NULL};
	struct sb_device *device = sb_gpu_device();
	struct ends ends = {0};
	struct sb_visit visit;

	*bounds = (struct sb_bench_bounds){0};
	sb_table_open(&bounds->table, "bound", columns);
	if (!device || !sb_gpu_visit(device, &visit))
		return;
	if (take(device, &ends)) {
		bounds->wire.up = rate(bench, device, &ends, true, false);
		bounds->wire.down = rate(bench, device, &ends, false, true);
		bounds->wire.both = rate(bench, device, &ends, true, true);
	}
	give(device, &ends);
	sb_gpu_depart(device, &visit);
	if (bounds->wire.up <= 0 || bounds->wire.down <= 0 || bounds->wire.both <= 0) {
		sb_page_say(&bench->page, "pinned wire", "not measured");
		return;
	}
	bounds->device = device;
	sb_page_say(&bench->page, "pinned wire", "up %.1f GB/s, down %.1f, both at once %.1f each",
		    1e-9 * bounds->wire.up, 1e-9 * bounds->wire.down, 1e-9 * bounds->wire.both);
}

void sb_bench_bounds_close(struct sb_bench_bounds *bounds, struct sb_bench *bench)
{
	if (bounds->device)
		sb_page_table(&bench->page, &bounds->table);
}

/* The kernel alone, all of the product in one launch, its panels made before. */
static double arithmetic(struct sb_bench *bench, struct sb_device *device,
			 const struct sb_bench_product *product, const struct sb_kernel *kernel)
{
	struct sb_bench_launch launch;
	double seconds = -1;

	if (!sb_bench_launch_open(&launch, device, product, NULL))
		return -1;
	if (sb_bench_launch_prepare(&launch, kernel)) {
		seconds = sb_bench_launch_median(&launch, bench->pace, sb_bench_launch_gemm);
		sb_bench_launch_unprepare(&launch);
	}
	sb_bench_launch_close(&launch);
	return seconds;
}

static enum sb_status plan(struct sb_plan *plan, struct sb_device *device,
			   const struct sb_bench_shape *shape, enum sb_bench_memory memory,
			   const struct sb_kernel *kernel, const struct sb_wire *wire)
{
	const struct sb_target target = sb_launch_target(device);
	struct sb_tiers tiers;
	enum sb_fallback why;
	bool emulated =
		kernel->arithmetic != SB_STRICT &&
		sb_registry_tiers_of(kernel, shape->m, shape->n, shape->k, &target, &tiers, &why);
	enum sb_place place = memory == SB_BENCH_PINNED ? SB_PLACE_PINNED : SB_PLACE_PAGEABLE;
	const struct sb_plan_wish wish = {
		.m = shape->m,
		.n = shape->n,
		.k = shape->k,
		.trans_a = shape->trans_a,
		.trans_b = shape->trans_b,
		.place_a = place,
		.place_b = place,
		.place_c = place,
		.kernel = kernel,
		.tiers = emulated ? &tiers : NULL,
		.pace = {wire->up, wire->down, target.multiprocessors},
		.device_bytes = sb_arena_bound(device),
		.panels = (int)sb_settings()->panels,
	};

	return sb_plan_make(plan, &wish);
}

static void write_row(struct sb_table *table, const struct sb_bench_shape *shape,
		      enum sb_bench_memory memory, const char *kernel, const struct sb_bound *bound)
{
	sb_bench_row(table, shape);
	sb_table_cell(table, "%s", sb_bench_memory_word(memory));
	sb_table_cell(table, "%s", kernel);
	sb_bench_ms(table, bound->wire);
	sb_bench_ms(table, bound->arithmetic);
	sb_bench_ms(table, bound->in);
	sb_bench_ms(table, bound->out);
	sb_bench_ms(table, bound->seconds);
}

double sb_bench_bound(struct sb_bench_bounds *bounds, struct sb_bench *bench,
		      const struct sb_bench_product *product, enum sb_bench_memory memory,
		      const char *kernel)
{
	const struct sb_kernel *row = kernel ? sb_registry_find(kernel) : NULL;
	struct sb_device *device = bounds->device;
	struct sb_bound bound = {.seconds = -1};
	struct sb_plan made = {0};
	struct sb_visit visit;
	double seconds;

	if (!device || !row || !sb_gpu_visit(device, &visit))
		return -1;
	seconds = arithmetic(bench, device, product, row);
	if (seconds >= 0 &&
	    plan(&made, device, product->shape, memory, row, &bounds->wire) == SB_OK) {
		bound = sb_bound(&made, &bounds->wire, seconds);
		write_row(&bounds->table, product->shape, memory, kernel, &bound);
	}
	sb_plan_free(&made);
	sb_gpu_depart(device, &visit);
	return bound.seconds;
}
