/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules and functions. Any image is taken, since the kernels that run are the stand-in's own:
 * those of kernels.def, by name. What the compiler alone knows (registers) is a plausible guess.
 */
#include <stdlib.h>
#include <string.h>
#include "exact.h"
#include "stand_in_world.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MIN(a, b)    ((a) < (b) ? (a) : (b))

/* A thread holds its sums twice (the chain and the slabs') and what they are made of. */
#define REGISTERS(threads, tm, tn)                                                                 \
	MIN(255, MIN(65536 / (threads), 40 + 2 * ((tm) * (tn) + (tm) + (tn))))

/* By its first letters and its length: strcmp() is no constant. */
#define METHOD_IS(method, first, second, word)                                                     \
	(sizeof #method == sizeof word && #method[0] == (first) && #method[1] == (second))

static const struct kernel kernels[] = {
#define SB_KERNEL(method, BM, BN, BK, threads, blocks, TM, TN, stages, dynamic, form, arch, text)  \
	{"sgemm_" #method "_" #BM "x" #BN "x" #BK,                                                 \
	 KERNEL_GEMM,                                                                              \
	 threads,                                                                                  \
	 BM,                                                                                       \
	 BN,                                                                                       \
	 BK,                                                                                       \
	 dynamic,                                                                                  \
	 REGISTERS(threads, TM, TN),                                                               \
	 (dynamic) ? 0 : 4 * (stages) * (BM + BN) * (BK),                                          \
	 arch,                                                                                     \
	 FORM_##form,                                                                              \
	 METHOD_IS(method, 'b', 'u', "bulk") || METHOD_IS(method, 's', 'l', "slab") ||             \
		 METHOD_IS(method, 'p', 'e', "persistent"),                                        \
	 METHOD_IS(method, 's', 'l', "slab") || METHOD_IS(method, 's', 'p', "split") ||            \
		 METHOD_IS(method, 't', 'h', "thin") || METHOD_IS(method, 'g', 'a', "gather") ||   \
		 METHOD_IS(method, 'r', 'a', "rank"),                                              \
	 METHOD_IS(method, 'p', 'e', "persistent"),                                                \
	 METHOD_IS(method, 'p', 'l', "plain") || METHOD_IS(method, 'b', 'u', "bulk") ||            \
		 METHOD_IS(method, 'm', 'u', "multistage") ||                                      \
		 METHOD_IS(method, 'p', 'e', "persistent") ||                                      \
		 METHOD_IS(method, 's', 'l', "slab") || METHOD_IS(method, 's', 'p', "split") ||    \
		 METHOD_IS(method, 't', 'h', "thin") || METHOD_IS(method, 'g', 'a', "gather") ||   \
		 METHOD_IS(method, 'r', 'a', "rank"),                                              \
	 1,                                                                                        \
	 false,                                                                                    \
	 stages},
/* A method that is not named here does not compile. */
#define KIND_OF_fp16x3	      KERNEL_FP16X3
#define KIND_OF_fp16x3cut     KERNEL_FP16X3
#define KIND_OF_bf16x6	      KERNEL_BF16X6
#define KIND_OF_bf16x6cut     KERNEL_BF16X6
#define KIND_OF_bf16x6sync    KERNEL_BF16X6
#define KIND_OF_bf16x6synccut KERNEL_BF16X6
#define CUTS_fp16x3	      false
#define CUTS_fp16x3cut	      true
#define CUTS_bf16x6	      false
#define CUTS_bf16x6cut	      true
#define CUTS_bf16x6sync	      false
#define CUTS_bf16x6synccut    true
/* In whole registers of a multiprocessor, one block of which fills it. */
#define SB_TENSOR(method, BM, BN, BK, threads_, cluster_, stages, dynamic_, form, arch_, text)     \
	{.name = "sgemm_" #method "_" #BM "x" #BN "x" #BK,                                         \
	 .kind = KIND_OF_##method,                                                                 \
	 .threads = threads_,                                                                      \
	 .tile_m = BM,                                                                             \
	 .tile_n = BN,                                                                             \
	 .tile_k = BK,                                                                             \
	 .dynamic = dynamic_,                                                                      \
	 .registers = MIN(255, 65536 / (threads_)),                                                \
	 .arch = arch_,                                                                            \
	 .panels = FORM_##form,                                                                    \
	 .bulk = FORM_##form && (METHOD_IS(method, 'b', 'f', "bf16x6") ||                          \
				 METHOD_IS(method, 'b', 'f', "bf16x6cut")),                        \
	 .cuts = CUTS_##method,                                                                    \
	 .cluster = cluster_},
#define SB_SPLIT(method, BI, BK, threads_, text)                                                   \
	{.name = "split_" #method "_" #BI "x" #BK,                                                 \
	 .kind = KERNEL_SPLIT,                                                                     \
	 .threads = threads_,                                                                      \
	 .tile_m = BI,                                                                             \
	 .tile_k = BK,                                                                             \
	 .registers = 64,                                                                          \
	 .static_shared = 4224,                                                                    \
	 .arch = 80},
#define SB_PACK(method, BI, BK, threads_, text)                                                    \
	{.name = "pack_" #method "_" #BI "x" #BK,                                                  \
	 .kind = KERNEL_PACK,                                                                      \
	 .threads = threads_,                                                                      \
	 .tile_m = BI,                                                                             \
	 .tile_k = BK,                                                                             \
	 .registers = 32,                                                                          \
	 .static_shared = 4224,                                                                    \
	 .arch = 75},
#define SB_SUM(method, BE, BS, threads_, text)                                                     \
	{.name = "sum_" #method "_" #BE "x" #BS,                                                   \
	 .kind = KERNEL_SUM,                                                                       \
	 .threads = threads_,                                                                      \
	 .tile_m = BE,                                                                             \
	 .registers = 40,                                                                          \
	 .static_shared = 8192,                                                                    \
	 .arch = 75},
#define FORM_ANY    false
#define FORM_PANELS true
#define FORM_PLANES false
#include "../../kernels/kernels.def"
};

