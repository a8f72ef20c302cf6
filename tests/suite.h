/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every suite begins with: a table of cases is run by CUnit, and what must happen in a process
 * of its own (settings are read once, backends remembered, a signal may kill) runs in a child.
 */
#ifndef SUITE_H
#define SUITE_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct suite_case {
	const char *name; /* the behaviour, as a sentence */
	void (*run)(void);
};

/* Runs a table and prints CUnit's summary. The exit status: 0 passed, 1 failed. */
int suite_run(const char *name, const struct suite_case *cases, size_t count);
#define SUITE(name, cases) suite_run(name, cases, sizeof(cases) / sizeof *(cases))

/*
 * Says why something cannot run here and returns 77. A suite in which a case says so, and none
 * failed, ends with 77 too.
 */
int suite_skip(const char *why);

/* A file of the build or of the source tree; the library under test. Texts live for ever. */
const char *suite_built(const char *file);
const char *suite_library(void);
/* A function of the library under test, which is opened RTLD_LOCAL; the suite ends without it. */
void *suite_symbol(const char *name);
/* Is everything watched by a sanitizer? Then what is tried many times takes minutes. */
bool suite_sanitized(void);
/* An empty folder that goes away at the end of the suite. */
const char *suite_scratch(void);

/*
 * Runs a function in a child and waits: 0 if each SUITE_EXPECT in it held, 1 if one did not, 128 +
 * n if signal n ended it (SIGALRM after 60 s). What it writes to stderr is kept for
 * suite_child_said() until the next child.
 */
int suite_child(void (*run)(void));
const char *suite_child_said(void);
/* The lines the last child wrote to stderr. */
int suite_child_lines(void);

/* Ends a child as a program ends, destructors included. */
_Noreturn void suite_exit(void);

/* The CHECK of a child. */
#define SUITE_EXPECT(condition) suite_expect((condition), #condition, __FILE__, __LINE__)
void suite_expect(bool holds, const char *condition, const char *file, int line);
/* A child that passed, with what it said if it did not. */
#define SUITE_CHILD_PASSES(run) suite_child_passes(run, #run, __FILE__, (unsigned)__LINE__)
void suite_child_passes(void (*run)(void), const char *name, const char *file, unsigned line);

/* Reproducible pseudo-random numbers. */
uint64_t suite_random(void);
float suite_uniform(void);			  /* in [-1, 1) */
int64_t suite_between(int64_t low, int64_t high); /* both included */
void suite_fill(float *values, size_t count);

#endif
