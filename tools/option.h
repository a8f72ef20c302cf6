/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of the subcommands, and what of them a command line gave.
 *
 * Long options take a value as --word=VALUE or --word VALUE, letters as -v or several in one word.
 * Options end at the first word that is none, or after "--".
 */
#ifndef SB_OPTION_H
#define SB_OPTION_H

#include <stdbool.h>

struct sb_option {
	const char *command, *word;
	char letter;	   /* 0: none */
	const char *value; /* what it is called in a usage text; "" if there is none */
	const char *text;
};

enum sb_option_row {
#define SB_OPTION(command, field, letter, value, text) SB_OPTION_##command##_##field,
#include "options.def"
#undef SB_OPTION
	SB_OPTIONS
};

const struct sb_option *sb_option_row(enum sb_option_row row);

struct sb_options {
	const char *value[SB_OPTIONS]; /* the last one given; "" for an option without a value */
	int times[SB_OPTIONS];	       /* how often it was given */
	int rest;		       /* argv[rest] is the first word that is no option */
};

/*
 * Reads argv[1] on as options of the subcommand argv[0]. False, after a line on standard error, if
 * one is unknown or lacks its value. `strict`: no words may be left.
 */
bool sb_option_parse(int argc, char **argv, bool strict, struct sb_options *options);

/* A number from `least` to `most` that the option was given, else `fallback`; -1 after a line on
 * standard error if it makes no sense. */
long sb_option_number(const struct sb_options *options, enum sb_option_row row, long fallback,
		      long least, long most);

#endif
