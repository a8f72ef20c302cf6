/* SPDX-License-Identifier: BSD-3-Clause */
/* Every exported spelling, called as a program calls it, against double precision and OpenBLAS. */
#include <stdlib.h>
#include <string.h>

#include "distance.h"
#include "suite.h"

typedef void cblas32(int layout, int trans_a, int trans_b, int m, int n, int k, float alpha,
		     const void *a, int lda, const void *b, int ldb, float beta, void *c, int ldc);
typedef void cblas64(int layout, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
		     float alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
		     float beta, void *c, int64_t ldc);
/* What travels in registers: the upper half of a 32-bit argument is anybody's. */
typedef void registers(int64_t layout, int64_t trans_a, int64_t trans_b, int64_t m, int64_t n,
		       int64_t k, float alpha, const void *a, int64_t lda, const void *b,
		       int64_t ldb, float beta, void *c, int64_t ldc);
typedef void f77(const char *trans_a, const char *trans_b, const void *m, const void *n,
		 const void *k, const float *alpha, const void *a, const void *lda, const void *b,
		 const void *ldb, const float *beta, void *c, const void *ldc);
typedef void f77_with_lengths(const char *trans_a, const char *trans_b, const void *m,
			      const void *n, const void *k, const float *alpha, const void *a,
			      const void *lda, const void *b, const void *ldb, const float *beta,
			      void *c, const void *ldc, size_t length_a, size_t length_b);

