/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches on the stand-in driver: its quick engine against the one-sum rule, and what it refuses.
 */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "stand_in_fixture.h"
#ifdef __SSE__
#include <xmmintrin.h>

/* Dynamic shared memory of the kernel under test, from its row. */
enum {
#define SB_KERNEL(method, bm, bn, bk, threads, blocks, tm, tn, stages, shared, form, arch, note)   \
	method##_##bm##x##bn##x##bk##_shared = shared,
#define SB_PACK(...)
#define SB_SUM(...)
#include "kernels.def"
#undef SB_KERNEL
#undef SB_PACK
	bulk_shared = bulk_256x128x32_shared
};
#endif

enum { TILE_M = 256, TILE_N = 128, TILE_K = 32 }; /* of the bulk kernel */
static const char bulk[] = "sgemm_bulk_256x128x32";
static const char plain[] = "sgemm_plain_64x64x16";

static sb_cu_module module;

static sb_cu_function function(const char *name)
{
	sb_cu_function f = NULL;

	if (!module)
		OK(cu_module_load(&module, "SHIMBLAS-NO-IMAGE"));
	OK(cu_module_function(&f, module, name));
	return f;
}

static void end_kernels(void)
{
	OK(stand_in_configure("")); /* heals what a test has lost */
	if (module)
		OK(cu_module_unload(module));
	module = NULL;
	end();
}

