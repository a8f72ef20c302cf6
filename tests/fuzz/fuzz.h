/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fuzzing targets share. A target is a function of bytes, as libFuzzer calls it; replay.c
 * calls it with the files of a corpus where there is no libFuzzer. Whatever the bytes are, a target
 * returns; where the library was wrong it says what and aborts.
 */
#ifndef SB_FUZZ_H
#define SB_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define FUZZ_CHECK(condition, ...)                                                                 \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);            \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Bytes that are read one after the other; zeros when there are no more. */
struct fuzz_bytes {
	const uint8_t *at, *end;
};

static inline unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
	return bytes->at < bytes->end ? *bytes->at++ : 0;
}

static inline uint32_t fuzz_word(struct fuzz_bytes *bytes)
{
	uint32_t word = 0;

	for (int i = 0; i < 4; i++)
		word = word << 8 | fuzz_byte(bytes);
	return word;
}

#endif
