/* SPDX-License-Identifier: BSD-3-Clause */
/* `shimblas report`: the page of a program's run, from what its report and its trace say. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "option.h"

#ifdef HAVE_LIBJANSSON
#include "report_page.h"

static int write_page(struct sb_run *run, const char *path)
{
	FILE *out = path ? fopen(path, "we") : stdout;
	bool written;

	if (!out) {
		fprintf(stderr, "shimblas report: %s: %s\n", path, strerror(errno));
		return 1;
	}
	sb_report_page(out, run);
	written = !fflush(out) && !ferror(out);
	if (path && fclose(out) != 0)
		written = false;
	if (!written && path)
		fprintf(stderr, "shimblas report: %s cannot be written\n", path);
	return !written;
}

static int report(const char *path, const struct sb_options *options)
{
	const char *trace = options->value[SB_OPTION_report_trace];
	struct sb_run run;
	int status = 1;

	if (sb_run_read(path, &run) && (!trace || sb_run_read_trace(trace, &run)))
		status = write_page(&run, options->value[SB_OPTION_report_output]);
	sb_run_free(&run);
	return status;
}
#else
static int report(const char *path, const struct sb_options *options)
{
	(void)options;
	fprintf(stderr, "shimblas report: built without jansson, so %s cannot be read\n", path);
	return 1;
}
#endif

int sb_command_report(int argc, char **argv)
{
	struct sb_options options, more;
	const char *path;

	if (!sb_option_parse(argc, argv, false, &options))
		return SB_EXIT_USAGE;
	if (options.rest >= argc) {
		fputs("shimblas report: which file? see `shimblas help report`\n", stderr);
		return SB_EXIT_USAGE;
	}
	/* Options may follow the file too. */
	path = argv[options.rest];
	argv[options.rest] = argv[0];
	if (!sb_option_parse(argc - options.rest, argv + options.rest, true, &more))
		return SB_EXIT_USAGE;
	for (int row = 0; row < SB_OPTIONS; row++)
		if (more.times[row])
			options.value[row] = more.value[row];
	return report(path, &options);
}
