/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of an HTML page that is well-formed XML too. */
#ifndef SB_HTML_H
#define SB_HTML_H

#include <stdio.h>

/* A text, with what HTML would read as its own escaped, and control characters as spaces. */
void sb_html_text(FILE *out, const char *text);

/* Numbers as people read them: "1.24 s", "35 ms", "2 min 10 s"; "12,300"; "85 %". */
struct sb_html_number {
	char text[48];
};
struct sb_html_number sb_html_seconds(double seconds);
/* The same with its sign. */
struct sb_html_number sb_html_gain(double seconds);
struct sb_html_number sb_html_count(double count);
struct sb_html_number sb_html_percent(double share);

#endif
