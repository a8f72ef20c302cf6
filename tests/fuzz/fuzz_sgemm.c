/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products as programs ask for them: whatever layout, transposes, sizes, leading dimensions,
 * offsets, factors, values and rounding the bytes say, legal or not, on the CPU's route and on that
 * of the stand-in driver, strict and emulated, with a driver call failing or none. The CPU's answer
 * must have OpenBLAS's bits, the GPU's those of the oracle of its arithmetic; where the two share
 * the work each element is within the bound. A and B, and all around C, stay as they are; operands
 * end, or begin, at a page that cannot be touched. An illegal call is told to xerbla_ as OpenBLAS
 * tells it.
 *
 * builddir in the environment is where the stand-in driver is; SHIMBLAS_DRIVER overrides it.
 */
#include "fuzz.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <xmmintrin.h>

#include "device.h"
#include "fuzz_operand.h"
#include "oracle.h"
#include "oracle_emulated.h"
#include "shimblas.h"

typedef void cblas_function(int, int, int, int, int, int, float, const void *, int, const void *,
			    int, float, void *, int);
typedef void f77_function(const char *, const char *, const int *, const int *, const int *,
			  const float *, const void *, const int *, const void *, const int *,
			  const float *, void *, const int *);
/* The library's own, linked into this program. */
cblas_function cblas_sgemm;
f77_function sgemm_;
void xerbla_(const char *name, const int *info, int length);

enum { ROUTES = 4 };
enum route { ROUTE_CPU, ROUTE_GPU, ROUTE_FAULT, ROUTE_CHECK };

struct input {
	enum route route;
	int fortran, alias, emulate, deep; /* deep: k is of the first tier */
	int layout, trans_a, trans_b;	   /* as the C interface has them */
	char letter_a, letter_b;
	int m, n, k, lda, ldb, ldc;
	float alpha, beta;
	unsigned mxcsr;
	struct fuzz_operand a, b, c;
	char driver[128]; /* what the stand-in is told */
};

static cblas_function *openblas_cblas;
static f77_function *openblas_f77;
static int (*configure)(const char *);
static const char *reason, *arithmetic; /* for the last side; its */
static struct {
	int calls, info;
} complaints;

void xerbla_(const char *name, const int *info, int length)
{
	(void)name;
	(void)length;
	complaints.calls++;
	complaints.info = *info;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("builddir");
	char driver[4096];
	void *library;

	(void)argc;
	(void)argv;
	snprintf(driver, sizeof driver, "%s/tests/stand_in/libcuda.so.1", folder ? folder : ".");
	setenv("SHIMBLAS_DRIVER", driver, 0);
	setenv("SHIMBLAS_LOGFILE", "/dev/null", 1);
	setenv("SHIMBLAS_BACKEND", SB_FALLBACK_BACKEND, 1);
	setenv("SHIMBLAS_PINNED_MEMORY", "512K", 0);
	setenv("SHIMBLAS_THREADS", "2", 0);
	/* Whatever is predicted, what is to be emulated is. */
	setenv("SHIMBLAS_KERNEL", "sgemm_fp16x3_128x128x64", 0);
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	library = dlopen(SB_FALLBACK_BACKEND, RTLD_NOW | RTLD_LOCAL);
	FUZZ_CHECK(library, "%s", dlerror());
	*(void **)&openblas_cblas = dlsym(library, "cblas_sgemm");
	*(void **)&openblas_f77 = dlsym(library, "sgemm_");
	FUZZ_CHECK(openblas_cblas && openblas_f77, "an OpenBLAS without sgemm");
	library = dlopen(getenv("SHIMBLAS_DRIVER"), RTLD_NOW | RTLD_LOCAL);
	FUZZ_CHECK(library, "%s", dlerror());
	*(void **)&configure = dlsym(library, "stand_in_configure");
	FUZZ_CHECK(configure, "the driver is none that faults can be asked of");
	sb_device_least_patience = 2;
	fuzz_operands_open();
	return 0;
}

