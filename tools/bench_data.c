/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_data.h"

#include <stdlib.h>
#include <string.h>

void *sb_bench_take_pageable(size_t bytes)
{
	void *memory;

	return posix_memalign(&memory, 4096, bytes) ? NULL : memory;
}

static void fill(float *to, int64_t count, uint64_t seed)
{
	for (int64_t i = 0; i < count; i++) {
		int32_t number = (int32_t)(sb_bench_random(&seed) >> 39) - (1 << 24);

		to[i] = (float)number * 0x1p-24f;
	}
}

bool sb_bench_data_open(struct sb_bench_data *data, const struct sb_bench_shapes *shapes,
			void *(*take)(size_t bytes), void (*release)(void *))
{
	struct sb_bench_extent most = {.a = 0};

	for (int row = 0; row < shapes->count; row++) {
		struct sb_bench_extent extent = sb_bench_extent(&shapes->rows[row]);

		most.a = extent.a > most.a ? extent.a : most.a;
		most.b = extent.b > most.b ? extent.b : most.b;
		most.c = extent.c > most.c ? extent.c : most.c;
	}
	*data = (struct sb_bench_data){
		.a = take((size_t)most.a * sizeof(float)),
		.b = take((size_t)most.b * sizeof(float)),
		.c = take((size_t)most.c * sizeof(float)),
		.reference = sb_bench_take_pageable((size_t)most.c * sizeof(float)),
		.release = release,
	};
	if (!data->a || !data->b || !data->c || !data->reference) {
		sb_bench_data_close(data);
		return false;
	}
	fill(data->a, most.a, 1);
	fill(data->b, most.b, 2);
	return true;
}

void sb_bench_data_close(struct sb_bench_data *data)
{
	free(data->reference);
	if (data->c)
		data->release(data->c);
	if (data->b)
		data->release(data->b);
	if (data->a)
		data->release(data->a);
	*data = (struct sb_bench_data){NULL, NULL, NULL, NULL, NULL};
}

struct sb_bench_product sb_bench_product(const struct sb_bench_data *data,
					 const struct sb_bench_shape *shape)
{
	return (struct sb_bench_product){shape, sb_bench_extent(shape), data->a, data->b, data->c,
					 NULL};
}

void sb_bench_poison(const struct sb_bench_product *product)
{
	uint32_t *c = (uint32_t *)(void *)product->c;

	for (int64_t i = 0; i < product->extent.c; i++)
		c[i] = SB_BENCH_POISON;
}

bool sb_bench_whole(const struct sb_bench_product *product, const float *c)
{
	const int64_t m = product->shape->m, n = product->shape->n, ld = product->extent.ldc;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < ld; i++) {
			uint32_t bits;

			memcpy(&bits, &c[i + j * ld], sizeof bits);
			if ((bits == SB_BENCH_POISON) != (i >= m))
				return false;
		}
	return true;
}

/* The square root of a positive number by Newton's steps: the command needs no libm for one root.
 */
static double root(double square)
{
	double x = square > 1 ? square : 1;

	if (square <= 0)
		return 0;
	for (int step = 0; step < 1100; step++) {
		double next = (x + square / x) / 2;

		if (next >= x)
			break;
		x = next;
	}
	return x;
}

double sb_bench_difference(const struct sb_bench_product *product)
{
	const int64_t m = product->shape->m, n = product->shape->n, ld = product->extent.ldc;
	double apart = 0, whole = 0;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			double value = (double)product->reference[i + j * ld];
			double difference = (double)product->c[i + j * ld] - value;

			apart += difference * difference;
			whole += value * value;
		}
	return whole > 0 ? root(apart / whole) : root(apart);
}

bool sb_bench_right(const struct sb_bench_product *product)
{
	/* Far above what any order of summation, or TF32, makes of it, and far below another
	 * product. */
	const double limit = 1e-2;

	return sb_bench_whole(product, product->c) &&
	       (!product->reference || sb_bench_difference(product) < limit);
}
