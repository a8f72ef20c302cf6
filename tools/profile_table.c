/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a table of the shipped profile while the library is built: reads the text of a profile from
 * standard input and writes it as C to standard output, each number to the last bit. So no process
 * has to read it. Not installed.
 */
#include <stdio.h>

#include "profile_text.h"

static char text[1 << 20];
static struct sb_profile profile;

static void write_text(const char *field, const char *value)
{
	printf("\t.%s = \"", field);
	for (; *value; value++)
		printf(*value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
	puts("\",");
}

static void write_numbers(const double *values, int count)
{
	putchar('{');
	for (int i = 0; i < count; i++)
		printf("%a,%c", values[i], i % 6 == 5 ? '\n' : ' ');
	putchar('}');
}

static void write_grids(const struct sb_grids *grids)
{
	puts("{.way = {");
	for (int way = 0; way < SB_WAYS; way++) {
		puts("{.at = {");
		for (int m = 0; m < SB_GRID; m++) {
			putchar('{');
			for (int n = 0; n < SB_GRID; n++) {
				write_numbers(grids->way[way].at[m][n], SB_GRID);
				puts(",");
			}
			puts("},");
		}
		puts("}},");
	}
	puts("}},");
}

static void write_figures(const struct sb_profile *p)
{
	write_text("gpu", p->gpu);
	write_text("backend", p->backend);
	printf("\t.driver = %d, .processors = %d,\n", p->driver, p->processors);
	printf("\t.target = {.arch = %d, .multiprocessors = %d, .shared = %d, .maps = %d},\n",
	       p->target.arch, p->target.multiprocessors, p->target.shared, p->target.maps);
	printf("\t.clock_khz = %d, .memory = %zuu,\n", p->clock_khz, p->memory);
	printf("\t.copy_threads = %d, .copy_slot = %zuu,\n", p->copy_threads, p->copy_slot);
	printf("\t.start = %a, .launch = %a, .overlap = %a,\n", p->start, p->launch, p->overlap);
	printf("\t.kernel = %a, .emulated = %a,\n\t.link = {", p->kernel, p->emulated);
	for (int link = 0; link < SB_LINKS; link++) {
		write_numbers(p->link[link], SB_LINK_SIZES);
		puts(",");
	}
	puts("},");
}

int main(void)
{
	size_t length = fread(text, 1, sizeof text, stdin);
	const char *problem = sb_profile_parse(text, length, &profile);

	if (problem || ferror(stdin)) {
		fprintf(stderr, "profile_table: %s\n", problem ? problem : "cannot read");
		return 1;
	}
	puts("/* Made from the shipped profile by tools/profile_table.c. */\n"
	     "#include \"profile.h\"\n\nconst struct sb_profile sb_profile_built_in = {");
	write_figures(&profile);
	printf("\t.has_whole = %d, .cpus = %d,\n", profile.has_whole, profile.cpus);
	if (profile.has_whole) {
		printf("\t.whole = ");
		write_grids(&profile.whole);
	}
	puts("\t.cpu = {");
	for (int i = 0; i < profile.cpus; i++) {
		printf("{.threads = %d, .seconds = ", profile.cpu[i].threads);
		write_grids(&profile.cpu[i].seconds);
		puts("},");
	}
	puts("\t},\n};");
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