static int size_of(struct fuzz_bytes *bytes)
{
	static const int tiles[] = {0,	1,  2,	3,   15,  16,  31,  33,
				    63, 64, 65, 127, 129, 255, 257, 300};
	unsigned how = fuzz_byte(bytes), value = fuzz_byte(bytes);

	if (how < 8)
		return -(int)(value % 3);
	if (how < 128)
		return tiles[value % 16];
	if (how < 192)
		return 1 + (int)(value % 64);
	return 1 + (int)(value + 256 * (how % 3));
}

static int leading_of(struct fuzz_bytes *bytes, int least)
{
	unsigned value = fuzz_byte(bytes);

	least = least < 1 ? 1 : least;
	if (value < 100)
		return least;
	if (value < 240)
		return least + (int)(value % 35);
	return value < 248 ? least - 1 : value == 248 ? 0 : -(int)(value - 248);
}

static float factor_of(struct fuzz_bytes *bytes)
{
	static const float factors[] = {0, 1, -1, 0.5f, 2.25f, -0.0f, 1, 0};
	unsigned how = fuzz_byte(bytes);
	uint32_t word;
	float factor;

	if (how < 224)
		return factors[how % 8];
	word = fuzz_word(bytes);
	memcpy(&factor, &word, sizeof factor);
	return factor;
}

/* The longest comes down until the product is done in a millisecond or so; where k must be what it
 * is, the longer one of C. */
static void bound_work(struct input *in)
{
	if (in->deep && in->k > 0)
		in->k = SB_ORACLE_FP16_K + in->k % 80;
	for (;;) {
		int *longest = in->m > in->n ? &in->m : &in->n;
		/* The model of a tensor core takes k in pieces. */
		int k = in->emulate && in->k > 0 && in->k < 64 ? 64 : in->k;

		longest = in->k > *longest && !in->deep ? &in->k : longest;
		if ((double)in->m * in->n * k <= 400e3 || *longest < 2)
			return;
		*longest /= 2;
	}
}

static void read_driver(struct input *in, struct fuzz_bytes *bytes)
{
	static const char *const slots[] = {
		"copy_2d",	"launch",	"event_record",	   "stream_wait_event",
		"set_words",	"memory_alloc", "memory_info",	   "pointer_attributes",
		"context_push", "context_pop",	"capture_mode",	   "event_query",
		"function_set", "module_load",	"module_function", "copy_up",
	};
	static const char *const kinds[] = {"fail=%s:%u:INVALID_VALUE", "from=%s:%u:OUT_OF_MEMORY",
					    "lose=%s:%u", "crash=%s:%u"};
	unsigned seed = fuzz_byte(bytes), slot = fuzz_byte(bytes), call = fuzz_byte(bytes);
	char fault[64] = "";

	if (in->route == ROUTE_FAULT)
		snprintf(fault, sizeof fault, kinds[slot / 16 % 4], slots[slot % 16], call + 1);
	snprintf(in->driver, sizeof in->driver, "seed=%u,%s", seed % 32, fault);
}

static struct input read_input(const uint8_t *data, size_t size)
{
	static const int layouts[] = {101, 102, 101, 102, 101, 102, 0, 103};
	static const int transposes[] = {111, 112, 113, 111, 112, 111, 114, 7};
	static const char letters[] = "NTCntcRX"; /* R: to OpenBLAS another N */
	static const unsigned modes[] = {0x1f80, 0x1f80, 0x1f80, 0x3f80,
					 0x5f80, 0x7f80, 0x9fc0, 0x1f80};
	struct fuzz_bytes bytes = {data, data + size};
	struct input in = {0};
	unsigned flags = fuzz_byte(&bytes), words = fuzz_byte(&bytes), manner = fuzz_byte(&bytes);
	int rows, other;