enum interface { CBLAS, F77 };
static const struct spelling {
	const char *name;
	enum interface interface;
	size_t bytes;
} spellings[] = {
#define SB_NAME(interface, spelling, integer, plain) {#spelling, interface, sizeof(integer)},
#include "names.def"
#undef SB_NAME
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

/* The three words for a transpose, and the two for none, in turn. */
static int word(bool transposed)
{
	return !transposed ? NOTRANS : suite_random() % 2 ? TRANS : CONJTRANS;
}

static const char *letter(bool transposed)
{
	static const char *const letters[2][4] = {{"N", "n", "NO", "n"}, {"T", "t", "C", "c"}};

	return letters[transposed][suite_random() % 4];
}

static int64_t dirty(int64_t value)
{
	return (int64_t)((suite_random() << 32) | (uint32_t)value);
}

static void call_cblas(void *function, size_t bytes, bool row_major, bool garbage,
		       const struct sb_call *call)
{
	/* A row-major product is held as the column-major product of the operands exchanged. */
	const struct sb_call x = *call;
	int ta = word(row_major ? x.trans_b : x.trans_a),
	    tb = word(row_major ? x.trans_a : x.trans_b);
	int64_t m = row_major ? x.n : x.m, n = row_major ? x.m : x.n;
	int64_t lda = row_major ? x.ldb : x.lda, ldb = row_major ? x.lda : x.ldb;
	const void *a = row_major ? x.b : x.a, *b = row_major ? x.a : x.b;
	int layout = row_major ? ROW : COLUMN;

	if (garbage && bytes == 4)
		((registers *)function)(dirty(layout), dirty(ta), dirty(tb), dirty(m), dirty(n),
					dirty(x.k), x.alpha, a, dirty(lda), b, dirty(ldb), x.beta,
					x.c, dirty(x.ldc));
	else if (garbage)
		((registers *)function)(dirty(layout), dirty(ta), dirty(tb), m, n, x.k, x.alpha, a,
					lda, b, ldb, x.beta, x.c, x.ldc);
	else if (bytes == 4)
		((cblas32 *)function)(layout, ta, tb, (int)m, (int)n, (int)x.k, x.alpha, a,
				      (int)lda, b, (int)ldb, x.beta, x.c, (int)x.ldc);
	else
		((cblas64 *)function)(layout, ta, tb, m, n, x.k, x.alpha, a, lda, b, ldb, x.beta,
				      x.c, x.ldc);
}

static void call_f77(void *function, size_t bytes, bool lengths, bool garbage,
		     const struct sb_call *call)
{
	const struct sb_call x = *call;
	/* A 32-bit integer in memory, with something else after it. */
	int64_t m = x.m, n = x.n, k = x.k, lda = x.lda, ldb = x.ldb, ldc = x.ldc;

	if (garbage && bytes == 4) {
		m = dirty(m);
		n = dirty(n);
		k = dirty(k);
		lda = dirty(lda);
		ldb = dirty(ldb);
		ldc = dirty(ldc);
	}
	if (lengths)
		((f77_with_lengths *)function)(letter(x.trans_a), letter(x.trans_b), &m, &n, &k,
					       &x.alpha, x.a, &lda, x.b, &ldb, &x.beta, x.c, &ldc,
					       1, 1);
	else
		((f77 *)function)(letter(x.trans_a), letter(x.trans_b), &m, &n, &k, &x.alpha, x.a,
				  &lda, x.b, &ldb, &x.beta, x.c, &ldc);
}

/* `flag` is the layout, or whether lengths are passed. */
static bool agrees(const struct spelling *spelling, bool flag, bool garbage, struct sb_call call)
{
	void *function = suite_symbol(spelling->name);
	float *before = distance_copy(&call);
	double distance;

	if (spelling->interface == CBLAS)
		call_cblas(function, spelling->bytes, flag, garbage, &call);
	else
		call_f77(function, spelling->bytes, flag, garbage, &call);
	distance = distance_of(&call, before);
	if (!(distance <= 1))
		printf("    %s m=%ld n=%ld k=%ld: %g\n", spelling->name, (long)call.m, (long)call.n,
		       (long)call.k, distance);
	free(before);
	distance_close(&call);
	return distance <= 1;
}

static void every_spelling_multiplies(void)
{
	for (int i = 0; i < SPELLINGS; i++)
		for (int round = 0; round < 80; round++)
			CU_ASSERT_TRUE(agrees(&spellings[i], round & 1, round & 2,
					      distance_random(round < 70 ? 24 : 150)));
}

static void all_transposes_of_all_spellings(void)
{
	for (int i = 0; i < SPELLINGS; i++)
		for (int which = 0; which < 16; which++) {
			struct sb_call call = {.trans_a = which & 1,
					       .trans_b = which & 2,
					       .m = 5,
					       .n = 7,
					       .k = 3,
					       .alpha = 1,
					       .beta = -1};

			call.lda = (call.trans_a ? 3 : 5) + 1;
			call.ldb = (call.trans_b ? 7 : 3) + 2;
			call.ldc = 8;
			distance_open(&call);
			CU_ASSERT_TRUE(agrees(&spellings[i], which & 4, which & 8, call));
		}
}

static void a_vector_is_a_matrix_too(void)
{
	for (int i = 0; i < SPELLINGS; i++)
		for (int which = 0; which < 8; which++) {
			struct sb_call call = {.m = which & 1 ? 300 : 1,
					       .n = which & 2 ? 300 : 1,
					       .k = which & 4 ? 300 : 1,
					       .alpha = 1};

			call.lda = call.ldc = call.m;
			call.ldb = call.k;
			distance_open(&call);
			CU_ASSERT_TRUE(agrees(&spellings[i], which & 1, which & 2, call));
		}
}

static bool plain_agrees(const struct spelling *spelling, struct sb_call call)
{
	float *theirs = distance_copy(&call);
	bool same;

	distance_openblas(&call, theirs);
	if (spelling->interface == CBLAS)
		call_cblas(suite_symbol(spelling->name), 4, false, false, &call);
	else
		call_f77(suite_symbol(spelling->name), 4, true, false, &call);
	same = memcmp(theirs, call.c, sb_call_bytes_c(&call)) == 0;
	free(theirs);
	distance_close(&call);
	return same;
}

/* Only where nothing but OpenBLAS can have answered. */
static void on_the_cpu_the_bits_are_openblas_s(void)
{
	int (*set_mode)(int);

	*(void **)&set_mode = suite_symbol("shimblas_set_mode");
	SUITE_EXPECT(set_mode(1) == 0);
	for (int i = 0; i < SPELLINGS; i++)
		for (int round = 0; round < 20 && spellings[i].bytes == 4; round++)
			SUITE_EXPECT(plain_agrees(&spellings[i], distance_random(160)));
}

static void on_the_cpu_the_bits_are_openblass(void)
{
	SUITE_CHILD_PASSES(on_the_cpu_the_bits_are_openblas_s);
}

static void call_without_scalars(void)
{
	const int64_t none = 0, one = 1;

	for (int i = 0; i < SPELLINGS; i++)
		if (spellings[i].interface == F77)
			((f77 *)suite_symbol(spellings[i].name))("N", "N", &none, &one, &one, NULL,
								 NULL, &one, NULL, &one, NULL, NULL,
								 &one);
}

static void a_call_that_computes_nothing_needs_no_scalars(void)
{
	SUITE_CHILD_PASSES(call_without_scalars);
}

static void plain_sgemm_is_not_there(void)
{
	typedef void (*entry_function(const char *))(void);
	entry_function *entry;

	*(void **)&entry = suite_symbol("shimblas_entry");
	CU_ASSERT_PTR_NULL(entry("sgemm"));
	CU_ASSERT_PTR_NULL(entry(""));
	for (int i = 0; i < SPELLINGS; i++) {
		void *symbol = suite_symbol(spellings[i].name);
		void (*function)(void) = entry(spellings[i].name);

		CU_ASSERT_EQUAL(memcmp(&function, &symbol, sizeof symbol), 0);
	}
}

/* By that a Fortran spelling knows which function may call it for the program. */
static void each_fortran_spelling_stands_behind_its_cblas_one(void)
{
	for (int i = 0; i < SPELLINGS; i++) {
		CU_ASSERT_EQUAL(spellings[i].interface, i % 2 ? F77 : CBLAS);
		CU_ASSERT_EQUAL(spellings[i].bytes, spellings[i - i % 2].bytes);
	}
}

static const struct suite_case cases[] = {
	{"each Fortran spelling stands behind its CBLAS one",
	 each_fortran_spelling_stands_behind_its_cblas_one},
	{"every spelling multiplies", every_spelling_multiplies},
	{"all transposes of all spellings", all_transposes_of_all_spellings},
	{"a vector is a matrix too", a_vector_is_a_matrix_too},
	{"on the CPU the bits are OpenBLAS's", on_the_cpu_the_bits_are_openblass},
	{"a call that computes nothing needs no scalars",
	 a_call_that_computes_nothing_needs_no_scalars},
	{"an entry is found by its spelling, and sgemm is not there", plain_sgemm_is_not_there},
};

int main(void)
{
	return SUITE("entry", cases);
}