static int64_t ceiling(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int launch(const char *name, int64_t grid, unsigned threads, unsigned shared, void *args)
{
	void *parameters[] = {args};
	sb_cu_function f = function(name);

	if (shared > 49152)
		OK(cu_function_set(f, SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
	return cu_launch(f, (unsigned)grid, 1, 1, threads, 1, 1, shared, first, parameters, NULL);
}

static float random_float(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

static float *device_floats(int64_t count, unsigned seed)
{
	float *p = (float *)(uintptr_t)device_words((size_t)count);

	for (int64_t i = 0; i < count; i++)
		p[i] = random_float(&seed);
	return p;
}

/* One element of the result, by the rule as args.h states it. */
static float one_sum(const struct sb_gemm_args *g, int64_t i, int64_t j, float old)
{
	volatile float total = 0, t, u;

	for (int64_t slab = 0; slab < g->k; slab += SB_SLAB) {
		float chain = 0;

		for (int64_t k = slab; k < g->k && k < slab + SB_SLAB; k++)
			chain = fmaf(g->a[i * g->a_m + k * g->a_k], g->b[j * g->b_n + k * g->b_k],
				     chain);
		total = total + chain;
	}
	t = g->alpha * total;
	if (g->beta == 0)
		return t;
	u = g->beta * old;
	return t + u;
}

static int same(float a, float b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

/* Elements of C that are not right after the launch, its padding included. */
static int64_t wrong(const char *name, int64_t grid, unsigned threads, unsigned shared,
		     struct sb_gemm_args *g)
{
	int64_t bad = 0, count = g->ldc * g->n;
	float *old = malloc(sizeof *old * (size_t)count);

	memcpy(old, g->c, sizeof *old * (size_t)count);
	OK(launch(name, grid, threads, shared, g));
	CU_ASSERT(memcmp(old, g->c, sizeof *old * (size_t)count) == 0); /* not yet */
	OK(cu_stream_synchronize(first));
	for (int64_t j = 0; j < g->n; j++)
		for (int64_t i = 0; i < g->ldc; i++)
			bad += !same(g->c[j * g->ldc + i],
				     i < g->m ? one_sum(g, i, j, old[j * g->ldc + i])
					      : old[j * g->ldc + i]);
	free(old);
	return bad;
}

static void any_strides_give_the_bits_of_the_one_sum_rule(void)
{
	static const struct {
		int m, n, k;
		float alpha, beta;
	} cases[] = {
		{1, 1, 1, 1, 0},	  {17, 5, 256, 1, 0},	      {16, 4, 257, -2, 1},
		{33, 9, 600, 0.3f, 0.7f}, {70, 131, 1000, 1e-3f, -1},
	};

	begin("");
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		for (int way = 0; way < 4; way++) {
			int m = cases[c].m, n = cases[c].n, k = cases[c].k;
			struct sb_gemm_args g = {.m = m, .n = n, .k = k, .ldc = m + 3};

			g.alpha = cases[c].alpha;
			g.beta = cases[c].beta;
			g.a_m = way & 1 ? k + 1 : 1;
			g.a_k = way & 1 ? 1 : m + 1;
			g.b_n = way & 2 ? 1 : k + 2;
			g.b_k = way & 2 ? n + 2 : 1;
			g.a = device_floats((int64_t)(m + 1) * (k + 1), 1);
			g.b = device_floats((int64_t)(n + 2) * (k + 2), 2);
			g.c = device_floats(g.ldc * n, 3);
			if (g.beta == 0)
				g.c[0] = NAN;
			CU_ASSERT_EQUAL(wrong(plain, ceiling(m, 64) * ceiling(n, 64), 256, 0, &g),
					0);
		}
	CU_ASSERT_PTR_NULL(stand_in_error());
	end_kernels();
}

/* Flush-to-zero and denormals-are-zero, where the processor has them. */
static void flush(int on)
{
#ifdef __SSE__
	_mm_setcsr(on ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u);
#else
	(void)on;
#endif
}

static void caller_floating_point_environment_has_no_say(void)
{
	const float next = 1 + 0x1p-23f;
	float *a, *b, *c;
	struct sb_gemm_args g = {
		.m = 2, .n = 2, .k = 1, .ldc = 2, .a_m = 1, .a_k = 2, .b_n = 1, .b_k = 2};

	begin("");
	g.a = a = device_floats(2, 1);
	g.b = b = device_floats(2, 2);
	g.c = c = device_floats(4, 3);
	g.alpha = 1;
	a[0] = 1e-30f;
	b[0] = 1e-12f;
	a[1] = b[1] = next;
	OK(launch(plain, 1, 256, 0, &g));
	feclearexcept(FE_ALL_EXCEPT);
	fesetround(FE_UPWARD);
	flush(1);
	OK(cu_stream_synchronize(first));
	flush(0);
	CU_ASSERT_EQUAL(fegetround(), FE_UPWARD);
	CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT), 0);
	fesetround(FE_TONEAREST);
	CU_ASSERT(c[0] > 0 && c[0] < 0x1p-126f); /* the denormal survives */
	CU_ASSERT(same(c[3], 1 + 0x1p-22f));	 /* to nearest, not upwards */
	end_kernels();
}

/* A canonical panel made by a pack kernel out of a strided source. */
static float *pack(int extent, int depth, int tile, int64_t from_i, int64_t from_k, unsigned seed,
		   struct sb_pack_args *p)
{
	memset(p, 0, sizeof *p);
	p->extent = extent;
	p->depth = depth;
	p->padded_extent = (int)ceiling(extent, tile) * tile;
	p->padded_depth = (int)ceiling(depth, TILE_K) * TILE_K;
	p->ld = p->padded_extent + SB_PAD;
	p->from_i = from_i;
	p->from_k = from_k;
	p->from = device_floats((extent - 1) * from_i + (depth - 1) * from_k + 1, seed);
	p->to = (float *)(uintptr_t)device_words((size_t)(p->ld * p->padded_depth));
	OK(launch("pack_along_128x8", ceiling(p->padded_extent, 128) * ceiling(p->padded_depth, 8),
		  256, 0, p));
	OK(cu_stream_synchronize(first));
	return p->to;
}

static int encode(struct sb_tensor_map *map, const struct sb_pack_args *p, unsigned tile)
{
	uint64_t sizes[] = {(uint64_t)p->padded_extent, (uint64_t)p->padded_depth};
	uint64_t strides[] = {(uint64_t)p->ld * 4};
	uint32_t box[] = {tile, TILE_K}, steps[] = {1, 1};

	return cu_tensor_map(map, SB_CU_TENSOR_FLOAT32, 2, p->to, sizes, strides, box, steps, 0, 0,
			     0, 0);
}

static void panels(struct sb_gemm_args *g, struct sb_pack_args *a, struct sb_pack_args *b)
{
	memset(g, 0, sizeof *g);
	g->m = 300;
	g->n = 130;
	g->k = 270;
	g->ldc = 301;
	g->alpha = 1;
	g->a = pack(g->m, g->k, TILE_M, 1, g->m + 1, 4, a);
	g->b = pack(g->n, g->k, TILE_N, g->k + 1, 1, 5, b);
	g->a_m = g->b_n = 1;
	g->a_k = a->ld;
	g->b_k = b->ld;
	g->c = device_floats(g->ldc * g->n, 6);
	OK(encode(&g->map_a, a, TILE_M));
	OK(encode(&g->map_b, b, TILE_N));
}

static void pack_and_multiply(const char *engine)
{
	struct sb_gemm_args g;
	struct sb_pack_args a, b;
	int bad = 0;

	begin(engine);
	panels(&g, &a, &b);
	for (int k = 0; k < a.padded_depth; k++)
		for (int i = 0; i < a.padded_extent; i++)
			bad += !same(a.to[k * a.ld + i],
				     i < a.extent && k < a.depth ? a.from[i + k * a.from_k] : 0);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(wrong(bulk, 2 * 2, 256, bulk_shared, &g), 0);
	CU_ASSERT_PTR_NULL(stand_in_error());
	end_kernels();
}

static void pack_kernels_fill_whole_tiles_and_bulk_kernels_take_them(void)
{
	pack_and_multiply("engine=quick");
	pack_and_multiply("engine=exact");
}

/* What either engine says of a launch that its arguments do not allow. */
static void exact_engine_sees_what_the_quick_one_sees(void)
{
	struct sb_gemm_args g = {.m = 9, .n = 8, .k = 7, .ldc = 9, .a_m = 1, .a_k = 9, .b_n = 7};

	begin("engine=exact");
	g.b_k = 1;
	g.alpha = 1;
	g.a = device_floats(9 * 7, 1);
	g.b = device_floats(7 * 8, 2);
	g.c = device_floats(9 * 8, 3);
	CU_ASSERT_EQUAL(wrong(plain, 1, 256, 0, &g), 0);
	CU_ASSERT_PTR_NULL(stand_in_error());
	g.a += 1; /* the last element is beyond the end */
	OK(launch(plain, 1, 256, 0, &g));
	CU_ASSERT_EQUAL(cu_stream_synchronize(first), SB_CU_ERROR_ILLEGAL_ADDRESS);
	CU_ASSERT(violated("kernel: "));
	end_kernels();
}

static void kernel_contract_is_watched(void)
{
	struct sb_gemm_args g, bad;
	struct sb_pack_args a, b;

	begin("");
	panels(&g, &a, &b);
	OK(launch(bulk, 3, 256, bulk_shared, &g));
	CU_ASSERT(violated("grid"));
	OK(stand_in_configure(""));
	OK(launch(bulk, 4, 128, bulk_shared, &g));
	CU_ASSERT(violated("row says"));
	OK(stand_in_configure(""));
	bad = g;
	bad.a_k = g.a_k + 1;
	OK(launch(bulk, 4, 256, bulk_shared, &bad));
	CU_ASSERT(violated("args.h"));
	CU_ASSERT_EQUAL(cu_stream_synchronize(first), SB_CU_ERROR_ILLEGAL_ADDRESS);
	OK(stand_in_configure(""));
	bad = g;
	memset(&bad.map_b, 0, sizeof bad.map_b);
	OK(launch(bulk, 4, 256, bulk_shared, &bad));
	CU_ASSERT_NOT_EQUAL(cu_stream_synchronize(first), 0);
	CU_ASSERT(violated("map"));
	OK(stand_in_configure(""));
	a.to[g.k * g.a_k] = 1;
	OK(launch(bulk, 4, 256, bulk_shared, &g));
	CU_ASSERT_NOT_EQUAL(cu_stream_synchronize(first), 0);
	CU_ASSERT(violated("padding"));
	OK(stand_in_configure(""));
	bad = g;
	bad.n = (int)g.n + 1; /* C is one column short */
	OK(launch(plain, ceiling(bad.m, 64) * ceiling(bad.n, 64), 256, 0, &bad));
	CU_ASSERT_NOT_EQUAL(cu_stream_synchronize(first), 0);
	CU_ASSERT(violated("C: "));
	end_kernels();
}

static void launches_are_refused_as_a_device_would(void)
{
	struct sb_gemm_args g = {.m = 1, .n = 1, .k = 1, .ldc = 1};
	void *parameters[] = {&g};
	sb_cu_function f;
	int value, blocks;

	begin("cc=90,shared=233472");
	f = function(bulk);
	CU_ASSERT_EQUAL(cu_launch(f, 1, 1, 1, 256, 1, 1, bulk_shared, first, parameters, NULL),
			SB_CU_ERROR_INVALID_VALUE); /* above 48 KiB and not raised */
	CU_ASSERT_EQUAL(cu_function_set(f, SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449),
			SB_CU_ERROR_INVALID_VALUE);
	OK(cu_occupancy(&blocks, f, 256, bulk_shared));
	CU_ASSERT_EQUAL(blocks, 0);
	OK(cu_function_set(f, SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, bulk_shared));
	OK(cu_function_get(&value, SB_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	CU_ASSERT_EQUAL(value, bulk_shared);
	OK(cu_occupancy(&blocks, f, 256, bulk_shared));
	CU_ASSERT_EQUAL(blocks, 1);
	CU_ASSERT_EQUAL(cu_launch(f, 0, 1, 1, 256, 1, 1, 0, first, parameters, NULL),
			SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT_EQUAL(cu_launch(f, 1, 1, 1, 512, 1, 1, 0, first, parameters, NULL),
			SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT_EQUAL(cu_module_function(&f, module, "sgemm_unheard_of"), SB_CU_ERROR_NOT_FOUND);
	CU_ASSERT_PTR_NULL(stand_in_error());
	OK(stand_in_configure("cc=80"));
	CU_ASSERT_EQUAL(launch(bulk, 1, 256, 0, &g), SB_CU_ERROR_NO_BINARY_FOR_GPU);
	CU_ASSERT(violated("architecture"));
	end_kernels();
}

static void tensor_maps_are_checked(void)
{
	struct sb_tensor_map map;
	struct sb_pack_args p = {.padded_extent = 256, .padded_depth = 32, .ld = 256};

	begin("");
	p.to = (float *)(uintptr_t)device_words(256 * 33);
	OK(encode(&map, &p, 256));
	CU_ASSERT_EQUAL(encode(&map, &p, 257), SB_CU_ERROR_INVALID_VALUE);
	CU_ASSERT_EQUAL(encode(&map, &p, 2), SB_CU_ERROR_INVALID_VALUE);
	p.ld = 257; /* a stride of 16 bytes' multiple it is not */
	CU_ASSERT_EQUAL(encode(&map, &p, 256), SB_CU_ERROR_INVALID_VALUE);
	p.ld = 256;
	p.to++;
	CU_ASSERT_EQUAL(encode(&map, &p, 256), SB_CU_ERROR_INVALID_VALUE);
	end_kernels();
}

int main(void)
{
	static const struct suite_case cases[] = {
		{"any strides give the bits of the one-sum rule",
		 any_strides_give_the_bits_of_the_one_sum_rule},
		{"the caller's floating-point environment has no say",
		 caller_floating_point_environment_has_no_say},
		{"pack kernels fill whole tiles, and bulk kernels take them",
		 pack_kernels_fill_whole_tiles_and_bulk_kernels_take_them},
		{"the exact engine sees what the quick one sees",
		 exact_engine_sees_what_the_quick_one_sees},
		{"the kernels' contract is watched", kernel_contract_is_watched},
		{"launches are refused as a device would", launches_are_refused_as_a_device_would},
		{"tensor maps are checked", tensor_maps_are_checked},
	};

	return SUITE("stand_in_kernels", cases);
}
