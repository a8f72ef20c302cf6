/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_numbers.h"

#include <math.h>

#include "bench_shape.h"

/* In (0, 1). */
static double unit(uint64_t *state)
{
	return ((double)(sb_bench_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double centred(uint64_t *state)
{
	return unit(state) - 0.5;
}

/* Each pair of uniform numbers gives two; the other one waits for the next call. */
static double normal(uint64_t *state)
{
	static double other;
	static bool waits;
	double radius, angle;

	waits = !waits;
	if (!waits)
		return other;
	radius = sqrt(-2 * log(unit(state)));
	angle = 6.283185307179586 * unit(state);
	other = radius * sin(angle);
	return radius * cos(angle);
}

static double between(uint64_t *state, double spread)
{
	return exp2(spread * centred(state));
}

typedef double draw(uint64_t *state);

static void fill_each(const struct sb_bench_operands *to, draw *a, draw *b, uint64_t *state)
{
	for (int64_t i = 0; i < to->m * to->k; i++)
		to->a[i] = (float)a(state);
	for (int64_t i = 0; i < to->k * to->n; i++)
		to->b[i] = (float)b(state);
}

static void fill_centred(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	(void)spread;
	fill_each(to, centred, centred, state);
}

static void fill_normal(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	(void)spread;
	fill_each(to, normal, normal, state);
}

static void fill_unit(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	(void)spread;
	fill_each(to, unit, unit, state);
}

static void fill_lognormal(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	for (int64_t i = 0; i < to->m * to->k; i++)
		to->a[i] = (float)exp(spread * normal(state));
	for (int64_t i = 0; i < to->k * to->n; i++)
		to->b[i] = (float)exp(spread * normal(state));
}

static void fill_wide_a(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_each(to, normal, normal, state);
	for (int64_t i = 0; i < to->m * to->k; i++)
		to->a[i] *= (float)between(state, spread);
}

static void fill_wide_b(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_each(to, normal, normal, state);
	for (int64_t i = 0; i < to->k * to->n; i++)
		to->b[i] *= (float)between(state, spread);
}

static void fill_wide(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_wide_a(to, spread, state);
	for (int64_t i = 0; i < to->k * to->n; i++)
		to->b[i] *= (float)between(state, spread);
}

/* What is large in A meets what is small in B, so that every term of a sum counts as much. */
static void fill_against(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_each(to, normal, normal, state);
	for (int64_t k = 0; k < to->k; k++) {
		double power = between(state, spread);

		for (int64_t i = 0; i < to->m; i++)
			to->a[i + k * to->m] *= (float)power;
		for (int64_t j = 0; j < to->n; j++)
			to->b[k + j * to->k] *= (float)(1 / power);
	}
}

/* A few huge columns of A meet rows of B that are zero. */
static void fill_outliers(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_each(to, normal, normal, state);
	for (int64_t k = 0; k < to->k; k += to->k / 4) {
		for (int64_t i = 0; i < to->m; i++)
			to->a[i + k * to->m] = (float)exp2(spread);
		for (int64_t j = 0; j < to->n; j++)
			to->b[k + j * to->k] = 0;
	}
}

/* The second half of each sum takes the first one away again, all but `spread` bits of it. */
static void fill_cancelling(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	int64_t half = to->k / 2;

	fill_each(to, normal, normal, state);
	for (int64_t k = 0; k < half; k++) {
		for (int64_t i = 0; i < to->m; i++)
			to->a[i + (half + k) * to->m] = to->a[i + k * to->m];
		for (int64_t j = 0; j < to->n; j++)
			to->b[half + k + j * to->k] =
				-to->b[k + j * to->k] + (float)(exp2(-spread) * normal(state));
	}
}

static void fill_graded(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_each(to, normal, normal, state);
	for (int64_t k = 0; k < to->k; k++) {
		float power = (float)exp2(-spread * (double)k / (double)to->k);

		for (int64_t i = 0; i < to->m; i++)
			to->a[i + k * to->m] *= power;
		for (int64_t j = 0; j < to->n; j++)
			to->b[k + j * to->k] *= power;
	}
}

static void fill_hilbert(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	(void)spread, (void)state;
	for (int64_t k = 0; k < to->k; k++) {
		for (int64_t i = 0; i < to->m; i++)
			to->a[i + k * to->m] = 1 / (float)(i + k + 1);
		for (int64_t j = 0; j < to->n; j++)
			to->b[k + j * to->k] = 1 / (float)(k + j + 1);
	}
}

/* A of size 2^spread, B of such a size that their product is of size 2^(spread / 4). */
static void fill_sized(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	fill_each(to, normal, normal, state);
	for (int64_t i = 0; i < to->m * to->k; i++)
		to->a[i] = (float)((double)to->a[i] * exp2(spread));
	for (int64_t i = 0; i < to->k * to->n; i++)
		to->b[i] = (float)((double)to->b[i] * exp2(-spread * 0.75));
}

/* So small that every partial sum is a whole number below 2^24: exact, in any order. */
static void fill_integers(const struct sb_bench_operands *to, double spread, uint64_t *state)
{
	double most = floor(exp2(12) / sqrt((double)to->k));

	(void)spread;
	for (int64_t i = 0; i < to->m * to->k; i++)
		to->a[i] = (float)floor(most * centred(state) * 2);
	for (int64_t i = 0; i < to->k * to->n; i++)
		to->b[i] = (float)floor(most * centred(state) * 2);
}

static const struct sb_bench_numbers rows[] = {
	{"uniform -.5...5", fill_centred, 0, true},
	{"normal", fill_normal, 0, true},
	{"uniform 0..1", fill_unit, 0, true},
	{"lognormal of sigma 3", fill_lognormal, 3, true},
	{"2^15 within rows", fill_wide_a, 15, false},
	{"2^30 within rows", fill_wide_a, 30, false},
	{"2^60 within rows", fill_wide_a, 60, false},
	{"2^15 within columns", fill_wide_b, 15, false},
	{"2^30 within columns", fill_wide_b, 30, false},
	{"2^60 within columns", fill_wide_b, 60, false},
	{"2^30 within both", fill_wide, 30, false},
	{"2^15 against each other", fill_against, 15, false},
	{"2^30 against each other", fill_against, 30, false},
	{"2^60 against each other", fill_against, 60, false},
	{"outliers of 2^20 meet zeros", fill_outliers, 20, false},
	{"outliers of 2^40 meet zeros", fill_outliers, 40, false},
	{"cancelling to 2^-12", fill_cancelling, 12, false},
	{"graded by 2^40", fill_graded, 40, false},
	{"Hilbert", fill_hilbert, 0, false},
	{"denormals of 2^-132", fill_sized, -132, false},
	{"size 2^-100", fill_sized, -100, false},
	{"size 2^100", fill_sized, 100, false},
	{"integers", fill_integers, 0, false},
};

int sb_bench_numbers_count(void)
{
	return (int)(sizeof rows / sizeof *rows);
}

const struct sb_bench_numbers *sb_bench_numbers_row(int row)
{
	return &rows[row];
}
