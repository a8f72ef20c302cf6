/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shimblas.h -- what a program that knows of ShimBLAS can ask it.
 *
 * A program needs none of this to be served: it calls the BLAS. These functions tell it what became
 * of its calls and let it choose a side. All are safe from any thread.
 *
 * ABI promise: a function or a field, once released, keeps its name, meaning and place as long as
 * the library is libshimblas.so.0. Structs grow at their end only: the caller sets `size` to
 * sizeof its struct, and the library fills in no more than that.
 */
#ifndef SHIMBLAS_H
#define SHIMBLAS_H

#include <stddef.h>
#include <stdint.h>

#define SHIMBLAS_VERSION_MAJOR 0
#define SHIMBLAS_VERSION_MINOR 1
#define SHIMBLAS_VERSION_PATCH 0
#define SHIMBLAS_VERSION                                                                           \
	(SHIMBLAS_VERSION_MAJOR * 10000 + SHIMBLAS_VERSION_MINOR * 100 + SHIMBLAS_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* SHIMBLAS_VERSION of the library in this process, and the same as text ("0.1.0"). */
int shimblas_version(void);
const char *shimblas_version_string(void);

/* Which side answers: as the variable SHIMBLAS_MODE. */
enum shimblas_mode {
	SHIMBLAS_MODE_AUTO = 0,
	SHIMBLAS_MODE_CPU = 1,
	SHIMBLAS_MODE_GPU = 2,
	SHIMBLAS_MODE_CHECK = 3
};
enum shimblas_mode shimblas_get_mode(void);
/* From the next call on, in every thread. Returns 0, or -1 for a mode that does not exist. */
int shimblas_set_mode(enum shimblas_mode mode);

/* The arithmetic of products on the GPU: as the variable SHIMBLAS_MATH. */
enum shimblas_math { SHIMBLAS_MATH_STRICT = 0, SHIMBLAS_MATH_EMULATED = 1 };
enum shimblas_math shimblas_get_math(void);
/* From the next call on, in every thread. Returns 0, or -1 for one that does not exist. */
int shimblas_set_math(enum shimblas_math math);

/* One side's calls since the start of the process or the last reset. */
struct shimblas_side_statistics {
	uint64_t calls;
	double flops;	/* 2mnk each */
	double bytes;	/* of A, B and C, each counted once */
	double seconds; /* counted only where SHIMBLAS_REPORT or SHIMBLAS_VERBOSE asks for it */
};
struct shimblas_statistics {
	size_t size; /* set by the caller */
	struct shimblas_side_statistics cpu, gpu;
};
/* Returns 0, or -1 if `size` is none that any version has had. */
int shimblas_get_statistics(struct shimblas_statistics *statistics);
void shimblas_reset_statistics(void);

/* What became of this thread's last call. Texts live as long as the library. */
struct shimblas_decision {
	size_t size;	    /* set by the caller */
	const char *side;   /* "cpu" or "gpu" */
	const char *reason; /* a word as in the verbose line, "small" say */
	const char *kernel; /* that ran on the GPU, or NULL */
	int64_t m, n, k;    /* column-major: a row-major call has m and n exchanged */
	double seconds;	    /* 0 where no clock was asked for */
	/* "strict", or "fp16x3" or "bf16x6" where most of C was emulated; "-" on the CPU */
	const char *arithmetic;
	/* What kept C, or tiles of it, from the first tier, "guard" say; "-": nothing. Of an
	 * emulated product it is looked at only where SHIMBLAS_REPORT or SHIMBLAS_VERBOSE asks for
	 * it. */
	const char *fallback;
};
/* Returns 0, or -1 if this thread has made no call or `size` is unknown. */
int shimblas_last_decision(struct shimblas_decision *decision);

/* Appends a report to a file now, as SHIMBLAS_REPORT does at exit. Returns 0, or -1. */
int shimblas_report(const char *path);

/* The sentence that explains a reason word; NULL for a word that is none. */
const char *shimblas_explain_reason(const char *word);

/*
 * This library's own entry for an exported BLAS spelling ("sgemm_", say), for those who fill tables
 * of BLAS functions; NULL if the spelling is not one of ours.
 */
void (*shimblas_entry(const char *spelling))(void);

/*
 * The path of the library that answers what the GPU does not, for calls of a spelling made from the
 * caller of this function; "" for the built-in loops; NULL for a spelling that is not ours.
 */
const char *shimblas_backend(const char *spelling);

#ifdef __cplusplus
}
#endif

#endif
