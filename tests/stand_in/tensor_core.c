/* SPDX-License-Identifier: BSD-3-Clause */
#include "tensor_core.h"

#include <stddef.h>
#include <string.h>

#include "unwatched.h"

enum {
	PLACES = 10,	  /* of a factor's significand after the one */
	KEPT = 25,	  /* of an aligned term */
	NOTHING = -10000, /* the exponent of zero: never the largest, shifted out of sight */
	FLOAT_BIAS = 127,
	FLOAT_PLACES = 23,
};

static const struct format {
	int exponent_bits, places, bias;
} formats[] = {
	[SB_CORE_FP16] = {5, 10, 15},
	[SB_CORE_BF16] = {8, 7, 127},
};

/* A finite number: significand * 2^(exponent - PLACES). */
struct part {
	int32_t significand, exponent;
	bool finite, nan;
};

SB_UNWATCHED static struct part part_of(enum sb_core_format format, uint16_t bits)
{
	const struct format *f = &formats[format];
	int exponent = bits >> f->places & ((1 << f->exponent_bits) - 1);
	int places = bits & ((1 << f->places) - 1);
	struct part part = {0, NOTHING, exponent != (1 << f->exponent_bits) - 1, false};

	part.nan = !part.finite && places != 0;
	if (exponent == 0 && places == 0)
		return part;
	part.significand = (places | (exponent != 0) << f->places) << (PLACES - f->places);
	part.exponent = (exponent != 0 ? exponent : 1) - f->bias;
	if (bits >> 15)
		part.significand = -part.significand;
	return part;
}

/* total * 2^(exponent - KEPT), rounded toward zero. */
SB_UNWATCHED static inline float rounded(int64_t total, int exponent)
{
	uint64_t magnitude = (uint64_t)(total < 0 ? -total : total);
	uint32_t sign = total < 0 ? 0x80000000u : 0;
	int top, down;

	if (magnitude == 0)
		return 0;
	top = 63 - __builtin_clzll(magnitude);
	exponent += top - KEPT;
	if (exponent > FLOAT_BIAS)
		return sb_core_float(sign | 0x7f800000u);
	down = top - FLOAT_PLACES;
	if (exponent < 1 - FLOAT_BIAS) {
		down += 1 - FLOAT_BIAS - exponent;
		exponent = -FLOAT_BIAS;
	}
	magnitude = down > 63 ? 0 : down >= 0 ? magnitude >> down : magnitude << -down;
	return sb_core_float(sign | (uint32_t)(exponent + FLOAT_BIAS) << FLOAT_PLACES |
			     ((uint32_t)magnitude & 0x7fffffu));
}

/* The same; most often the places of a double are enough to tell. */
SB_UNWATCHED static inline float rounded_fast(int64_t total, int exponent)
{
	double exact = (double)total, power;
	uint64_t bits, scale;

	memcpy(&bits, &exact, sizeof bits);
	bits &= ~0x1fffffffull;
	memcpy(&exact, &bits, sizeof exact);
	scale = (uint64_t)(exponent - KEPT + 1023) << 52;
	memcpy(&power, &scale, sizeof power);
	exact *= power;
	if (exact >= 0x1p-126 || exact <= -0x1p-126)
		return (float)exact;
	return rounded(total, exponent);
}

/* A float that is finite, as a term of KEPT places at its own exponent. */
SB_UNWATCHED static inline int32_t term_of(float x, int *exponent)
{
	uint32_t bits = sb_core_bits(x);
	int field = (int)(bits >> FLOAT_PLACES & 0xff);
	int32_t significand =
		(int32_t)((bits & 0x7fffffu) | (uint32_t)(field != 0) << FLOAT_PLACES);

	*exponent = significand == 0 ? NOTHING : (field != 0 ? field : 1) - FLOAT_BIAS;
	significand *= 1 << (KEPT - FLOAT_PLACES);
	return bits >> 31 ? -significand : significand;
}

SB_UNWATCHED static inline int32_t cut(int32_t term, int places)
{
	int by = places > 31 ? 31 : places;

	return term < 0 ? -(-term >> by) : term >> by;
}

/* Where a factor or the sum is not finite. */
static float not_finite(enum sb_core_format format, const uint16_t *a, const uint16_t *b,
			ptrdiff_t b_step, float sum)
{
	bool up = sum == sb_core_float(0x7f800000u), down = sum == sb_core_float(0xff800000u);
	bool nan = sum != sum;

	for (int p = 0; p < SB_CORE_DEPTH; p++) {
		struct part x = part_of(format, a[p]), y = part_of(format, b[p * b_step]);
		bool negative = (a[p] ^ b[p * b_step]) >> 15;

		nan = nan || x.nan || y.nan || (!x.finite && y.significand == 0) ||
		      (!y.finite && x.significand == 0);
		if (!x.finite || !y.finite)
			*(negative ? &down : &up) = true;
	}
	return sb_core_float(nan || (up && down) ? 0x7fffffffu : up ? 0x7f800000u : 0xff800000u);
}

