/* SPDX-License-Identifier: BSD-3-Clause */
/* What the lanes of a warp do together: they leave what they bring and find what they get. */
#include "exact_state.h"
#include "exact_calls.h"

#include <cstring>

static void exchange(void (*all)(void *const *), void *own)
{
	sb_exact_self().exchange = all;
	sb_exact_self().exchanged = own;
	sb_exact_wait(SB_AT_EXCHANGE);
}

struct shuffled {
	uint32_t brought, got;
	int mask;
};

static void shuffle(void *const *lanes)
{
	for (int l = 0; l < 32; l++) {
		shuffled *own = static_cast<shuffled *>(lanes[l]);

		own->got = static_cast<shuffled *>(lanes[l ^ own->mask])->brought;
	}
}

uint32_t sb_exact_shuffle_xor(uint32_t value, int mask, sb_exact_line line)
{
	shuffled own = {value, 0, mask};

	if (mask < 0 || mask > 31)
		sb_exact_fail(SB_EXACT_LAUNCH, line, "lanes that differ by %d", mask);
	exchange(shuffle, &own);
	return own.got;
}

static void say(void *const *lanes)
{
	bool any = false;

	for (int l = 0; l < 32; l++)
		any = any || *static_cast<bool *>(lanes[l]);
	for (int l = 0; l < 32; l++)
		*static_cast<bool *>(lanes[l]) = any;
}

bool sb_exact_warp_any(bool said)
{
	exchange(say, &said);
	return said;
}

/* A lane's row of eight elements, and the two of each matrix that it gets. */
struct matrices {
	uint16_t row[8];
	uint32_t *to;
	bool across;
};

static void deal(void *const *lanes)
{
	for (int l = 0; l < 32; l++) {
		const matrices *own = static_cast<matrices *>(lanes[l]);

		for (int m = 0; m < 4; m++) {
			uint32_t pair[2];

			for (int e = 0; e < 2; e++) {
				int row = own->across ? l % 4 * 2 + e : l / 4;
				int column = own->across ? l / 4 : l % 4 * 2 + e;

				pair[e] = static_cast<matrices *>(lanes[m * 8 + row])->row[column];
			}
			own->to[m] = pair[0] | pair[1] << 16;
		}
	}
}

void sb_exact_load_matrix4(uint32_t *to, const uint16_t *row, bool across, sb_exact_line line)
{
	matrices own = {{}, to, across};

	sb_exact_shared(row, 16, false, line);
	memcpy(own.row, row, sizeof own.row);
	exchange(deal, &own);
}

struct warp_product {
	sb_core_format format;
	float *d;
	const uint32_t *a, *b;
};

static uint16_t half(const uint32_t *words, int element)
{
	return (uint16_t)(words[element / 2] >> element % 2 * 16);
}

/*
 * Lane 4 * g + t has of a: rows g and g + 8, columns 2 * t, 2 * t + 1 and those 8 further: words
 * {row g, row g + 8} of the first columns, then of the others; of b, 16 x 8: rows 2 * t, 2 * t + 1
 * and those 8 further of column g; of d: row g, columns 2 * t and 2 * t + 1, then row g + 8.
 */
static void multiply(void *const *lanes)
{
	const sb_core_format format = static_cast<warp_product *>(lanes[0])->format;
	sb_core_eight eight;
	sb_core_row row;

	for (int k = 0; k < SB_CORE_DEPTH; k++) {
		uint16_t bits[SB_CORE_WIDTH];

		for (int j = 0; j < SB_CORE_WIDTH; j++)
			bits[j] = half(static_cast<warp_product *>(lanes[j * 4 + k % 8 / 2])->b,
				       k / 8 * 2 + k % 2);
		sb_core_eight_set(&eight, format, k, bits);
	}
	for (int i = 0; i < 16; i++) {
		uint16_t bits[SB_CORE_DEPTH];
		float sums[SB_CORE_WIDTH];

		for (int k = 0; k < SB_CORE_DEPTH; k++)
			bits[k] = half(static_cast<warp_product *>(lanes[i % 8 * 4 + k % 8 / 2])->a,
				       (k / 8 * 2 + i / 8) * 2 + k % 2);
		sb_core_row_set(&row, format, bits);
		for (int j = 0; j < SB_CORE_WIDTH; j++)
			sums[j] = static_cast<warp_product *>(lanes[i % 8 * 4 + j / 2])
					  ->d[i / 8 * 2 + j % 2];
		sb_tensor_core_dots(format, &row, &eight, sums);
		for (int j = 0; j < SB_CORE_WIDTH; j++)
			static_cast<warp_product *>(lanes[i % 8 * 4 + j / 2])
				->d[i / 8 * 2 + j % 2] = sums[j];
	}
}

void sb_exact_mma_sync(int bf16, float *d, const uint32_t *a, const uint32_t *b)
{
	warp_product own = {bf16 ? SB_CORE_BF16 : SB_CORE_FP16, d, a, b};

	exchange(multiply, &own);
}
