/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes documents from the library's tables while it is built: copies standard input to standard
 * output and puts the rows of a table in place of a line that is its marker, "@settings.mdoc@" say.
 * So no document holds a list that was copied by hand. Not installed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "option.h"
#include "settings.h"
#include "status.h"

/* A word as roff wants it: quotes, option dashes and backslashes. */
static void roff_word(const char *text, size_t length, bool *quoted)
{
	for (const char *end = text + length; text < end; text++) {
		if (*text == '`') {
			fputs(*quoted ? "\\(cq" : "\\(oq", stdout);
			*quoted = !*quoted;
		} else if (*text == '-' && text[1] == '-') {
			fputs("\\-\\-", stdout);
			text++;
		} else {
			fputs(*text == '\\' ? "\\e" : (char[]){*text, '\0'}, stdout);
		}
	}
}

/* A text in lines of at most 72 or so, a new one for a new sentence, as roff counts its spaces. */
static void roff(const char *text)
{
	bool quoted = false;
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		bool sentence = length > 0 && strchr(".:", text[length - 1]) != NULL;

		roff_word(text, length, &quoted);
		column += length + 1;
		text += length + (text[length] == ' ');
		if (!*text || sentence || column + strcspn(text, " ") > 72) {
			putchar('\n');
			column = 0;
		} else {
			putchar(' ');
		}
	}
}

static void item(const char *macro, const char *words, const char *text)
{
	printf(".It %s %s\n", macro, words);
	roff(text);
}

static void settings_mdoc(void)
{
	for (int row = 0; row < sb_settings_count(); row++) {
		const struct sb_setting *setting = sb_settings_row(row);

		printf(".It Ev %s Ns = Ns ", setting->variable);
		for (const char *c = setting->values; *c; c++) {
			if (setting->kind == SB_SETTING_CHOICE && *c == '|')
				fputs(" Ns | Ns ", stdout);
			else
				putchar(*c);
		}
		putchar('\n');
		roff(setting->text);
		if (*setting->fallback)
			printf("The default is %s.\n", setting->fallback);
	}
}

static void reasons_mdoc(void)
{
	for (int reason = 0; reason < SB_REASONS; reason++)
		item("Li", sb_reason_word((enum sb_reason)reason),
		     sb_reason_text((enum sb_reason)reason));
}

/* The first is no fallback. */
static void fallbacks_mdoc(void)
{
	for (int fallback = SB_FALLBACK_NONE + 1; fallback < SB_FALLBACKS; fallback++)
		item("Li", sb_fallback_word((enum sb_fallback)fallback),
		     sb_fallback_text((enum sb_fallback)fallback));
}

static void option_mdoc(const struct sb_option *option)
{
	printf(".It ");
	if (option->letter)
		printf("Fl %c , ", option->letter);
	printf("Fl \\-%s", option->word);
	if (*option->value)
		printf(" Ar %s", option->value);
	putchar('\n');
	roff(option->text);
}

static bool has_options(const char *command)
{
	for (int row = 0; row < SB_OPTIONS; row++)
		if (strcmp(sb_option_row((enum sb_option_row)row)->command, command) == 0)
			return true;
	return false;
}

static void commands_mdoc(void)
{
	for (int row = 0; row < sb_command_count(); row++) {
		const struct sb_command *command = sb_command_row(row);

		printf(".It Cm %s%s%s\n", command->name, *command->arguments ? " " : "",
		       command->arguments);
		roff(command->text);
		if (!has_options(command->name))
			continue;
		puts(".Bl -tag -width Ds -compact");
		for (int i = 0; i < SB_OPTIONS; i++)
			if (strcmp(sb_option_row((enum sb_option_row)i)->command, command->name) ==
			    0)
				option_mdoc(sb_option_row((enum sb_option_row)i));
		puts(".El");
	}
}

static void commands_completion(void)
{
	printf("\tcommands='");
	for (int row = 0; row < sb_command_count(); row++)
		printf("%s%s", row ? " " : "", sb_command_row(row)->name);
	puts("'");
}

/* One arm of a case a subcommand: its options, and those of them that want a file. */
static void options_completion(void)
{
	for (int row = 0; row < sb_command_count(); row++) {
		const char *command = sb_command_row(row)->name, *gap = "";

		if (!has_options(command))
			continue;
		printf("\t%s) options='", command);
		for (int i = 0; i < SB_OPTIONS; i++) {
			const struct sb_option *option = sb_option_row((enum sb_option_row)i);

			if (strcmp(option->command, command) != 0)
				continue;
			if (option->letter) {
				printf("%s-%c", gap, option->letter);
				gap = " ";
			}
			printf("%s--%s", gap, option->word);
			gap = " ";
		}
		puts("' ;;");
	}
}

static void values_completion(void)
{
	for (int i = 0; i < SB_OPTIONS; i++) {
		const struct sb_option *option = sb_option_row((enum sb_option_row)i);

		if (*option->value)
			printf("\t%s:--%s) value='%s' ;;\n", option->command, option->word,
			       option->value);
	}
}

static void settings_markdown(void)
{
	puts("| variable | values | default | what it does |\n|---|---|---|---|");
	for (int row = 0; row < sb_settings_count(); row++) {
		const struct sb_setting *setting = sb_settings_row(row);

		printf("| `%s` | `", setting->variable);
		for (const char *c = setting->values; *c; c++)
			printf(*c == '|' ? "\\|" : "%c", *c);
		printf("` | %s%s%s | %s |\n", *setting->fallback ? "`" : "", setting->fallback,
		       *setting->fallback ? "`" : "", setting->text);
	}
}

static void os_mdoc(void)
{
	printf(".Os ShimBLAS %s\n", PACKAGE_VERSION);
}

static const struct {
	const char *marker;
	void (*write)(void);
} sections[] = {
	{"@commands.completion@\n", commands_completion},
	{"@commands.mdoc@\n", commands_mdoc},
	{"@fallbacks.mdoc@\n", fallbacks_mdoc},
	{"@options.completion@\n", options_completion},
	{"@os.mdoc@\n", os_mdoc},
	{"@reasons.mdoc@\n", reasons_mdoc},
	{"@settings.markdown@\n", settings_markdown},
	{"@settings.mdoc@\n", settings_mdoc},
	{"@values.completion@\n", values_completion},
};

enum { SECTIONS = sizeof sections / sizeof *sections };

int main(void)
{
	char line[4096];

	while (fgets(line, sizeof line, stdin)) {
		int i = 0;

		while (i < SECTIONS && strcmp(line, sections[i].marker) != 0)
			i++;
		if (i < SECTIONS) {
			sections[i].write();
		} else if (line[0] == '@') {
			fprintf(stderr, "tables: no such marker: %s", line);
			return 1;
		} else {
			fputs(line, stdout);
		}
	}
	return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
