/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_operand.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "oracle.h"

enum { PAGE = 4096, ARENA = 6 << 20, MARGIN = 256 };

enum fill { FILL_UNIFORM, FILL_WHOLE, FILL_WIDE, FILL_SPECIAL, FILL_ONES, FILL_HUGE, FILLS };

static char *arenas[3];
static char *kept[FUZZ_KEPT];
static float *expected;
static int last_index, moderate;

void fuzz_operands_open(void)
{
	for (int i = 0; i < 3; i++) {
		char *all =
			mmap(NULL, ARENA + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		FUZZ_CHECK(all != MAP_FAILED &&
				   mprotect(all + PAGE, ARENA, PROT_READ | PROT_WRITE) == 0,
			   "no memory");
		arenas[i] = all + PAGE;
	}
	for (int i = 0; i < FUZZ_KEPT; i++)
		kept[i] = malloc(ARENA);
	expected = malloc(ARENA);
	FUZZ_CHECK(kept[0] && kept[1] && expected, "no memory");
}

void fuzz_operand_read(struct fuzz_operand *operand, struct fuzz_bytes *bytes)
{
	unsigned place = fuzz_byte(bytes);

	operand->index = last_index++ % 3;
	operand->at_end = place & 1;
	operand->offset = place >> 1 & 31;
	/* Mostly whole elements: nobody but the CPU takes others. */
	if (place >> 6)
		operand->offset &= ~3u;
	operand->fill = fuzz_byte(bytes) % FILLS;
	operand->seed = fuzz_word(bytes);
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state ^ *state >> 16;
}

static float value(const struct fuzz_operand *operand, uint32_t *state)
{
	static const uint32_t special[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x80000000,
					   0x00000001, 0x007fffff, 0x7f7fffff, 0xffc12345};
	uint32_t word = next(state);
	float uniform = (float)(int32_t)word * 0x1p-31f, x;

	switch (operand->fill) {
	case FILL_WHOLE:
		return (float)(int)(word % 9) - 4;
	case FILL_WIDE:
		return ldexpf(uniform, (int)(next(state) % 60) - 30);
	case FILL_SPECIAL:
		if (word % 37)
			return uniform;
		memcpy(&x, &special[next(state) % 8], sizeof x);
		return x;
	case FILL_ONES:
		memset(&x, 0xff, sizeof x);
		return operand->index == 2 ? x : 1;
	case FILL_HUGE:
		return ldexpf(uniform, 120);
	default:
		return uniform;
	}
}

/* What lies around an operand has values too. */
void fuzz_operand_make(struct fuzz_operand *operand, size_t bytes)
{
	char *arena = arenas[operand->index], *from, *to;
	uint32_t state = operand->seed;

	FUZZ_CHECK(bytes + 64 <= ARENA, "%zu bytes", bytes);
	operand->bytes = bytes;
	operand->first =
		operand->at_end ? arena + ARENA - operand->offset - bytes : arena + operand->offset;
	from = operand->first - MARGIN < arena ? arena : operand->first - MARGIN;
	to = operand->first + bytes + MARGIN;
	to = to > arena + ARENA ? arena + ARENA : to;
	for (char *at = from; to - at >= (ptrdiff_t)sizeof(float); at += sizeof(float)) {
		float x = value(operand, &state);

		memcpy(at, &x, sizeof x);
	}
	moderate =
		(operand->index == 0 || moderate) &&
		(operand->fill == FILL_UNIFORM || operand->fill == FILL_WHOLE ||
		 operand->fill == FILL_WIDE || (operand->fill == FILL_ONES && operand->index < 2));
}

void fuzz_operands_lock(void)
{
	for (int i = 0; i < 2; i++)
		(void)mprotect(arenas[i], ARENA, PROT_READ);
}

void fuzz_operands_unlock(void)
{
	for (int i = 0; i < 2; i++)
		(void)mprotect(arenas[i], ARENA, PROT_READ | PROT_WRITE);
}

/* C and its margin, in the arena and where it is kept. */
struct around {
	char *at;
	size_t bytes, before; /* before: of C's first element */
};

static struct around around(const struct fuzz_operand *c)
{
	char *arena = arenas[c->index], *end = c->first + c->bytes + MARGIN;
	struct around a = {.at = c->first - MARGIN < arena ? arena : c->first - MARGIN};

	end = end > arena + ARENA ? arena + ARENA : end;
	a.bytes = (size_t)(end - a.at);
	a.before = (size_t)(c->first - a.at);
	return a;
}

void fuzz_keep(const struct fuzz_operand *c, enum fuzz_kept which)
{
	struct around a = around(c);

	memcpy(kept[which], a.at, a.bytes);
}

void fuzz_put_back(const struct fuzz_operand *c)
{
	struct around a = around(c);

	memcpy(a.at, kept[FUZZ_BEFORE], a.bytes);
}

int fuzz_aligned(const struct sb_call *call)
{
	return (((uintptr_t)call->a | (uintptr_t)call->b | (uintptr_t)call->c) & 3) == 0;
}

void fuzz_check_same(const struct fuzz_operand *c)
{
	struct around a = around(c);

	for (size_t i = 0; i < a.bytes; i++)
		FUZZ_CHECK(a.at[i] == kept[FUZZ_OPENBLAS][i], "byte %td of C is not OpenBLAS's",
			   (ptrdiff_t)(i - a.before));
}

/* What lies between and around the columns of C is as before. */
static void check_padding(const struct fuzz_operand *c, const struct sb_call *call)
{
	struct around a = around(c);
	const size_t column = (size_t)call->ldc * sizeof(float);

	for (size_t i = 0; i < a.bytes; i++) {
		size_t inside = i - a.before;
		int element = i >= a.before && inside < c->bytes &&
			      inside % column < (size_t)call->m * sizeof(float);

		FUZZ_CHECK(element || a.at[i] == kept[FUZZ_BEFORE][i], "byte %td is not C's",
			   (ptrdiff_t)inside);
	}
}

void fuzz_check_oracle(const struct fuzz_operand *c, const struct sb_call *call,
		       fuzz_oracle *oracle)
{
	const float *found = call->c;

	check_padding(c, call);
	memcpy(expected, kept[FUZZ_BEFORE] + around(c).before, c->bytes);
	oracle(call->m, call->n, call->k, call->alpha, call->a, call->trans_a ? call->lda : 1,
	       call->trans_a ? 1 : call->lda, call->b, call->trans_b ? 1 : call->ldb,
	       call->trans_b ? call->ldb : 1, call->beta, expected, call->ldc);
	for (int64_t j = 0; j < call->n; j++)
		for (int64_t i = 0; i < call->m; i++)
			FUZZ_CHECK(sb_oracle_same(found[i + j * call->ldc],
						  expected[i + j * call->ldc]),
				   "C(%d,%d) is %a, not %a", (int)i, (int)j,
				   (double)found[i + j * call->ldc],
				   (double)expected[i + j * call->ldc]);
}

static double at(const void *x, int64_t i, int64_t j, int64_t ld, bool trans)
{
	return (double)((const float *)x)[trans ? j + i * ld : i + j * ld];
}

void fuzz_check_near(const struct fuzz_operand *c, const struct sb_call *call)
{
	const float *found = call->c;
	const char *before = kept[FUZZ_BEFORE] + around(c).before;

	check_padding(c, call);
	if (!moderate || !(fabsf(call->alpha) < 1e6f) || !(fabsf(call->beta) < 1e6f))
		return;
	for (int64_t j = 0; j < call->n; j++)
		for (int64_t i = 0; i < call->m; i++) {
			double sum = 0, magnitude = 0, wanted, apart;
			float old = 0;

			for (int64_t k = 0; k < call->k; k++) {
				double product = at(call->a, i, k, call->lda, call->trans_a) *
						 at(call->b, k, j, call->ldb, call->trans_b);

				sum += product;
				magnitude += fabs(product);
			}
			if (call->beta != 0.0f)
				memcpy(&old, before + (size_t)(i + j * call->ldc) * sizeof old,
				       sizeof old);
			wanted = (double)call->alpha * sum + (double)call->beta * (double)old;
			magnitude = fabs((double)call->alpha) * magnitude +
				    fabs((double)call->beta * (double)old);
			apart = fabs((double)found[i + j * call->ldc] - wanted);
			/* Rounded in whatever direction: an epsilon each, not a half. */
			FUZZ_CHECK(apart <= 2 * (double)(call->k + 2) * (double)FLT_EPSILON *
							    magnitude +
						    1e-30,
				   "C(%d,%d) is %a, not %a", (int)i, (int)j,
				   (double)found[i + j * call->ldc], wanted);
		}
}