	in.route = (enum route)(flags % ROUTES);
	in.fortran = flags >> 2 & 1;
	in.alias = (flags >> 3 & 7) == 7;
	in.layout = in.fortran ? 102 : layouts[flags >> 5];
	in.trans_a = transposes[words % 8];
	in.trans_b = transposes[words / 8 % 8];
	in.letter_a = letters[words % 8];
	in.letter_b = letters[words / 8 % 8];
	in.mxcsr = modes[manner % 8];
	in.emulate = manner >> 3 & 1;
	in.deep = in.emulate && manner >> 4 & 1;
	in.m = size_of(&bytes);
	in.n = size_of(&bytes);
	in.k = size_of(&bytes);
	bound_work(&in);
	/* Each is least for a column-major call, or for the row-major one. */
	rows = in.layout == 101;
	other = (in.trans_a == 111) == rows;
	in.lda = leading_of(&bytes, other ? in.k : in.m);
	other = (in.trans_b == 111) == rows;
	in.ldb = leading_of(&bytes, other ? in.n : in.k);
	in.ldc = leading_of(&bytes, rows ? in.n : in.m);
	in.alpha = factor_of(&bytes);
	in.beta = factor_of(&bytes);
	fuzz_operand_read(&in.a, &bytes);
	fuzz_operand_read(&in.b, &bytes);
	fuzz_operand_read(&in.c, &bytes);
	read_driver(&in, &bytes);
	return in;
}

/* The call in the form of the library, as far as it names one. */
static struct sb_call call_of(const struct input *in)
{
	static const char plain[] = "NnR", other[] = "TtCc";
	struct sb_call call = {
		.trans_a = in->fortran ? !strchr(plain, in->letter_a) : in->trans_a % 3,
		.trans_b = in->fortran ? !strchr(plain, in->letter_b) : in->trans_b % 3,
		.m = in->m,
		.n = in->n,
		.k = in->k,
		.lda = in->lda,
		.ldb = in->ldb,
		.ldc = in->ldc,
		.alpha = in->alpha,
		.beta = in->beta,
	};

	if (in->fortran)
		call.unknown = (call.trans_a && !strchr(other, in->letter_a)) ||
			       (call.trans_b && !strchr(other, in->letter_b));
	else
		call.unknown = (in->layout != 101 && in->layout != 102) || in->trans_a < 111 ||
			       in->trans_b < 111;
	if (in->layout == 101) {
		struct sb_call swapped = call;

		swapped.trans_a = call.trans_b;
		swapped.trans_b = call.trans_a;
		swapped.m = call.n;
		swapped.n = call.m;
		swapped.lda = call.ldb;
		swapped.ldb = call.lda;
		return swapped;
	}
	return call;
}

static void run(const struct input *in, cblas_function *cblas, f77_function *f77)
{
	const void *a = in->a.first, *b = in->alias ? in->a.first : in->b.first;
	const unsigned before = _mm_getcsr();

	memset(&complaints, 0, sizeof complaints);
	_mm_setcsr(in->mxcsr);
	if (in->fortran)
		f77(&in->letter_a, &in->letter_b, &in->m, &in->n, &in->k, &in->alpha, a, &in->lda,
		    b, &in->ldb, &in->beta, in->c.first, &in->ldc);
	else
		cblas(in->layout, in->trans_a, in->trans_b, in->m, in->n, in->k, in->alpha, a,
		      in->lda, b, in->ldb, in->beta, in->c.first, in->ldc);
	FUZZ_CHECK((_mm_getcsr() & 0xffc0) == (in->mxcsr & 0xffc0), "the rounding is another");
	_mm_setcsr(before);
}

/* Where one could not be popped it is left, and the device lost. */
static void drop_contexts(void)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context;

	while (cu->context_current(&context) == 0 && context)
		if (cu->context_pop(&context) != 0)
			return;
}

/* The library's answer; which side gave it. */
static const char *answer(const struct input *in)
{
	static const enum shimblas_mode modes[ROUTES] = {SHIMBLAS_MODE_CPU, SHIMBLAS_MODE_GPU,
							 SHIMBLAS_MODE_GPU, SHIMBLAS_MODE_CHECK};
	struct shimblas_decision last = {.size = sizeof last};

	(void)shimblas_set_mode(modes[in->route]);
	(void)shimblas_set_math(in->emulate ? SHIMBLAS_MATH_EMULATED : SHIMBLAS_MATH_STRICT);
	FUZZ_CHECK(configure(in->driver) == 0, "%s", in->driver);
	errno = 77;
	run(in, cblas_sgemm, sgemm_);
	(void)shimblas_last_decision(&last);
	reason = last.reason;
	arithmetic = last.arithmetic;
	FUZZ_CHECK(errno == 77 || strcmp(last.side, "gpu") != 0, "errno is %d", errno);
	/* A lost device is none of this process's for ever, but for the next input. */
	FUZZ_CHECK(configure("forget") == 0, "healing");
	(void)sb_device_turn(SB_HEALTH_LOST, SB_HEALTH_READY, SB_REASON_LOST);
	drop_contexts();
	return last.side;
}

