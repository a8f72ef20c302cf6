/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The errors of each arithmetic on every kind of numbers that `shimblas bench --accuracy` knows,
 * without a device: the strict rule and the emulated one by their oracles, whose bits are those of
 * a card, bf16x6 alone, OpenBLAS, and one chain of multiply-adds over all of k, which is what
 * cuBLAS sums on a large C. A row of comma-separated values a product. Emulated sums are in the
 * chunks of a large C, or of so many values of k.
 *
 *     errors_emulated [-c CHUNK] EXTENT K...
 *
 * Of each the Frobenius norm of the error over that of the product, and the largest error over the
 * sum of the terms' magnitudes; and how the emulated product was computed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "bench_numbers.h"
#include "blas_names.h"
#include "oracle.h"
#include "oracle_emulated.h"

/* Up to this extent all kinds of numbers are within reach, whatever k is. */
enum { ALL_KINDS = 16 };
enum { LARGE = 2048 };
enum { OPENBLAS, CHAIN, STRICT, EMULATED, BF16X6, WAYS };

static const char *const names[WAYS] = {"OpenBLAS", "one chain", "strict", "emulated", "bf16x6"};

struct trial {
	struct sb_bench_operands operands;
	double *exact, *magnitude;
	float *c[WAYS];
	int32_t chunk;
};

static void multiply_exactly(struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;

	memset(trial->exact, 0, (size_t)(o->m * o->n) * sizeof(double));
	memset(trial->magnitude, 0, (size_t)(o->m * o->n) * sizeof(double));
	for (int64_t k = 0; k < o->k; k++)
		for (int64_t j = 0; j < o->n; j++)
			for (int64_t i = 0; i < o->m; i++) {
				double term =
					(double)o->a[i + k * o->m] * (double)o->b[k + j * o->k];

				trial->exact[i + j * o->m] += term;
				trial->magnitude[i + j * o->m] += fabs(term);
			}
}

static void chain(const struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;
	float *c = trial->c[CHAIN];

	memset(c, 0, (size_t)(o->m * o->n) * sizeof *c);
	for (int64_t k = 0; k < o->k; k++)
		for (int64_t j = 0; j < o->n; j++)
			for (int64_t i = 0; i < o->m; i++)
				c[i + j * o->m] = fmaf(o->a[i + k * o->m], o->b[k + j * o->k],
						       c[i + j * o->m]);
}

static void bf16x6(const struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;
	const struct sb_gemm_args args = {
		.a = o->a,
		.b = o->b,
		.c = trial->c[BF16X6],
		.a_m = 1,
		.a_k = o->m,
		.b_n = o->k,
		.b_k = 1,
		.ldc = o->m,
		.m = (int32_t)o->m,
		.n = (int32_t)o->n,
		.k = (int32_t)o->k,
		.alpha = 1,
		.chunk = trial->chunk,
	};

	sb_oracle_bf16x6(&args);
}

static void multiply(struct trial *trial)
{
	const struct sb_bench_operands *o = &trial->operands;

	cblas_sgemm(COLUMN_MAJOR, NO_TRANS, NO_TRANS, (int)o->m, (int)o->n, (int)o->k, 1, o->a,
		    (int)o->m, o->b, (int)o->k, 0, trial->c[OPENBLAS], (int)o->m);
	chain(trial);
	sb_oracle(o->m, o->n, o->k, 1, o->a, 1, o->m, o->b, o->k, 1, 0, trial->c[STRICT], o->m);
	sb_oracle_emulated_of(trial->chunk, o->m, o->n, o->k, 1, o->a, 1, o->m, o->b, o->k, 1, 0,
			      trial->c[EMULATED], o->m);
	bf16x6(trial);
}

static double norm_of(const struct trial *trial, int way)
{
	double apart = 0, norm = 0;

	for (int64_t i = 0; i < trial->operands.m * trial->operands.n; i++) {
		double error = (double)trial->c[way][i] - trial->exact[i];

		apart += error * error;
		norm += trial->exact[i] * trial->exact[i];
	}
	return sqrt(apart / norm);
}

static double bound_of(const struct trial *trial, int way)
{
	double worst = 0;

	for (int64_t i = 0; i < trial->operands.m * trial->operands.n; i++) {
		double error = fabs((double)trial->c[way][i] - trial->exact[i]);

		if (trial->magnitude[i] > 0 && !(error / trial->magnitude[i] <= worst))
			worst = error / trial->magnitude[i];
	}
	return worst;
}

/* The extent is one tile at most, so that all of C was computed in one way. */
static const char *way_of(const struct trial *trial)
{
	size_t bytes = (size_t)(trial->operands.m * trial->operands.n) * sizeof(float);

	if (memcmp(trial->c[EMULATED], trial->c[STRICT], bytes) == 0)
		return "strict";
	return memcmp(trial->c[EMULATED], trial->c[BF16X6], bytes) == 0 ? "bf16x6" : "fp16x3";
}

static void row(struct trial *trial, const struct sb_bench_numbers *numbers)
{
	uint64_t state = (uint64_t)trial->operands.k;

	numbers->fill(&trial->operands, numbers->spread, &state);
	multiply_exactly(trial);
	multiply(trial);
	printf("%s,%lld", numbers->name, (long long)trial->operands.k);
	for (int way = 0; way < WAYS; way++)
		printf(",%.2e", norm_of(trial, way));
	for (int way = 0; way < WAYS; way++)
		printf(",%.2e", bound_of(trial, way));
	printf(",%s\n", way_of(trial));
	fflush(stdout);
}

static void *room(int64_t count, size_t size)
{
	void *found = malloc((size_t)count * size);

	if (!found)
		exit(1);
	return found;
}

static void rows(int64_t extent, int64_t k, int32_t chunk)
{
	struct trial trial = {
		.operands = {.m = extent,
			     .n = extent,
			     .k = k,
			     .a = room(extent * k, sizeof(float)),
			     .b = room(extent * k, sizeof(float))},
		.exact = room(extent * extent, sizeof(double)),
		.magnitude = room(extent * extent, sizeof(double)),
		.chunk = chunk ? chunk : sb_split_chunk(LARGE, LARGE, k),
	};

	for (int way = 0; way < WAYS; way++)
		trial.c[way] = room(extent * extent, sizeof(float));
	for (int i = 0; i < sb_bench_numbers_count(); i++)
		if (k <= 16384 || extent <= ALL_KINDS || sb_bench_numbers_row(i)->long_too)
			row(&trial, sb_bench_numbers_row(i));
	for (int way = 0; way < WAYS; way++)
		free(trial.c[way]);
	free(trial.magnitude);
	free(trial.exact);
	free(trial.operands.b);
	free(trial.operands.a);
}

int main(int argc, char **argv)
{
	const char *program = argv[0];
	int32_t chunk = 0;
	long extent;

	if (argc > 2 && strcmp(argv[1], "-c") == 0) {
		chunk = (int32_t)atol(argv[2]);
		argc -= 2;
		argv += 2;
	}
	extent = argc > 2 ? atol(argv[1]) : 0;
	if (extent < 1 || extent > 128 || chunk < 0 || chunk % SB_SPLIT_SLAB) {
		fprintf(stderr, "usage: %s [-c CHUNK] EXTENT K...\n", program);
		return 2;
	}
	printf("data,k");
	for (int way = 0; way < WAYS; way++)
		printf(",%s", names[way]);
	for (int way = 0; way < WAYS; way++)
		printf(",%s bound", names[way]);
	printf(",emulated by\n");
	for (int i = 2; i < argc; i++)
		rows(extent, atol(argv[i]), chunk);
	return 0;
}
