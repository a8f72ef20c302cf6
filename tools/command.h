/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of `shimblas` as data. */
#ifndef SB_COMMAND_H
#define SB_COMMAND_H

/* The exit statuses of the command itself; those below 125 of `run` are its program's. */
enum {
	SB_EXIT_USAGE = 2,
	SB_EXIT_RUN_FAILED = 125, /* `run` could not set things up */
	SB_EXIT_NOT_RUNNABLE = 126,
	SB_EXIT_NOT_FOUND = 127
};

struct sb_command {
	const char *name, *arguments, *text;
	int (*run)(int argc, char **argv); /* argv[0] is the subcommand; returns the exit status */
};

int sb_command_count(void);
const struct sb_command *sb_command_row(int row);
/* By name, or NULL. */
const struct sb_command *sb_command_find(const char *name);

#define SB_COMMAND(name, arguments, text) int sb_command_##name(int argc, char **argv);
#include "commands.def"
#undef SB_COMMAND

#endif