SB_UNWATCHED static bool is_finite(float x)
{
	return (sb_core_bits(x) >> FLOAT_PLACES & 0xff) != 0xff;
}

float sb_tensor_core_dot(enum sb_core_format format, const uint16_t *a, const uint16_t *b,
			 float sum)
{
	int32_t product[SB_CORE_DEPTH];
	int exponent[SB_CORE_DEPTH], own, largest;
	int32_t term = term_of(sum, &own);
	int64_t total;

	if (!is_finite(sum))
		return not_finite(format, a, b, 1, sum);
	largest = own;
	for (int p = 0; p < SB_CORE_DEPTH; p++) {
		struct part x = part_of(format, a[p]), y = part_of(format, b[p]);

		if (!x.finite || !y.finite)
			return not_finite(format, a, b, 1, sum);
		product[p] = x.significand * y.significand * (1 << (KEPT - 2 * PLACES));
		exponent[p] = x.exponent + y.exponent;
		largest = exponent[p] > largest ? exponent[p] : largest;
	}
	total = cut(term, largest - own);
	for (int p = 0; p < SB_CORE_DEPTH; p++)
		total += cut(product[p], largest - exponent[p]);
	return rounded(total, largest);
}

/* Vectors of the compiler, which it makes of whatever instructions the machine has. */
typedef int32_t eight_t __attribute__((vector_size(4 * SB_CORE_WIDTH)));

/* part_of() eight times; whether all are finite. */
SB_UNWATCHED static bool parts_of(enum sb_core_format format, const uint16_t *from,
				  int32_t *significands, int32_t *exponents)
{
	const int places = formats[format].places, bias = formats[format].bias;
	const int infinite = (1 << formats[format].exponent_bits) - 1;
	const int unit = 1 << places;
	const eight_t none = {0}, one = none + unit;
	eight_t bits, exponent, significand, sign, some, zero, endless;
	bool finite = true;

	for (int j = 0; j < SB_CORE_WIDTH; j++)
		bits[j] = from[j];
	exponent = bits >> places & infinite;
	some = exponent != 0;
	endless = exponent == infinite;
	significand = ((bits & (one - 1)) | (some & one)) << (PLACES - places);
	zero = significand == 0;
	exponent += some + (1 - bias);
	exponent = (exponent & ~zero) | (zero & NOTHING);
	sign = -(bits >> 15);
	significand = (significand ^ sign) - sign;
	memcpy(significands, &significand, sizeof significand);
	memcpy(exponents, &exponent, sizeof exponent);
	for (int j = 0; j < SB_CORE_WIDTH; j++)
		finite = finite && !endless[j];
	return finite;
}

void sb_core_row_set(struct sb_core_row *row, enum sb_core_format format, const uint16_t *bits)
{
	memcpy(row->bits, bits, sizeof row->bits);
	row->finite = true;
	for (int p = 0; p < SB_CORE_DEPTH; p += SB_CORE_WIDTH)
		row->finite = parts_of(format, bits + p, row->significand + p, row->exponent + p) &&
			      row->finite;
}

void sb_core_eight_set(struct sb_core_eight *eight, enum sb_core_format format, int p,
		       const uint16_t *bits)
{
	memcpy(eight->bits[p], bits, sizeof eight->bits[p]);
	eight->finite = parts_of(format, bits, eight->significand[p], eight->exponent[p]) &&
			(p == 0 || eight->finite);
}

/* Sixteen products fit an int32_t, whose greatest is below 2^27. */
SB_UNWATCHED __attribute__((always_inline)) static inline void
products(const struct sb_core_row *a, const struct sb_core_eight *b, int32_t *largest,
	 int32_t *totals)
{
	eight_t most, sum = {0}, most_shift = sum + 31;

	memcpy(&most, largest, sizeof most);
	for (int p = 0; p < SB_CORE_DEPTH; p++) {
		eight_t exponent, larger;

		memcpy(&exponent, b->exponent[p], sizeof exponent);
		exponent += a->exponent[p];
		larger = exponent > most;
		most = (exponent & larger) | (most & ~larger);
	}
	for (int p = 0; p < SB_CORE_DEPTH; p++) {
		eight_t exponent, term, shift, sign, far;

		memcpy(&exponent, b->exponent[p], sizeof exponent);
		memcpy(&term, b->significand[p], sizeof term);
		term *= a->significand[p] * (1 << (KEPT - 2 * PLACES));
		shift = most - exponent - a->exponent[p];
		far = shift > most_shift;
		shift = (most_shift & far) | (shift & ~far);
		sign = term >> 31;
		sum += ((((term ^ sign) - sign) >> shift) ^ sign) - sign;
	}
	memcpy(largest, &most, sizeof most);
	memcpy(totals, &sum, sizeof sum);
}

