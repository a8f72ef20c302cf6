/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: lines of words in memory that need not end in a zero. Pure, and indifferent to the
 * locale. Each function takes what it reads off the front; false: it was not there.
 */
#ifndef SB_PROFILE_WORDS_H
#define SB_PROFILE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* What is left of a line, or of all lines. */
struct sb_words {
	const char *at, *end;
};

/* The next line of all; comments (from # on) and empty lines are passed over. */
bool sb_words_line(struct sb_words *all, struct sb_words *line);

/* The next word; empty at the end of the line. */
struct sb_words sb_words_next(struct sb_words *line);
bool sb_words_are(struct sb_words word, const char *text);

/* Digits with at most one point; fewer than 16 of them, so that a double holds it. */
bool sb_words_decimal(struct sb_words *line, double *value);
/* The same, above zero, times a unit. */
bool sb_words_positive(struct sb_words *line, double unit, double *value);
bool sb_words_integer(struct sb_words *line, int least, int most, int *value);

/* The rest of the line, as a text. */
bool sb_words_rest(struct sb_words *line, char *into, size_t size);

#endif
