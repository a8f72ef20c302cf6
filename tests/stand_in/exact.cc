/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact engine: its table of kernels, and the scheduler that runs a grid block by block. */
#include "exact_state.h"
#include "exact_calls.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Every kernel and its static shared memory, from the sources compiled for the host. */
#define SB_GEMM_NAME(method, BM, BN, BK) sgemm_##method##_##BM##x##BN##x##BK
#define SB_PACK_NAME(method, BI, BK)	 pack_##method##_##BI##x##BK
#define SB_DECLARE(name, args_type)                                                                \
	extern "C" void name(const args_type);                                                     \
	extern "C" const unsigned name##_static;                                                   \
	extern "C" const unsigned name##_pairs __attribute__((weak));
#define SB_DECLARE_NAME(name, args_type) SB_DECLARE(name, args_type)
#define SB_KERNEL(method, BM, BN, BK, ...)                                                         \
	SB_DECLARE_NAME(SB_GEMM_NAME(method, BM, BN, BK), sb_gemm_args)
#define SB_PACK(method, BI, BK, ...) SB_DECLARE_NAME(SB_PACK_NAME(method, BI, BK), sb_pack_args)
#define SB_SUM_NAME(method, BE, BS)  sum_##method##_##BE##x##BS
#define SB_SUM(method, BE, BS, ...)  SB_DECLARE_NAME(SB_SUM_NAME(method, BE, BS), sb_gemm_args)
#define SB_TENSOR(method, BM, BN, BK, ...)                                                         \
	SB_DECLARE_NAME(SB_GEMM_NAME(method, BM, BN, BK), sb_gemm_args)
#define SB_SPLIT_NAME(method, BI, BK) split_##method##_##BI##x##BK
#define SB_SPLIT(method, BI, BK, ...) SB_DECLARE_NAME(SB_SPLIT_NAME(method, BI, BK), sb_split_args)
#include "kernels.def"

struct row {
	struct sb_exact_kernel kernel;
	void (*gemm)(const sb_gemm_args);
	void (*pack)(const sb_pack_args);
	void (*split)(const sb_split_args);
	const unsigned *static_shared, *pairs; /* pairs is NULL where blocks run alone */
};

