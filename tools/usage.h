/* SPDX-License-Identifier: BSD-3-Clause */
/* The usage texts, made from the tables. */
#ifndef SB_USAGE_H
#define SB_USAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

void sb_usage_all(FILE *out);
void sb_usage_one(FILE *out, const struct sb_command *command);

/* Is this word the long or the short one? */
bool sb_usage_is(const char *word, const char *long_one, const char *short_one);

#endif