unsigned kernel_static_shared(const struct kernel *kernel)
{
	const struct sb_exact_kernel *exact = sb_exact_find(kernel->name);

	return exact ? exact->static_shared : kernel->static_shared;
}

sb_cu_result stand_in_module_load(sb_cu_module *module, const void *image)
{
	sb_cu_result error = world_enter(SLOT_module_load);
	struct CUctx_st *top = context_top();
	struct CUmod_st *made;

	if (error)
		return error;
	if (!top)
		return world_leave(SB_CU_ERROR_INVALID_CONTEXT);
	if (!image)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	made = calloc(1, sizeof *made);
	if (!made)
		return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
	made->tag = TAG_LIVE;
	made->context = top;
	made->next = world.modules;
	world.modules = made;
	world.live_modules++;
	*module = made;
	return world_leave(0);
}

static bool live(sb_cu_module module)
{
	if ((uintptr_t)module > 4096 && module->tag == TAG_LIVE)
		return true;
	world_violation("%p is used as a module and is none", (void *)module);
	return false;
}

sb_cu_result stand_in_module_unload(sb_cu_module module)
{
	sb_cu_result error = world_enter(SLOT_module_unload);

	if (error)
		return error;
	if (!live(module))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	error = stream_finish_context(module->context);
	module->tag = TAG_DEAD;
	world.live_modules--;
	return world_leave(error);
}

void module_clear(struct CUctx_st *context)
{
	for (struct CUmod_st *m = world.modules; m; m = m->next) {
		if (m->context != context || m->tag != TAG_LIVE)
			continue;
		m->tag = TAG_DEAD;
		world.live_modules--;
	}
}

sb_cu_result stand_in_module_function(sb_cu_function *function, sb_cu_module module,
				      const char *name)
{
	sb_cu_result error = world_enter(SLOT_module_function);
	const struct kernel *kernel = NULL;
	struct CUfunc_st *f;

	if (error)
		return error;
	if (!live(module))
		return world_leave(SB_CU_ERROR_INVALID_HANDLE);
	for (size_t i = 0; i < COUNT(kernels); i++)
		if (strcmp(kernels[i].name, name) == 0)
			kernel = &kernels[i];
	if (!kernel)
		return world_leave(SB_CU_ERROR_NOT_FOUND);
	for (f = module->functions; f && f->kernel != kernel; f = f->next)
		;
	if (!f) {
		f = calloc(1, sizeof *f);
		if (!f)
			return world_leave(SB_CU_ERROR_OUT_OF_MEMORY);
		f->kernel = kernel;
		f->module = module;
		f->dynamic_limit = 49152 - (int)kernel_static_shared(kernel);
		f->next = module->functions;
		module->functions = f;
	}
	*function = f;
	return world_leave(0);
}

sb_cu_result stand_in_function_get(int *value, int attribute, sb_cu_function function)
{
	sb_cu_result error = world_enter(SLOT_function_get);

	if (error)
		return error;
	switch (attribute) {
	case SB_CU_FUNC_MAX_THREADS_PER_BLOCK:
		*value = (int)function->kernel->threads;
		break;
	case SB_CU_FUNC_SHARED_SIZE_BYTES:
		*value = (int)kernel_static_shared(function->kernel);
		break;
	case SB_CU_FUNC_LOCAL_SIZE_BYTES:
		*value = 0;
		break;
	case SB_CU_FUNC_NUM_REGS:
		*value = (int)function->kernel->registers;
		break;
	case SB_CU_FUNC_PTX_VERSION:
	case SB_CU_FUNC_BINARY_VERSION:
		*value = (int)world.settings.cc;
		break;
	case SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = function->dynamic_limit;
		break;
	default:
		error = SB_CU_ERROR_INVALID_VALUE;
	}
	return world_leave(error);
}

static long shared_of_block(void)
{
	return world.settings.cc < 80 ? world.settings.shared : world.settings.shared - 1024;
}

sb_cu_result stand_in_function_set(sb_cu_function function, int attribute, int value)
{
	sb_cu_result error = world_enter(SLOT_function_set);

	if (error)
		return error;
	if (attribute != SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
	    value + (long)kernel_static_shared(function->kernel) > shared_of_block())
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	function->dynamic_limit = value;
	return world_leave(0);
}

sb_cu_result stand_in_occupancy(int *blocks, sb_cu_function function, int threads,
				size_t dynamic_shared)
{
	sb_cu_result error = world_enter(SLOT_occupancy);
	long shared, by_threads, by_registers, by_shared;
	int reserved = world.settings.cc < 80 ? 0 : 1024;

	if (error)
		return error;
	if (threads < 1)
		return world_leave(SB_CU_ERROR_INVALID_VALUE);
	if (threads > (int)function->kernel->threads ||
	    dynamic_shared > (size_t)function->dynamic_limit) {
		*blocks = 0;
		return world_leave(0);
	}
	shared = (long)dynamic_shared + (long)kernel_static_shared(function->kernel) + reserved;
	by_threads = device_threads_of_multiprocessor() / ((threads + 31) / 32 * 32);
	by_registers = 65536 / ((long)((function->kernel->registers + 7) / 8 * 8) * threads);
	by_shared = shared ? world.settings.shared / shared : 32;
	*blocks = (int)MIN(MIN(by_threads, 32), MIN(by_registers, by_shared));
	return world_leave(0);
}
