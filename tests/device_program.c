/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"
#include "settings.h"
#include "suite.h"

enum { COLUMN = 102, NOTRANS = 111, TRANS = 112, GUARD = 16 };
typedef void cblas_function(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
			    const void *a, int lda, const void *b, int ldb, float beta, void *c,
			    int ldc);

static const struct sb_driver *cu;
static sb_cu_context contexts[2];
static cblas_function *gemm;

/* An operand with guards around it, as the program first makes it and where it lies. */
struct operand {
	enum lies lies;
	int64_t width, lines, ld;
	size_t count;
	float *values;
	void *there;
};

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "    the program itself failed: %s\n", what);
		exit(99);
	}
}

void *program_symbol(const char *name)
{
	void *library = dlopen(getenv("SHIMBLAS_DRIVER"), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

	return library ? dlsym(library, name) : NULL;
}

void program_open(void)
{
	*(void **)&gemm = suite_symbol("cblas_sgemm");
	cu = sb_driver_open();
	must(cu != NULL, "a driver");
}

void program_start(void)
{
	int count = 0;

	program_open();
	must(cu->init(0) == 0, "init");
	must(cu->device_count(&count) == 0 && count > 0, "devices");
	for (int i = 0; i < 2 && i < count; i++)
		must(cu->primary_retain(&contexts[i], i) == 0, "contexts");
	must(cu->context_push(contexts[0]) == 0, "the current context");
}

static bool on_device(const struct operand *o)
{
	return o->lies == DEVICE || o->lies == ANOTHER;
}

static void enter(const struct operand *o)
{
	must(cu->context_push(contexts[o->lies == ANOTHER]) == 0, "a context");
}

static void leave(void)
{
	sb_cu_context popped;

	must(cu->context_pop(&popped) == 0, "a context");
}

/* Copies are queued on the legacy stream, which our own streams do not wait for by themselves. */
static void put(const struct operand *o, bool wait)
{
	if (!on_device(o)) {
		if (o->lies != SHUT)
			memcpy(o->there, o->values, o->count * sizeof(float));
		return;
	}
	enter(o);
	must(cu->copy_up((sb_cu_deviceptr)(uintptr_t)o->there, o->values, o->count * sizeof(float),
			 NULL) == 0,
	     "a copy up");
	must(!wait || cu->stream_synchronize(NULL) == 0, "a wait");
	leave();
}

static bool get(const struct operand *o, float *values)
{
	bool got;

	if (o->lies == SHUT)
		return false;
	if (!on_device(o)) {
		memcpy(values, o->there, o->count * sizeof(float));
		return true;
	}
	enter(o);
	got = cu->copy_down(values, (sb_cu_deviceptr)(uintptr_t)o->there, o->count * sizeof(float),
			    NULL) == 0 &&
	      cu->stream_synchronize(NULL) == 0;
	leave();
	return got;
}

static void allocate(struct operand *o)
{
	sb_cu_result (*managed)(sb_cu_deviceptr *, size_t, unsigned);
	size_t bytes = o->count * sizeof(float);
	sb_cu_deviceptr device = 0;

	switch (o->lies) {
	case PINNED:
		must(cu->host_alloc(&o->there, bytes, 0) == 0, "pinned memory");
		return;
	case MANAGED:
		*(void **)&managed = program_symbol("cuMemAllocManaged");
		must(managed && managed(&device, bytes, 1) == 0, "managed memory");
		break;
	case DEVICE:
	case ANOTHER:
		enter(o);
		must(cu->memory_alloc(&device, bytes) == 0, "device memory");
		leave();
		break;
	case SHUT:
		o->there = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		must(o->there != MAP_FAILED, "an address");
		return;
	default:
		o->there = malloc(bytes);
		must(o->there != NULL, "memory");
		return;
	}
	o->there = (void *)(uintptr_t)device;
}

static void make(struct operand *o, enum lies lies, int64_t width, int64_t lines, int64_t gap,
		 unsigned seed)
{
	*o = (struct operand){.lies = lies, .width = width, .lines = lines, .ld = width + gap};
	if (o->ld == 0)
		o->ld = 1;
	o->count = (size_t)(o->ld * (lines ? lines : 1)) + (size_t)2 * GUARD;
	o->values = malloc(o->count * sizeof(float));
	must(o->values != NULL, "memory");
	for (size_t i = 0; i < o->count; i++) {
		seed = seed * 1664525u + 1013904223u;
		o->values[i] = (float)((int)(seed >> 24) % 9 - 4);
	}
}

static void discard(struct operand *o)
{
	if (o->lies == PAGEABLE)
		free(o->there);
	else if (o->lies == SHUT)
		munmap(o->there, o->count * sizeof(float));
	else if (o->lies == PINNED)
		(void)cu->host_free(o->there);
	else
		(void)cu->memory_free((sb_cu_deviceptr)(uintptr_t)o->there);
	free(o->values);
}

static float *first(const struct operand *o)
{
	return (float *)o->there + GUARD;
}

/* What C and its surroundings must hold afterwards. */
static float *expect(const struct shape *s, const struct operand *a, const struct operand *b,
		     const struct operand *c)
{
	float *expected = malloc(c->count * sizeof(float));
	const float *x = a->values + GUARD, *y = b->values + GUARD;

	must(expected != NULL, "memory");
	memcpy(expected, c->values, c->count * sizeof(float));
	for (int64_t j = 0; j < s->n; j++)
		for (int64_t i = 0; i < s->m; i++) {
			float sum = 0, *to = expected + GUARD + i + j * c->ld;

			for (int64_t k = 0; k < s->k; k++)
				sum += x[s->trans_a ? k + i * a->ld : i + k * a->ld] *
				       y[s->trans_b ? j + k * b->ld : k + j * b->ld];
			*to = s->alpha * sum + (s->beta == 0 ? 0 : s->beta * *to);
		}
	return expected;
}

static enum result judge(const struct shape *s, const struct operand operands[3])
{
	const struct operand *c = &operands[2];
	float *expected = expect(s, &operands[0], &operands[1], c);
	float *found = malloc(c->count * sizeof(float));
	enum result result = WRONG;

	must(found != NULL, "memory");
	if (!get(c, found))
		result = UNREACHABLE;
	else if (memcmp(found, expected, c->count * sizeof(float)) == 0)
		result = RIGHT;
	else if (memcmp(found, c->values, c->count * sizeof(float)) == 0)
		result = UNTOUCHED;
	free(expected);
	free(found);
	return result;
}

/* None before CUDA is started. */
static sb_cu_context current_context(void)
{
	sb_cu_context current = NULL;

	return cu->context_current(&current) == 0 ? current : NULL;
}

enum result program_multiplies(const struct shape *s)
{
	struct operand operands[3], *a = &operands[0], *b = &operands[1], *c = &operands[2];
	sb_cu_context before;
	enum result result;

	make(a, s->lies[0], s->trans_a ? s->k : s->m, s->trans_a ? s->m : s->k, s->gap, 1);
	make(b, s->lies[1], s->trans_b ? s->n : s->k, s->trans_b ? s->k : s->n, s->gap, 2);
	make(c, s->lies[2], s->m, s->n, s->gap, 3);
	for (int i = 2; i >= 0; i--) {
		allocate(&operands[i]);
		put(&operands[i], i > 0 || !s->late);
	}
	before = current_context();
	gemm(COLUMN, s->trans_a ? TRANS : NOTRANS, s->trans_b ? TRANS : NOTRANS, (int)s->m,
	     (int)s->n, (int)s->k, s->alpha, first(a), (int)a->ld, first(b), (int)b->ld, s->beta,
	     first(c), (int)c->ld);
	must(before == current_context(), "the context is another");
	result = judge(s, operands);
	for (int i = 0; i < 3; i++)
		discard(&operands[i]);
	return result;
}
