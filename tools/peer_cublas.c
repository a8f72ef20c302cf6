/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer_cublas.h"

#include <dlfcn.h>
#include <stddef.h>

#include "object.h"

/* The ABI of cublas_v2.h and cublasXt.h: CUBLAS_STATUS_SUCCESS, CUBLAS_OP_N, CUBLAS_OP_T. */
enum { SUCCESS = 0, OP_N = 0, OP_T = 1 };

static struct {
	int (*create)(void **handle);
	int (*set_stream)(void *handle, sb_cu_stream stream);
	int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha,
		     sb_cu_deviceptr a, int lda, sb_cu_deviceptr b, int ldb, const float *beta,
		     sb_cu_deviceptr c, int ldc);
	int (*xt_create)(void **handle);
	int (*xt_devices)(void *handle, int count, int *ordinals);
	int (*xt_block)(void *handle, int size);
	int (*xt_sgemm)(void *handle, int op_a, int op_b, size_t m, size_t n, size_t k,
			const float *alpha, const float *a, size_t lda, const float *b, size_t ldb,
			const float *beta, float *c, size_t ldc);
} cublas;

static const struct {
	size_t slot;
	const char *symbol;
} slots[] = {
	{offsetof(__typeof__(cublas), create), "cublasCreate_v2"},
	{offsetof(__typeof__(cublas), set_stream), "cublasSetStream_v2"},
	{offsetof(__typeof__(cublas), sgemm), "cublasSgemm_v2"},
	{offsetof(__typeof__(cublas), xt_create), "cublasXtCreate"},
	{offsetof(__typeof__(cublas), xt_devices), "cublasXtDeviceSelect"},
	{offsetof(__typeof__(cublas), xt_block), "cublasXtSetBlockDim"},
	{offsetof(__typeof__(cublas), xt_sgemm), "cublasXtSgemm"},
};

static const char *const libraries[] = {
	"libcublas.so.13",
	"libcublas.so.12",
	"libcublas.so",
	"/usr/local/cuda/lib64/libcublas.so",
};

static const char *path;

static bool fill(void *library)
{
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		void *function = dlsym(library, slots[i].symbol);

		if (!function)
			return false;
		*(void **)((char *)&cublas + slots[i].slot) = function;
	}
	return true;
}

const char *sb_peer_cublas_open(void)
{
	static bool tried;
	void *library = NULL;

	if (!tried)
		for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
			library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	tried = true;
	if (library && fill(library))
		path = sb_object_path((const void *)cublas.create);
	return path ? path : "no libcublas.so here";
}

const char *sb_peer_cublas_path(void)
{
	return path;
}

bool sb_peer_cublas(const struct sb_bench_product *product, sb_cu_deviceptr a, sb_cu_deviceptr b,
		    sb_cu_deviceptr c, sb_cu_stream stream)
{
	static void *handle;
	const struct sb_bench_shape *shape = product->shape;
	const float alpha = 1, beta = 0;

	if (!path || (!handle && cublas.create(&handle) != SUCCESS))
		return false;
	return cublas.set_stream(handle, stream) == SUCCESS &&
	       cublas.sgemm(handle, shape->trans_a ? OP_T : OP_N, shape->trans_b ? OP_T : OP_N,
			    (int)shape->m, (int)shape->n, (int)shape->k, &alpha, a,
			    (int)product->extent.lda, b, (int)product->extent.ldb, &beta, c,
			    (int)product->extent.ldc) == SUCCESS;
}

static bool run_xt(void *handle, const struct sb_bench_product *product)
{
	const struct sb_bench_shape *shape = product->shape;
	const float alpha = 1, beta = 0;

	return cublas.xt_sgemm(handle, shape->trans_a ? OP_T : OP_N, shape->trans_b ? OP_T : OP_N,
			       (size_t)shape->m, (size_t)shape->n, (size_t)shape->k, &alpha,
			       product->a, (size_t)product->extent.lda, product->b,
			       (size_t)product->extent.ldb, &beta, product->c,
			       (size_t)product->extent.ldc) == SUCCESS;
}

double sb_peer_cublasxt(struct sb_bench_pace pace, const struct sb_bench_product *product)
{
	static const int blocks[] = {1024, 2048, 4096};
	static void *handle;
	int first = 0;
	double best = -1;

	if (!path)
		return -1;
	if (!handle && (cublas.xt_create(&handle) != SUCCESS ||
			cublas.xt_devices(handle, 1, &first) != SUCCESS))
		return -1;
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		double seconds = cublas.xt_block(handle, blocks[i]) == SUCCESS
					 ? sb_bench_median(pace, run_xt, handle, product)
					 : -1;

		if (seconds >= 0 && (best < 0 || seconds < best))
			best = seconds;
	}
	return best;
}
