/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 2: the CPU's GEMM: the function that the program would have called without us.
 *
 * It is looked for in this order, and never is ourselves, a copy of ourselves, or an object that
 * needs us (the provider):
 *     setting   the library named by SHIMBLAS_BACKEND
 *     next      the next object of the global scope (RTLD_NEXT)
 *     closure   the object that called, and what it was linked with
 *     walk      any loaded object that defines the spelling
 *     fallback  the OpenBLAS found by configure, opened RTLD_LOCAL
 *     built-in  the plain loops of reference.h, so that a call is answered whatever is missing
 * The first two hold for the whole process and are remembered with the spelling; the others depend
 * on the caller (one process can hold several BLAS of the same name) and are remembered with the
 * return address, whose object is kept loaded from then on.
 */
#ifndef SB_BACKEND_H
#define SB_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend_threads.h"
#include "call.h"

enum sb_interface { SB_CBLAS, SB_F77, SB_INTERFACES };

enum sb_source {
	SB_SOURCE_SETTING,
	SB_SOURCE_NEXT,
	SB_SOURCE_CLOSURE,
	SB_SOURCE_WALK,
	SB_SOURCE_FALLBACK,
	SB_SOURCE_BUILT_IN,
	SB_SOURCES
};

typedef void (*sb_function)(void);

/* A function that answers. Made once for each function found, never freed. */
struct sb_backend {
	sb_function function; /* NULL: the built-in loops */
	enum sb_source source;
	int bits;			   /* of its integers, 32 or 64 */
	const char *path;		   /* of the object it lives in, "" if that is not known */
	struct sb_backend_threads threads; /* who is asked for their number */
	struct sb_backend *next;
};

/* One exported spelling: a row of names.def. */
struct sb_name {
	const char *spelling;
	enum sb_interface interface;
	int bits;	   /* of its integers, 32 or 64 */
	int index;	   /* its place in names.def */
	const char *plain; /* the name without prefix and suffix */
	_Atomic(struct sb_backend *) process_wide;
	/* When so many objects had been loaded nobody but the built-in loops had it; 0: not known.
	 */
	_Atomic uint64_t nobody;
};

/*
 * The arguments of a call as they came. CBLAS integers are held in the 64 bits they travel in (a
 * register or a stack slot), whatever the spelling's width: the upper half of a 32-bit argument is
 * passed on as it came. Fortran's are pointers, and the hidden string lengths are not read: many
 * callers pass none. 1 and 1 are passed on.
 */
struct sb_cblas_arguments {
	int64_t layout, trans_a, trans_b, m, n, k;
	float alpha;
	const void *a;
	int64_t lda;
	const void *b;
	int64_t ldb;
	float beta;
	void *c;
	int64_t ldc;
};
struct sb_f77_arguments {
	const char *trans_a, *trans_b;
	const void *m, *n, *k, *alpha, *a, *lda, *b, *ldb, *beta;
	void *c;
	const void *ldc;
};

/* A call to hand on: which spelling, from where, with what. Lives on the entry's stack. */
struct sb_forward {
	struct sb_name *name;
	const void *caller;	    /* return address */
	const struct sb_call *call; /* what the arguments mean, if their width is the spelling's */
	union {
		const struct sb_cblas_arguments *cblas;
		const struct sb_f77_arguments *f77;
	};
};

/* The function that answers this caller's calls of this spelling; never NULL. errno is kept. */
const struct sb_backend *sb_backend_find(struct sb_name *name, const void *caller);

/*
 * The same where it is known at the first look, else NULL. No function call; see stats.h. What was
 * found for a caller is kept by return address and spelling (both, since a wrapper that jumps on
 * leaves its own caller's address for every spelling).
 */
enum { SB_SLOT_BITS = 10, SB_SPELLING_BITS = 4 };
struct sb_slot {
	_Atomic uint64_t key; /* 0: empty */
	_Atomic(struct sb_backend *) backend;
};
extern struct sb_slot sb_backend_slots[1 << SB_SLOT_BITS];

static inline uint64_t sb_backend_key(const struct sb_name *name, const void *caller)
{
	return (uint64_t)(uintptr_t)caller << SB_SPELLING_BITS | (uint64_t)(name->index + 1);
}

static inline size_t sb_backend_slot(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> (64 - SB_SLOT_BITS);
}

static inline const struct sb_backend *sb_backend_known(struct sb_name *name, const void *caller)
{
	struct sb_backend *known = atomic_load_explicit(&name->process_wide, memory_order_acquire);
	uint64_t key = sb_backend_key(name, caller);
	struct sb_slot *slot = &sb_backend_slots[sb_backend_slot(key)];

	if (!known && atomic_load_explicit(&slot->key, memory_order_acquire) == key)
		known = atomic_load_explicit(&slot->backend, memory_order_acquire);
	return known;
}

/*
 * The functions found for CBLAS spellings. netlib's answers by calling the Fortran spelling, which
 * stands behind it in names.def and may be ours again: that is the same call, and was judged and
 * counted. Known by its return address, and not by anything that is held meanwhile.
 */
struct sb_wrapper {
	_Atomic uintptr_t from;
	_Atomic size_t bytes; /* 0: none has been found, or how long it is is not known */
};
extern struct sb_wrapper sb_backend_wrappers[1 << SB_SPELLING_BITS]
	__attribute__((visibility("hidden")));

/* Does this call of a Fortran spelling, by its index, come from there? */
static inline bool sb_backend_wrapped(int index, const void *caller)
{
	const struct sb_wrapper *wrapper = &sb_backend_wrappers[index - 1];

	return (uintptr_t)caller - atomic_load_explicit(&wrapper->from, memory_order_relaxed) <
	       atomic_load_explicit(&wrapper->bytes, memory_order_relaxed);
}

/*
 * Lets the backend answer with the caller's own arguments, untouched. Holds nothing meanwhile: its
 * xerbla may longjmp, its thread may be cancelled.
 */
void sb_backend_run(const struct sb_forward *forward);

/*
 * Lets the backend answer another call (a block of the caller's C, say), legal and with its sizes
 * within the spelling's integer width.
 */
void sb_backend_call(const struct sb_forward *forward, const struct sb_call *call);

/*
 * Does this spelling's backend take integers of another width than the spelling says? Then sizes
 * read from its arguments mean nothing and the call may only be handed on.
 */
bool sb_backend_foreign(struct sb_name *name, const void *caller);

const char *sb_source_word(enum sb_source source);

#endif
