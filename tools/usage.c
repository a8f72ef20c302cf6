/* SPDX-License-Identifier: BSD-3-Clause */
#include "usage.h"

#include <string.h>

#include "option.h"

enum { WIDTH = 80 };

/* A text, broken at spaces and indented, beginning at the indent. */
static void wrapped(FILE *out, const char *text, int indent)
{
	int column = indent;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > indent && column + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void sb_usage_all(FILE *out)
{
	fprintf(out, "usage: shimblas COMMAND [ARGUMENT...]\n\n");
	for (int row = 0; row < sb_command_count(); row++) {
		fprintf(out, "  %-9s ", sb_command_row(row)->name);
		wrapped(out, sb_command_row(row)->text, 12);
	}
	fprintf(out, "\n`shimblas help COMMAND` lists its options; see also shimblas(1).\n");
}

void sb_usage_one(FILE *out, const struct sb_command *command)
{
	const char *gap = "\n";

	fprintf(out, "usage: shimblas %s %s\n\n  ", command->name, command->arguments);
	wrapped(out, command->text, 2);
	for (int row = 0; row < SB_OPTIONS; row++) {
		const struct sb_option *option = sb_option_row((enum sb_option_row)row);
		char left[64];

		if (strcmp(option->command, command->name) != 0)
			continue;
		snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter ? "-" : "  ",
			 option->letter ? option->letter : ' ', option->letter ? ", " : " ",
			 option->word, *option->value ? " " : "", option->value);
		fprintf(out, "%s  %-22s  ", gap, left);
		if (strlen(left) > 22)
			fprintf(out, "\n%26s", "");
		wrapped(out, option->text, 26);
		gap = "";
	}
}

bool sb_usage_is(const char *word, const char *long_one, const char *short_one)
{
	return strcmp(word, long_one) == 0 || strcmp(word, short_one) == 0;
}

int sb_command_help(int argc, char **argv)
{
	const struct sb_command *command = argc > 1 ? sb_command_find(argv[1]) : NULL;

	if (argc > 1 && !command) {
		fprintf(stderr, "shimblas: no such subcommand: %s\n", argv[1]);
		sb_usage_all(stderr);
		return SB_EXIT_USAGE;
	}
	if (command)
		sb_usage_one(stdout, command);
	else
		sb_usage_all(stdout);
	return fflush(stdout) ? 1 : 0;
}

int sb_command_version(int argc, char **argv)
{
	struct sb_options options;

	if (!sb_option_parse(argc, argv, true, &options))
		return SB_EXIT_USAGE;
	printf("shimblas %s\n", PACKAGE_VERSION);
	return fflush(stdout) ? 1 : 0;
}
