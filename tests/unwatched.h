/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For arithmetic of the tests' own that takes a sanitizer minutes: functions that read and write
 * nothing but their arguments and locals, of sizes that the compiler knows (SB_UNWATCHED), or
 * memory that no other thread has (SB_OWN_MEMORY, where only races are not looked for).
 */
#ifndef SB_UNWATCHED_H
#define SB_UNWATCHED_H

#define SB_UNWATCHED                                                                               \
	__attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))
#define SB_OWN_MEMORY __attribute__((no_sanitize("thread")))

#endif
