/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libcublas.so.13 that multiplies on the CPU, with the signatures of cublas_v2.h and cublasXt.h,
 * so that what is measured beside us is called as the real one must be. Over the stand-in driver.
 */
#include <stddef.h>
#include <stdlib.h>

int cuStreamSynchronize(void *stream);
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream);

enum { FINE, NOT_INITIALIZED, INVALID = 7 };

static struct handle {
	void *stream;
	int devices, block;
} plain, xt;

static float at(const float *x, int op, size_t i, size_t j, size_t ld)
{
	return op ? x[j + i * ld] : x[i + j * ld];
}

static void multiply(int op_a, int op_b, size_t m, size_t n, size_t k, const float *a, size_t lda,
		     const float *b, size_t ldb, float *c, size_t ldc)
{
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < m; i++) {
			float sum = 0;

			for (size_t p = 0; p < k; p++)
				sum += at(a, op_a, i, p, lda) * at(b, op_b, p, j, ldb);
			c[i + j * ldc] = sum;
		}
}

int cublasCreate_v2(void **handle)
{
	*handle = &plain;
	return FINE;
}

int cublasSetStream_v2(struct handle *handle, void *stream)
{
	handle->stream = stream;
	return handle == &plain ? FINE : NOT_INITIALIZED;
}

int cublasSgemm_v2(struct handle *handle, int op_a, int op_b, int m, int n, int k,
		   const float *alpha, unsigned long long a, int lda, unsigned long long b, int ldb,
		   const float *beta, unsigned long long c, int ldc)
{
	size_t a_size = (size_t)lda * (size_t)(op_a ? m : k) * sizeof(float);
	size_t b_size = (size_t)ldb * (size_t)(op_b ? k : n) * sizeof(float);
	size_t c_size = (size_t)ldc * (size_t)n * sizeof(float);
	float *memory = malloc(a_size + b_size + c_size);
	float *b_host = memory + a_size / sizeof(float), *c_host = b_host + b_size / sizeof(float);

	if (handle != &plain || *alpha != 1 || *beta != 0 || !memory)
		return INVALID;
	cuMemcpyDtoHAsync_v2(memory, a, a_size, handle->stream);
	cuMemcpyDtoHAsync_v2(b_host, b, b_size, handle->stream);
	cuMemcpyDtoHAsync_v2(c_host, c, c_size, handle->stream);
	cuStreamSynchronize(handle->stream);
	multiply(op_a, op_b, (size_t)m, (size_t)n, (size_t)k, memory, (size_t)lda, b_host,
		 (size_t)ldb, c_host, (size_t)ldc);
	cuMemcpyHtoDAsync_v2(c, c_host, c_size, handle->stream);
	cuStreamSynchronize(handle->stream);
	free(memory);
	return FINE;
}

int cublasXtCreate(void **handle)
{
	*handle = &xt;
	return FINE;
}

int cublasXtDeviceSelect(struct handle *handle, int count, int *ordinals)
{
	handle->devices = count;
	return handle == &xt && count == 1 && ordinals[0] == 0 ? FINE : INVALID;
}

int cublasXtSetBlockDim(struct handle *handle, int size)
{
	handle->block = size;
	return handle == &xt && size > 0 ? FINE : INVALID;
}

int cublasXtSgemm(struct handle *handle, int op_a, int op_b, size_t m, size_t n, size_t k,
		  const float *alpha, const float *a, size_t lda, const float *b, size_t ldb,
		  const float *beta, float *c, size_t ldc)
{
	if (handle != &xt || !xt.devices || !xt.block || *alpha != 1 || *beta != 0)
		return INVALID;
	multiply(op_a, op_b, m, n, k, a, lda, b, ldb, c, ldc);
	return FINE;
}