/* Where denormals count as zeros an alpha may be one. */
static enum sb_call_kind kind_under(unsigned mxcsr, const struct sb_call *call)
{
	const unsigned before = _mm_getcsr();
	enum sb_call_kind kind;

	_mm_setcsr(mxcsr);
	kind = sb_call_kind(call);
	_mm_setcsr(before);
	return kind;
}

/* A quick return may have an empty one; an illegal call touches nothing, and any memory will do. */
static size_t bytes_of(const struct sb_call *call, int64_t width, int64_t lines, int64_t ld)
{
	if (sb_call_kind(call) == SB_CALL_ILLEGAL)
		return 64;
	return width && lines ? (size_t)((lines - 1) * ld + width) * sizeof(float) : 0;
}

static size_t bytes_a(const struct sb_call *call)
{
	bool t = call->trans_a;

	return bytes_of(call, t ? call->k : call->m, t ? call->m : call->k, call->lda);
}

static size_t bytes_b(const struct sb_call *call)
{
	bool t = call->trans_b;

	return bytes_of(call, t ? call->n : call->k, t ? call->k : call->n, call->ldb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = read_input(data, size);
	struct sb_call call = call_of(&in);
	enum sb_call_kind kind = kind_under(in.mxcsr, &call);
	int swapped = in.layout == 101, legal = kind != SB_CALL_ILLEGAL, wanted, info;
	int aligned, other = !in.fortran ? in.trans_a == 114 || in.trans_b == 114
					 : in.letter_a == 'R' || in.letter_b == 'R';
	const char *side;

	fuzz_operand_make(&in.a, swapped ? bytes_b(&call) : bytes_a(&call));
	fuzz_operand_make(&in.b, swapped ? bytes_a(&call) : bytes_b(&call));
	if (in.alias && (!legal || in.b.bytes > in.a.bytes))
		in.alias = 0;
	fuzz_operand_make(&in.c, bytes_of(&call, call.m, call.n, call.ldc));
	call.a = swapped ? (in.alias ? in.a.first : in.b.first) : in.a.first;
	call.b = swapped || in.alias ? in.a.first : in.b.first;
	call.c = in.c.first;
	aligned = fuzz_aligned(&call);
	fuzz_operands_lock();
	fuzz_keep(&in.c, FUZZ_BEFORE);
	run(&in, openblas_cblas, openblas_f77);
	wanted = complaints.calls;
	info = complaints.info;
	fuzz_keep(&in.c, FUZZ_OPENBLAS);
	fuzz_put_back(&in.c);
	side = answer(&in);
	FUZZ_CHECK(complaints.calls == wanted && complaints.info == info,
		   "%d complaints of %d, not %d of %d", complaints.calls, complaints.info, wanted,
		   info);
	/* What is legal to OpenBLAS alone is OpenBLAS's. */
	if (kind == SB_CALL_WORK && in.route == ROUTE_GPU && aligned && !other)
		FUZZ_CHECK(strcmp(side, "gpu") == 0 &&
				   in.emulate == (strcmp(arithmetic, "strict") != 0),
			   "the %s has answered, %s, %s", side, reason, arithmetic);
	if (in.route == ROUTE_FAULT && kind == SB_CALL_WORK && aligned && !other)
		fuzz_check_near(&in.c, &call);
	else if (strcmp(side, "gpu") == 0 && in.route != ROUTE_CHECK)
		fuzz_check_oracle(&in.c, &call,
				  strcmp(arithmetic, "strict") ? sb_oracle_emulated : sb_oracle);
	else
		fuzz_check_same(&in.c);
	fuzz_operands_unlock();
	return 0;
}
