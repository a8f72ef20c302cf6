/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of the CUDA runtime that multiplies in host memory too: prints a line a step, the same
 * whoever answers its products. Exits 1 if one of them, or something of its own, is wrong.
 *
 *     cuda_runtime cuda-first|product-first
 */
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, N = 260, K = 1100, COLUMN = 102, NO = 111, YES = 112, WORDS = 1 << 16 };

void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
		 float *, int);

static int failures;
static float a[K * M], b[K * N], c[M * N];
static int words[WORDS];

static void say(const char *step, int good)
{
	printf("%s: %s\n", step, good ? "right" : "wrong");
	failures += !good;
}

static int small(int i)
{
	return (int)((unsigned)i * 2654435761u >> 20) % 7 - 3;
}

/* C = A'B: sums of whole numbers, which each side has exactly. */
static int multiply(void)
{
	for (int i = 0; i < K * M; i++)
		a[i] = (float)small(i);
	for (int i = 0; i < K * N; i++)
		b[i] = (float)small(i + 77);
	memset(c, 0xff, sizeof c);
	cblas_sgemm(COLUMN, YES, NO, M, N, K, 1, a, K, b, K, 0, c, M);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double sum = 0;

			for (int k = 0; k < K; k++)
				sum += (double)a[k + i * K] * (double)b[k + j * K];
			if ((double)c[i + j * M] != sum)
				return 0;
		}
	return 1;
}

struct own {
	int device;
	cudaStream_t stream;
	int *memory;
};

static struct own make(int device)
{
	struct own own = {.device = device};

	for (int i = 0; i < WORDS; i++)
		words[i] = 4711 + i;
	say("its own device", cudaSetDevice(device) == cudaSuccess);
	say("its own stream", cudaStreamCreate(&own.stream) == cudaSuccess);
	say("its own memory", cudaMalloc((void **)&own.memory, sizeof words) == cudaSuccess);
	say("its own copy", cudaMemcpyAsync(own.memory, words, sizeof words, cudaMemcpyHostToDevice,
					    own.stream) == cudaSuccess &&
				    cudaStreamSynchronize(own.stream) == cudaSuccess);
	return own;
}

static int as_left(const struct own *own)
{
	int device = -1, good;

	good = cudaGetDevice(&device) == cudaSuccess && device == own->device &&
	       cudaPeekAtLastError() == cudaSuccess && cudaStreamQuery(own->stream) == cudaSuccess;
	memset(words, 0, sizeof words);
	good = good &&
	       cudaMemcpy(words, own->memory, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess;
	for (int i = 0; i < WORDS; i++)
		good = good && words[i] == 4711 + i;
	return good;
}

static void capture(const struct own *own)
{
	cudaGraphExec_t run = NULL;
	cudaGraph_t graph = NULL;

	say("a capture begins",
	    cudaStreamBeginCapture(own->stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
	say("what it holds",
	    cudaMemsetAsync(own->memory, 1, sizeof words, own->stream) == cudaSuccess);
	say("products in a capture", multiply() && multiply());
	say("it ends", cudaStreamEndCapture(own->stream, &graph) == cudaSuccess && graph);
	say("it is run", cudaGraphInstantiateWithFlags(&run, graph, 0) == cudaSuccess &&
				 cudaGraphLaunch(run, own->stream) == cudaSuccess &&
				 cudaStreamSynchronize(own->stream) == cudaSuccess);
	say("what it wrote",
	    cudaMemcpy(words, own->memory, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess &&
		    words[0] == 0x01010101 && words[WORDS - 1] == 0x01010101);
	say("nothing is left of it", cudaGraphExecDestroy(run) == cudaSuccess &&
					     cudaGraphDestroy(graph) == cudaSuccess &&
					     cudaPeekAtLastError() == cudaSuccess);
}

/* An error that the program has not asked for yet is there after a product, and no other. */
static void keep_error(void)
{
	void *none = NULL;

	say("it asks for too much",
	    cudaMalloc(&none, (size_t)1 << 60) == cudaErrorMemoryAllocation);
	say("a product", multiply());
	say("the error",
	    cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
}

int main(int argc, char **argv)
{
	int devices = 0;
	struct own own;

	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "product-first") == 0)
		say("the first product", multiply());
	say("devices", cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0);
	if (devices < 1)
		return 1;
	own = make(devices - 1);
	for (int call = 0; call < 3; call++)
		say("a product", multiply() && as_left(&own));
	capture(&own);
	keep_error();
	/* On a device of the program's own, or on ours. */
	own = make(0);
	for (int call = 0; call < 3; call++)
		say("a product", multiply() && as_left(&own));
	say("no error", cudaGetLastError() == cudaSuccess);
	for (int round = 0; round < 2; round++) {
		for (int device = 0; device < devices; device++)
			say("a reset", cudaSetDevice(device) == cudaSuccess &&
					       cudaDeviceReset() == cudaSuccess);
		say("a product after it", multiply());
		own = make(0);
		say("another", multiply() && as_left(&own));
	}
	return failures != 0;
}