typedef void products_function(const struct sb_core_row *, const struct sb_core_eight *, int32_t *,
			       int32_t *);

SB_UNWATCHED static void products_portable(const struct sb_core_row *a,
					   const struct sb_core_eight *b, int32_t *largest,
					   int32_t *totals)
{
	products(a, b, largest, totals);
}

#if defined(__x86_64__)
SB_UNWATCHED __attribute__((target("avx2"))) static void
products_avx2(const struct sb_core_row *a, const struct sb_core_eight *b, int32_t *largest,
	      int32_t *totals)
{
	products(a, b, largest, totals);
}
#endif

static products_function *choose(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return products_avx2;
#endif
	return products_portable;
}

SB_UNWATCHED void sb_tensor_core_dots(enum sb_core_format format, const struct sb_core_row *a,
				      const struct sb_core_eight *b, float *sum)
{
	int32_t largest[SB_CORE_WIDTH], totals[SB_CORE_WIDTH], term[SB_CORE_WIDTH];
	int own[SB_CORE_WIDTH];
	bool finite = a->finite && b->finite;

	for (int j = 0; j < SB_CORE_WIDTH; j++) {
		term[j] = term_of(sum[j], &own[j]);
		largest[j] = own[j];
	}
	if (finite)
		choose()(a, b, largest, totals);
	for (int j = 0; j < SB_CORE_WIDTH; j++) {
		if (finite && is_finite(sum[j])) {
			sum[j] = rounded_fast(
				(int64_t)totals[j] + cut(term[j], largest[j] - own[j]), largest[j]);
			continue;
		}
		uint16_t column[SB_CORE_DEPTH];

		for (int p = 0; p < SB_CORE_DEPTH; p++)
			column[p] = b->bits[p][j];
		sum[j] = sb_tensor_core_dot(format, a->bits, column, sum[j]);
	}
}

float sb_core_value(enum sb_core_format format, uint16_t bits)
{
	const struct format *f = &formats[format];
	const uint32_t sign = (uint32_t)(bits >> 15) << 31, magnitude = bits & 0x7fffu;
	const uint32_t last = (1u << f->exponent_bits) - 1, exponent = magnitude >> f->places;
	struct part part;

	if (magnitude == 0)
		return sb_core_float(sign);
	/* A normal number: the same places, another bias. */
	if (exponent != 0 && exponent != last)
		return sb_core_float(sign | ((magnitude << (FLOAT_PLACES - f->places)) +
					     ((uint32_t)(FLOAT_BIAS - f->bias) << FLOAT_PLACES)));
	part = part_of(format, bits);
	if (part.nan)
		return sb_core_float(sign | 0x7fc00000u);
	if (!part.finite)
		return sb_core_float(sign | 0x7f800000u);
	return rounded((int64_t)part.significand * (1 << (KEPT - PLACES)), part.exponent);
}

/*
 * The places that do not fit are cut off, after half of their unit (less one, where what is left is
 * even) was added: a carry runs on into the exponent.
 */
uint16_t sb_core_round(enum sb_core_format format, float x)
{
	const struct format *f = &formats[format];
	uint32_t magnitude = sb_core_bits(x) & 0x7fffffffu, sign = sb_core_bits(x) >> 31 << 15;
	uint32_t infinity = ((1u << f->exponent_bits) - 1) << f->places, result;
	int exponent = (int)(magnitude >> FLOAT_PLACES), drop = FLOAT_PLACES - f->places;

	if (magnitude > 0x7f800000u)
		return 0x7fff;
	if (exponent - FLOAT_BIAS + f->bias >= 1 || f->bias == FLOAT_BIAS) {
		magnitude -= (uint32_t)(FLOAT_BIAS - f->bias) << FLOAT_PLACES;
	} else {
		drop += FLOAT_BIAS - f->bias + 1 - exponent;
		magnitude = (magnitude & 0x7fffffu) | (uint32_t)(exponent != 0) << FLOAT_PLACES;
		if (drop > FLOAT_PLACES + 1)
			return (uint16_t)sign;
	}
	result = (magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1)) >> drop;
	return (uint16_t)(sign | (result > infinity ? infinity : result));
}
