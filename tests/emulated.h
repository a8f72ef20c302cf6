/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of emulated products: operands that trip the guards, and what then must come out. */
#ifndef SB_EMULATED_H
#define SB_EMULATED_H

#include "product_emulated.h"
#include "team.h"

/* Values among the others that the tiers do not hold. */
enum spice {
	NO_SPICE,
	FINE_SPREAD, /* too far apart in a slab for two fp16: one row */
	WIDE_SPREAD, /* below what three bf16 reach: one row */
	NOT_FINITE,  /* a NaN and an infinity */
	ALL_KINDS,   /* in different tiles */
	THREE_TIERS  /* of the last row of A and the last column of B, no NaN */
};

struct spiced {
	struct product product;
	enum spice spice;
};

static inline size_t spiced_bytes_a(const struct product_data *d)
{
	return (size_t)(d->call.lda * (d->call.trans_a ? d->call.m : d->call.k)) * sizeof(float);
}

static inline size_t spiced_bytes_b(const struct product_data *d)
{
	return (size_t)(d->call.ldb * (d->call.trans_b ? d->call.k : d->call.n)) * sizeof(float);
}

static inline float *spiced_a(const struct product_data *d, int64_t i, int64_t k)
{
	return d->a + (d->call.trans_a ? k + i * d->call.lda : i + k * d->call.lda);
}

static inline float *spiced_b(const struct product_data *d, int64_t k, int64_t j)
{
	return d->b + (d->call.trans_b ? j + k * d->call.ldb : k + j * d->call.ldb);
}

static inline void spice(const struct product_data *d, enum spice kind)
{
	int64_t m = d->call.m, k = d->call.k, n = d->call.n;

	if (kind == FINE_SPREAD || kind == ALL_KINDS || kind == THREE_TIERS)
		*spiced_a(d, m - 1, k / 2) = 0x1.234568p-40f;
	if (kind == WIDE_SPREAD)
		*spiced_a(d, 0, k - 1) = 0x1.234568p-120f;
	if (kind == ALL_KINDS || kind == THREE_TIERS)
		*spiced_b(d, 3, n - 1) = 0x1.234568p-120f;
	if (kind == NOT_FINITE || kind == ALL_KINDS)
		*spiced_a(d, m / 2, 1) = __builtin_nanf("");
	if (kind == NOT_FINITE)
		*spiced_b(d, k - 1, n / 2) = -__builtin_inff();
}

/* The tiers without the first, which is where short sums begin. */
static inline void bf16x6(const struct sb_call *call, float *c)
{
	int64_t rows = (call->m + 127) / 128, columns = (call->n + 127) / 128;
	uint32_t *flags = calloc((size_t)(rows + columns), sizeof *flags);
	struct sb_gemm_args args = {.a = call->a,
				    .b = call->b,
				    .c = c,
				    .a_m = call->trans_a ? call->lda : 1,
				    .a_k = call->trans_a ? 1 : call->lda,
				    .b_n = call->trans_b ? 1 : call->ldb,
				    .b_k = call->trans_b ? call->ldb : 1,
				    .ldc = call->ldc,
				    .m = (int32_t)call->m,
				    .n = (int32_t)call->n,
				    .k = (int32_t)call->k,
				    .alpha = call->alpha,
				    .beta = call->beta,
				    .flags_a = flags,
				    .flags_b = flags + rows,
				    .chunk = sb_split_chunk(call->m, call->n, call->k)};

	for (int64_t i = 0; i < rows + columns; i++)
		flags[i] = SB_NOT_FP16;
	sb_oracle_bf16x6(&args);
	sb_oracle_flagged(&args);
	free(flags);
}

/* The product with what an emulation, with planes or without, makes of it. */
static inline struct product_data spiced_make(const struct spiced *s, bool planes)
{
	struct product_data d = product_make(&s->product);
	const struct sb_call *call = &d.call;
	float *c = d.expected + ((float *)call->c - d.c);

	spice(&d, s->spice);
	memcpy(d.expected, d.c, d.c_count * sizeof(float));
	if (planes)
		product_emulate(call, c);
	else
		bf16x6(call, c);
	return d;
}

static inline enum sb_status carry(const struct sb_call *call, struct sb_decision *decision,
				   int *finished)
{
	struct sb_as_found found;
	enum sb_status status;

	CHECK(sb_process_enter(&found));
	status = sb_offload(call, decision, product_compute, finished);
	sb_process_leave(&found);
	return status;
}

/* One call by the GPU alone, whose result is checked; C is as before then. */
static inline enum sb_status run_emulated(struct product_data *d, struct sb_decision *decision)
{
	float *before = malloc(d->c_count * sizeof *before);
	enum sb_status status;
	int finished = 0;

	memcpy(before, d->c, d->c_count * sizeof *before);
	*decision = (struct sb_decision){.emulate = true};
	status = carry(&d->call, decision, &finished);
	CHECK(finished == 0);
	CHECK(product_right(d));
	memcpy(d->c, before, d->c_count * sizeof *before);
	free(before);
	return status;
}

/* A, B and C in device memory; C in place, with its old values read where beta asks for them. */
static inline void run_in_place(const struct product_data *prepared)
{
	struct sb_device *device = sb_device();
	struct product_data d = *prepared;
	struct sb_decision decision = {.emulate = true, .on_device = true, .side = SB_GPU};
	size_t bytes[] = {spiced_bytes_a(&d), spiced_bytes_b(&d), d.c_count * sizeof(float)};
	const float *from[] = {d.a, d.b, d.c};
	sb_cu_deviceptr at[3];
	struct sb_visit visit;
	int finished = 0;

	CHECK(sb_device_enter(device, &visit) == SB_OK);
	for (int o = 0; o < 3; o++) {
		CHECK(device->cu->memory_alloc(&at[o], bytes[o]) == 0);
		CHECK(device->cu->copy_up(at[o], from[o], bytes[o], NULL) == 0);
	}
	sb_device_leave(device, &visit);
	d.call.a = (const void *)(uintptr_t)at[0];
	d.call.b = (const void *)(uintptr_t)at[1];
	d.call.c = (float *)(uintptr_t)at[2] + ((float *)prepared->call.c - d.c);
	CHECK(carry(&d.call, &decision, &finished) == SB_OK && finished == 0);
	d.c = malloc(bytes[2]);
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->copy_down(d.c, at[2], bytes[2], NULL) == 0);
	for (int o = 0; o < 3; o++)
		CHECK(device->cu->memory_free(at[o]) == 0);
	sb_device_leave(device, &visit);
	CHECK(product_right(&d));
	free(d.c);
}

#endif
