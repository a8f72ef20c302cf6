/* SPDX-License-Identifier: BSD-3-Clause */
#include "option.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields, until they are the words. */
static char words[SB_OPTIONS][16] = {
#define SB_OPTION(command, field, letter, value, text) #field,
#include "options.def"
#undef SB_OPTION
};

static const struct sb_option rows[SB_OPTIONS] = {
#define SB_OPTION(command, field, letter, value, text)                                             \
	{#command, words[SB_OPTION_##command##_##field], letter, value, text},
#include "options.def"
#undef SB_OPTION
};

/* C has no names with hyphens. */
static void hyphenate(void)
{
	for (int row = 0; row < SB_OPTIONS; row++)
		for (char *c = words[row]; (c = strchr(c, '_')); c++)
			*c = '-';
}

const struct sb_option *sb_option_row(enum sb_option_row row)
{
	hyphenate();
	return &rows[row];
}

static int find_word(const char *command, const char *word, size_t length)
{
	for (int row = 0; row < SB_OPTIONS; row++)
		if (strcmp(rows[row].command, command) == 0 && strlen(rows[row].word) == length &&
		    memcmp(rows[row].word, word, length) == 0)
			return row;
	return -1;
}

static int find_letter(const char *command, char letter)
{
	for (int row = 0; row < SB_OPTIONS; row++)
		if (strcmp(rows[row].command, command) == 0 && rows[row].letter == letter)
			return row;
	return -1;
}

static bool complain(char **argv, const char *problem, const char *word)
{
	fprintf(stderr, "shimblas %s: %s: %s; see `shimblas help %s`\n", argv[0], problem, word,
		argv[0]);
	return false;
}

static void note(struct sb_options *options, int row, const char *value)
{
	options->value[row] = value;
	options->times[row]++;
}

/* argv[*at] is --word, --word=VALUE, or --word with its value in the next word. */
static bool parse_word(int argc, char **argv, int *at, struct sb_options *options)
{
	const char *word = argv[*at] + 2, *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	int row = find_word(argv[0], word, length);

	if (row < 0)
		return complain(argv, "no such option", argv[*at]);
	if (!*rows[row].value) {
		if (equals)
			return complain(argv, "takes no value", argv[*at]);
		note(options, row, "");
		return true;
	}
	if (!equals && *at + 1 >= argc)
		return complain(argv, "wants a value", argv[*at]);
	note(options, row, equals ? equals + 1 : argv[++*at]);
	return true;
}

static bool parse_letters(char **argv, int at, struct sb_options *options)
{
	for (const char *letter = argv[at] + 1; *letter; letter++) {
		int row = find_letter(argv[0], *letter);

		if (row < 0)
			return complain(argv, "no such option", argv[at]);
		note(options, row, "");
	}
	return true;
}

bool sb_option_parse(int argc, char **argv, bool strict, struct sb_options *options)
{
	int at = 1;

	hyphenate();
	*options = (struct sb_options){.rest = argc};
	for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		if (argv[at][1] == '-' ? !parse_word(argc, argv, &at, options)
				       : !parse_letters(argv, at, options))
			return false;
	}
	options->rest = at;
	if (strict && at < argc)
		return complain(argv, "what is this", argv[at]);
	return true;
}

long sb_option_number(const struct sb_options *options, enum sb_option_row row, long fallback,
		      long least, long most)
{
	const char *text = options->value[row];
	char *end;
	long value;

	if (!text)
		return fallback;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most) {
		fprintf(stderr, "shimblas %s: --%s=%s makes no sense (a number from %ld to %ld)\n",
			rows[row].command, rows[row].word, text, least, most);
		return -1;
	}
	return value;
}
