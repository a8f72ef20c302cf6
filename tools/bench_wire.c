/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench's table of the wire: how fast copies of several sizes go, staged and direct. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "clock.h"
#include "gpu.h"
#include "copy_threads.h"
#include "transfer.h"

enum { MOST = 256 << 20, LINE = 1 << 20 };
static const double patience = 30;

static const size_t sizes[] = {1 << 20, 4 << 20, 16 << 20, 64 << 20, MOST};

/* The median of the seconds that a copy takes; negative if one failed. */
static double measure(struct sb_bench_pace pace, struct sb_device *device, struct sb_lines *lines,
		      bool up, bool pinned)
{
	double seconds[SB_BENCH_MOST_REPEATS];

	for (int i = -1; i < pace.repeat; i++) {
		double start = sb_clock_now();

		if (!sb_gpu_copy(device, lines, up, pinned, patience))
			return -1;
		if (i >= 0)
			seconds[i] = sb_clock_now() - start;
	}
	return sb_bench_middle(seconds, pace.repeat);
}

static void measure_size(struct sb_bench *bench, struct sb_table *table, struct sb_device *device,
			 struct sb_lines *lines, bool pinned)
{
	for (int up = 1; up >= 0; up--) {
		double seconds = measure(bench->pace, device, lines, up, pinned);

		sb_table_cell(table, "%s", pinned ? "pinned" : "pageable");
		sb_table_cell(table, "%s", up ? "up" : "down");
		sb_table_cell(table, "%zu", sb_lines_bytes(lines) >> 20);
		sb_bench_ms(table, seconds);
		if (seconds > 0)
			sb_table_cell(table, "%.1f",
				      1e-9 * (double)sb_lines_bytes(lines) / seconds);
		else
			sb_table_cell(table, "-");
	}
}

static void measure_all(struct sb_bench *bench, struct sb_table *table, struct sb_device *device)
{
	void *memory[SB_BENCH_MEMORIES] = {malloc(MOST), NULL};
	struct sb_lines lines = {.host_pitch = LINE, .device_pitch = LINE, .width = LINE};

	if (device->cu->host_alloc(&memory[SB_BENCH_PINNED], MOST, 0) != SB_CU_SUCCESS)
		memory[SB_BENCH_PINNED] = NULL;
	if (sb_ring_prepare(device) == SB_OK && sb_arena_take(device, MOST, &lines.device) == SB_OK)
		for (int m = 0; m < SB_BENCH_MEMORIES; m++)
			for (size_t i = 0; i < sizeof sizes / sizeof *sizes && memory[m]; i++) {
				memset(memory[m], 1, MOST);
				lines.host = memory[m];
				lines.height = sizes[i] / LINE;
				measure_size(bench, table, device, &lines, m == SB_BENCH_PINNED);
			}
	if (memory[SB_BENCH_PINNED])
		(void)device->cu->host_free(memory[SB_BENCH_PINNED]);
	free(memory[SB_BENCH_PAGEABLE]);
}

void sb_bench_wire(struct sb_bench *bench)
{
	static const char *const columns[] = {"memory", "way", "#MiB", "#ms", "#GB/s", NULL};
	struct sb_device *device = sb_gpu_device();
	struct sb_table table;
	struct sb_visit visit;

	if (!device || !sb_gpu_visit(device, &visit)) {
		sb_page_say(&bench->page, "wire", "none: %s", sb_gpu_why_not());
		return;
	}
	sb_table_open(&table, "wire", columns);
	measure_all(bench, &table, device);
	sb_page_say(&bench->page, "copy threads", "%d and the caller", sb_copy_threads_made());
	sb_page_say(&bench->page, "slot", "%zu KiB", sb_ring_slot() >> 10);
	sb_page_table(&bench->page, &table);
	sb_gpu_depart(device, &visit);
}
