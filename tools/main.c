/* SPDX-License-Identifier: BSD-3-Clause */
/* The command `shimblas`: picks a subcommand. */
#include <stdio.h>

#include "command.h"
#include "usage.h"

int main(int argc, char **argv)
{
	const struct sb_command *command = argc > 1 ? sb_command_find(argv[1]) : NULL;
	const char *word = argc > 1 ? argv[1] : "";

	/* `run` passes what follows the program on, so only the word right behind it is for us. */
	if (command && argc > 2 && sb_usage_is(argv[2], "--help", "-h"))
		return sb_command_help(2, argv);
	if (command)
		return command->run(argc - 1, argv + 1);
	/* What every command is tried with. */
	if (sb_usage_is(word, "--version", "-V"))
		return sb_command_version(1, argv + 1);
	if (sb_usage_is(word, "--help", "-h"))
		return sb_command_help(1, argv + 1);
	if (argc > 1)
		fprintf(stderr, "shimblas: no such subcommand: %s\n", word);
	sb_usage_all(stderr);
	return SB_EXIT_USAGE;
}
