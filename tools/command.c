/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <stddef.h>
#include <string.h>

static const struct sb_command rows[] = {
#define SB_COMMAND(name, arguments, text) {#name, arguments, text, sb_command_##name},
#include "commands.def"
#undef SB_COMMAND
};

enum { ROWS = sizeof rows / sizeof *rows };

int sb_command_count(void)
{
	return ROWS;
}

const struct sb_command *sb_command_row(int row)
{
	return &rows[row];
}

const struct sb_command *sb_command_find(const char *name)
{
	for (int row = 0; row < ROWS; row++)
		if (strcmp(rows[row].name, name) == 0)
			return &rows[row];
	return NULL;
}
