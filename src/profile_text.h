/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: a profile as text, read from memory. Pure, and indifferent to the locale.
 *
 * A line is a word and its values, with spaces between; # begins a comment. The first line is
 * "shimblas profile FORMAT", the last "end"; what stands between may be in any order:
 *     gpu NAME            driver N            backend FILE      processors N
 *     key HASH            of those four
 *     device ARCH MULTIPROCESSORS KHZ SHARED-BYTES MAPS MEBIBYTES
 *     start T             launch T            overlap X           kernel X
 *     emulated X          optional; else it is kernel's
 *     link WAY T...       for each size; WAY is staged-up, staged-down, pinned-up or pinned-down
 *     whole WAY M N X...  for each k, of every M and N; WAY is nn, nt, tn or tt: which of A and B
 *                         are transposed; optional, and so are all ways but nn, which serves for
 *                         those that are not there
 *     cpu THREADS WAY M N T...  the same
 * T are microseconds, X plain numbers. All are positive, and those of `cpu` do not fall where a
 * size grows.
 */
#ifndef SB_PROFILE_TEXT_H
#define SB_PROFILE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "profile.h"

extern const char *const sb_link_words[SB_LINKS];

/* The hash of what a profile was measured on, by which files are named. */
uint64_t sb_profile_key(const char *gpu, int driver, const char *backend, int processors);

/* Fills a profile from text that need not end in a zero. NULL, or what is wrong with it. */
const char *sb_profile_parse(const char *text, size_t length, struct sb_profile *profile);

#endif
