/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a subcommand has to say, for people (text), for spreadsheets (CSV) or for programs (JSON):
 * single words and tables with named columns, said once and written in each of the three ways.
 *
 * JSON is one object: "format" (a number, raised when a field changes its meaning or goes away), a
 * member a word, and an array of objects a table. In CSV words are comment lines that begin with #.
 * A column whose name begins with '#' (not printed) holds numbers: to the right in text, bare in
 * JSON, where anything that is no number, "-" say, is null.
 */
#ifndef SB_PAGE_H
#define SB_PAGE_H

#include <stdio.h>

enum sb_style { SB_STYLE_TEXT, SB_STYLE_CSV, SB_STYLE_JSON };

struct sb_page {
	FILE *out;
	enum sb_style style;
	int members; /* written so far */
};

void sb_page_open(struct sb_page *page, FILE *out, enum sb_style style, int format);
/* A word or a sentence under its name. */
void sb_page_say(struct sb_page *page, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Ends the page; the exit status for it: 1 if it could not all be written. */
int sb_page_close(struct sb_page *page);

/* A table, filled cell by cell, row by row; memory that is short ends the command with a message.
 */
struct sb_table {
	const char *name;
	const char *const *columns; /* NULL after the last */
	int width;		    /* columns */
	char **cells;
	int count, room;
};
void sb_table_open(struct sb_table *table, const char *name, const char *const *columns);
void sb_table_cell(struct sb_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes the table and empties it. */
void sb_page_table(struct sb_page *page, struct sb_table *table);

#endif