#define SB_ROW(name, args_type, threads, dynamic, arch, gemm, pack, split)                         \
	{{#name, sizeof(args_type), threads, 0, dynamic, arch, 1},                                 \
	 gemm,                                                                                     \
	 pack,                                                                                     \
	 split,                                                                                    \
	 &name##_static,                                                                           \
	 &name##_pairs},
#define SB_ROW_NAME(name, args_type, threads, dynamic, arch, gemm, pack, split)                    \
	SB_ROW(name, args_type, threads, dynamic, arch, gemm, pack, split)
static row rows[] = {
#define SB_KERNEL(method, BM, BN, BK, threads, blocks, TM, TN, stages, dynamic, form, arch, text)  \
	SB_ROW_NAME(SB_GEMM_NAME(method, BM, BN, BK), sb_gemm_args, threads, dynamic, arch,        \
		    SB_GEMM_NAME(method, BM, BN, BK), nullptr, nullptr)
#define SB_TENSOR(method, BM, BN, BK, threads, cluster, stages, dynamic, form, arch, text)         \
	SB_ROW_NAME(SB_GEMM_NAME(method, BM, BN, BK), sb_gemm_args, threads, dynamic, arch,        \
		    SB_GEMM_NAME(method, BM, BN, BK), nullptr, nullptr)
#define SB_PACK(method, BI, BK, threads, text)                                                     \
	SB_ROW_NAME(SB_PACK_NAME(method, BI, BK), sb_pack_args, threads, 0, 75, nullptr,           \
		    SB_PACK_NAME(method, BI, BK), nullptr)
#define SB_SUM(method, BE, BS, threads, text)                                                      \
	SB_ROW_NAME(SB_SUM_NAME(method, BE, BS), sb_gemm_args, threads, 0, 75,                     \
		    SB_SUM_NAME(method, BE, BS), nullptr, nullptr)
#define SB_SPLIT(method, BI, BK, threads, text)                                                    \
	SB_ROW_NAME(SB_SPLIT_NAME(method, BI, BK), sb_split_args, threads, 0, 80, nullptr,         \
		    nullptr, SB_SPLIT_NAME(method, BI, BK))
#include "kernels.def"
};

thread_local sb_exact_position sb_exact_now;
thread_local sb_exact_launch *sb_exact_launch_now;
static thread_local char message[512];
static thread_local bool in_fiber;

const char *sb_exact_message()
{
	return message;
}

static const row *find(const char *name)
{
	for (row &r : rows)
		if (strcmp(r.kernel.name, name) == 0)
			return &r;
	return nullptr;
}

const struct sb_exact_kernel *sb_exact_find(const char *name)
{
	/* The static sizes are constants of other files, known when this file's are not. */
	static const bool filled = [] {
		for (row &r : rows) {
			r.kernel.static_shared = *r.static_shared > 1 ? *r.static_shared : 0;
			r.kernel.together = r.pairs != nullptr ? 2 : 1;
		}
		return true;
	}();
	const row *r = find(name);

	(void)filled;
	return r != nullptr ? &r->kernel : nullptr;
}

void sb_exact_fail(int result, sb_exact_line line, const char *format, ...)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	va_list list;

	if (launch->result == SB_EXACT_OK) {
		const char *slash = strrchr(line.file, '/');
		int used = snprintf(message, sizeof message,
				    "%s: block %u thread %d: %s:%d: ", launch->kernel->name,
				    sb_exact_now.block, sb_exact_now.thread,
				    slash != nullptr ? slash + 1 : line.file, line.line);

		launch->result = result;
		va_start(list, format);
		vsnprintf(message + used, sizeof message - (size_t)used, format, list);
		va_end(list);
	}
	while (in_fiber)
		sb_exact_wait(SB_ENDED);
}

void sb_exact_wait(sb_exact_waits waits)
{
	sb_exact_thread &self = sb_exact_self();

	self.waits = waits;
	sb_fiber_leave(&self.fiber);
}

void sb_exact_barrier()
{
	sb_exact_wait(SB_AT_BARRIER);
}

void sb_exact_warp_barrier()
{
	sb_exact_wait(SB_AT_WARP_BARRIER);
}

void sb_exact_cluster_barrier()
{
	sb_exact_wait(SB_AT_CLUSTER_BARRIER);
}

void sb_exact_group_barrier(int id, int threads, sb_exact_line line)
{
	if (id < 1 || id > 15 || threads < 32 || threads % 32 != 0 ||
	    threads > (int)sb_exact_launch_now->threads)
		sb_exact_fail(SB_EXACT_DEADLOCK, line, "a barrier %d of %d threads", id, threads);
	sb_exact_self().group = (unsigned)id;
	sb_exact_self().group_threads = (unsigned)threads;
	sb_exact_wait(SB_AT_GROUP_BARRIER);
}

/* A warpgroup's four warps share 65536 registers with the block's others. */
void sb_exact_registers(unsigned count, bool more, sb_exact_line line)
{
	unsigned &held = sb_exact_self().registers;

	if (count % 8 != 0 || count < 24 || count > 256 || (more ? count < held : count > held))
		sb_exact_fail(SB_EXACT_LAUNCH, line, "from %u registers a thread to %u", held,
			      count);
	held = count;
}

void sb_exact_global(const void *p, unsigned bytes, bool write, sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;

	if (reinterpret_cast<uintptr_t>(p) % bytes != 0)
		sb_exact_fail(SB_EXACT_GLOBAL, line, "%u bytes at %p", bytes, p);
	if (!launch->memory->check(launch->memory->context, p, bytes, write))
		sb_exact_fail(SB_EXACT_GLOBAL, line, "%s of %u bytes at %p, which it may not",
			      write ? "write" : "read", bytes, p);
	if (launch->counts != nullptr)
		sb_exact_count(launch, false, p, bytes, write, line);
}

void sb_exact_flag(unsigned *flag, bool raise, sb_exact_line line)
{
	sb_exact_global(flag, sizeof *flag, raise, line);
	if (raise)
		*flag = 1;
	else if (*flag == 0)
		sb_exact_fail(SB_EXACT_DEADLOCK, line,
			      "waits for a flag that no block before it raises");
}

struct arguments {
	alignas(64) unsigned char bytes[sizeof(sb_gemm_args)];
	const row *kernel;
};

static void body(void *argument)
{
	const arguments *args = static_cast<const arguments *>(argument);

	if (args->kernel->gemm != nullptr)
		args->kernel->gemm(*reinterpret_cast<const sb_gemm_args *>(args->bytes));
	else if (args->kernel->pack != nullptr)
		args->kernel->pack(*reinterpret_cast<const sb_pack_args *>(args->bytes));
	else
		args->kernel->split(*reinterpret_cast<const sb_split_args *>(args->bytes));
	for (;;)
		sb_exact_wait(SB_ENDED);
}

static void at(const sb_exact_launch *launch, unsigned fiber)
{
	sb_exact_now.fiber = (int)fiber;
	sb_exact_now.thread = (int)(fiber % launch->threads);
	sb_exact_now.rank = (int)(fiber / launch->threads);
	sb_exact_now.block = launch->block + fiber / launch->threads;
}

static void enter(sb_exact_launch *launch, unsigned fiber)
{
	launch->thread[fiber].waits = SB_RUNS;
	in_fiber = true;
	sb_fiber_enter(&launch->thread[fiber].fiber);
	in_fiber = false;
}

static void start(sb_exact_launch *launch, arguments *args)
{
	sb_exact_shared_begin(launch);
	for (unsigned f = 0; f < launch->fibers; f++) {
		sb_exact_thread &t = launch->thread[f];

		t.rank = f / launch->threads;
		t.waits = SB_RUNS;
		t.fences.clear();
		t.sums.clear();
		t.product_groups.clear();
		t.products = t.product_fences = 0;
		t.registers = std::min(255u, 65536 / launch->threads / 8 * 8);
		sb_fiber_start(&t.fiber, body, args);
	}
	launch->warpgroup.assign(launch->warpgroups, sb_exact_warpgroup());
}

/* What is left when nobody runs any more. */
static void end(sb_exact_launch *launch)
{
	uint64_t registers = 0;

	for (unsigned f = 0; f < launch->fibers; f++) {
		at(launch, f);
		registers += launch->thread[f].registers;
		if (launch->thread[f].waits != SB_ENDED) {
			sb_exact_fail(SB_EXACT_DEADLOCK, {"", 0}, "the block waits for ever");
			return;
		}
	}
	if (!sb_exact_copy_idle(launch))
		sb_exact_fail(SB_EXACT_DEADLOCK, {"", 0}, "the block leaves a copy in flight");
	if (!sb_exact_products_idle(launch))
		sb_exact_fail(SB_EXACT_DEADLOCK, {"", 0}, "the block leaves a product in flight");
	if (registers > 65536 * launch->together)
		sb_exact_fail(SB_EXACT_LAUNCH, {"", 0}, "the threads have %lu registers",
			      (unsigned long)registers);
	if (launch->counts != nullptr)
		sb_exact_count_close(launch);
}

/* Clusters of even number run their fibers upwards, the others downwards. */
static void run_cluster(sb_exact_launch *launch, arguments *args)
{
	bool upwards = launch->block / launch->together % 2 == 0, progress = true;

	start(launch, args);
	while (progress && launch->result == SB_EXACT_OK) {
		progress = false;
		for (unsigned s = 0; s < launch->fibers && launch->result == SB_EXACT_OK; s++) {
			unsigned f = upwards ? s : launch->fibers - 1 - s;
			sb_exact_thread &thread = launch->thread[f];

			at(launch, f);
			if (thread.waits == SB_AT_COPY &&
			    sb_exact_copy_poll(launch, thread.barrier, thread.parity, (int)f))
				thread.waits = SB_RUNS;
			if (thread.waits != SB_RUNS || launch->result != SB_EXACT_OK)
				continue;
			progress = true;
			enter(launch, f);
		}
		if (launch->result == SB_EXACT_OK)
			progress = sb_exact_release(launch) || progress;
	}
	if (launch->result == SB_EXACT_OK)
		end(launch);
}

static bool take(sb_exact_launch *launch)
{
	launch->stride = (launch->shared_bytes + 2047) / 1024 * 1024;
	launch->thread = std::vector<sb_exact_thread>(launch->fibers);
	launch->shared = static_cast<unsigned char *>(
		aligned_alloc(1024, launch->stride * launch->together));
	for (sb_exact_thread &t : launch->thread)
		if (!sb_fiber_take(&t.fiber))
			return false;
	return launch->shared != nullptr;
}

static void give(sb_exact_launch *launch)
{
	for (sb_exact_thread &t : launch->thread)
		sb_fiber_give(&t.fiber);
	free(launch->shared);
}

int sb_exact_run(const char *kernel, unsigned grid, unsigned threads, unsigned dynamic_shared,
		 const void *args, size_t args_bytes, const struct sb_exact_memory *memory,
		 struct sb_exact_counts *counts)
{
	const struct sb_exact_kernel *k = sb_exact_find(kernel);
	sb_exact_launch launch = sb_exact_launch();
	arguments arguments;

	message[0] = '\0';
	if (k == nullptr) {
		snprintf(message, sizeof message, "%s: no such kernel", kernel);
		return SB_EXACT_UNKNOWN;
	}
	if (threads != k->threads || dynamic_shared < k->dynamic_shared ||
	    args_bytes != k->args_bytes || grid == 0 || grid % k->together != 0) {
		snprintf(message, sizeof message,
			 "%s: launched with %u blocks of %u threads, %u bytes, %zu of arguments",
			 kernel, grid, threads, dynamic_shared, args_bytes);
		return SB_EXACT_LAUNCH;
	}
	arguments.kernel = find(kernel);
	memcpy(arguments.bytes, args, args_bytes);
	launch.kernel = k;
	launch.memory = memory;
	launch.together = k->together;
	launch.threads = threads;
	launch.warps = (threads + 31) / 32;
	launch.fibers = threads * k->together;
	launch.warpgroups = threads % 128 == 0 ? launch.fibers / 128 : 0;
	launch.shared_bytes = k->static_shared + dynamic_shared;
	launch.counts = counts;
	sb_exact_now = sb_exact_position();
	sb_exact_launch_now = &launch;
	if (counts != nullptr)
		sb_exact_count_begin(&launch);
	if (!take(&launch))
		sb_exact_fail(SB_EXACT_LAUNCH, {"", 0}, "no memory for the block");
	sb_exact_now.blocks = grid;
	for (; launch.block < grid && launch.result == SB_EXACT_OK; launch.block += k->together)
		run_cluster(&launch, &arguments);
	if (counts != nullptr)
		counts->fmas = sb_exact_now.fmas;
	give(&launch);
	sb_exact_launch_now = nullptr;
	return launch.result;
}
