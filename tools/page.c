/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void write_json(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte < 0x20)
			fprintf(out, "\\u%04x", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}

static void write_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static bool is_number(const char *text)
{
	size_t digits = strspn(text + (*text == '-'), "0123456789");
	const char *end = text + (*text == '-') + digits;

	if (!digits)
		return false;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	if (*end == 'e' && end[1])
		end += 2 + strspn(end + 2, "0123456789");
	return !*end;
}

static void begin_member(struct sb_page *page, const char *name)
{
	fputs(page->members++ ? "," : "", page->out);
	write_json(page->out, name);
	fputc(':', page->out);
}

void sb_page_open(struct sb_page *page, FILE *out, enum sb_style style, int format)
{
	*page = (struct sb_page){out, style, 0};
	if (style == SB_STYLE_JSON) {
		fputc('{', out);
		begin_member(page, "format");
		fprintf(out, "%d", format);
	}
}

static char *printed(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) >= 0)
		return text;
	fputs("shimblas: out of memory\n", stderr);
	exit(1);
}

void sb_page_say(struct sb_page *page, const char *name, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = printed(format, arguments);
	va_end(arguments);
	switch (page->style) {
	case SB_STYLE_TEXT:
		fprintf(page->out, "%-9s %s\n", name, text);
		break;
	case SB_STYLE_CSV:
		fprintf(page->out, "# %s: %s\n", name, text);
		break;
	case SB_STYLE_JSON:
		begin_member(page, name);
		write_json(page->out, text);
		break;
	}
	free(text);
}

int sb_page_close(struct sb_page *page)
{
	if (page->style == SB_STYLE_JSON)
		fputs("}\n", page->out);
	return fflush(page->out) || ferror(page->out) ? 1 : 0;
}

void sb_table_open(struct sb_table *table, const char *name, const char *const *columns)
{
	*table = (struct sb_table){.name = name, .columns = columns};
	while (columns[table->width])
		table->width++;
}

void sb_table_cell(struct sb_table *table, const char *format, ...)
{
	va_list arguments;

	if (table->count == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->cells = realloc(table->cells, (size_t)table->room * sizeof *table->cells);
		if (!table->cells) {
			fputs("shimblas: out of memory\n", stderr);
			exit(1);
		}
	}
	va_start(arguments, format);
	table->cells[table->count++] = printed(format, arguments);
	va_end(arguments);
}

static bool numeric(const char *column)
{
	return *column == '#';
}

static const char *heading(const char *column)
{
	return column + numeric(column);
}

static int widest(const struct sb_table *table, int column)
{
	size_t width = strlen(heading(table->columns[column]));

	for (int cell = column; cell < table->count; cell += table->width)
		if (strlen(table->cells[cell]) > width)
			width = strlen(table->cells[cell]);
	return (int)width;
}

static void write_text_row(FILE *out, const struct sb_table *table, const int *widths,
			   const char *const *cells, bool head)
{
	for (int column = 0; column < table->width; column++) {
		const char *cell = head ? heading(cells[column]) : cells[column];

		if (numeric(table->columns[column]))
			fprintf(out, "  %*s", widths[column], cell);
		else if (column == table->width - 1)
			fprintf(out, "  %s", cell);
		else
			fprintf(out, "  %-*s", widths[column], cell);
	}
	fputc('\n', out);
}

static void write_text(FILE *out, const struct sb_table *table)
{
	int widths[64];

	for (int column = 0; column < table->width && column < 64; column++)
		widths[column] = widest(table, column);
	fprintf(out, "%s\n", table->name);
	write_text_row(out, table, widths, table->columns, true);
	for (int cell = 0; cell < table->count; cell += table->width)
		write_text_row(out, table, widths, (const char *const *)table->cells + cell, false);
}

static void write_csv_table(FILE *out, const struct sb_table *table)
{
	fprintf(out, "# %s\n", table->name);
	for (int column = 0; column < table->width; column++) {
		fputs(column ? "," : "", out);
		write_csv(out, heading(table->columns[column]));
	}
	for (int cell = 0; cell < table->count; cell++) {
		fputc(cell % table->width ? ',' : '\n', out);
		write_csv(out, table->cells[cell]);
	}
	fputc('\n', out);
}

static void write_json_table(FILE *out, const struct sb_table *table)
{
	fputc('[', out);
	for (int cell = 0; cell < table->count; cell++) {
		const char *column = table->columns[cell % table->width];

		fputs(cell % table->width ? "," : cell ? "},{" : "{", out);
		write_json(out, heading(column));
		fputc(':', out);
		if (!numeric(column))
			write_json(out, table->cells[cell]);
		else
			fputs(is_number(table->cells[cell]) ? table->cells[cell] : "null", out);
	}
	fputs(table->count ? "}]" : "]", out);
}

void sb_page_table(struct sb_page *page, struct sb_table *table)
{
	switch (page->style) {
	case SB_STYLE_TEXT:
		write_text(page->out, table);
		break;
	case SB_STYLE_CSV:
		write_csv_table(page->out, table);
		break;
	case SB_STYLE_JSON:
		begin_member(page, table->name);
		write_json_table(page->out, table);
		break;
	}
	for (int cell = 0; cell < table->count; cell++)
		free(table->cells[cell]);
	free(table->cells);
	sb_table_open(table, table->name, table->columns);
}
