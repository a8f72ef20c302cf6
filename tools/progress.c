/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "clock.h"

enum { WIDTH = 30 };

void sb_progress_open(struct sb_progress *progress, double total)
{
	*progress = (struct sb_progress){.total = total > 0 ? total : 1,
					 .began = sb_clock_now(),
					 .shown = isatty(STDERR_FILENO) == 1};
}

void sb_progress_step(struct sb_progress *progress, double done, const char *name)
{
	double now = sb_clock_now(), share;
	int filled;

	progress->done += done;
	/* Ten times a second is as often as anybody looks. */
	if (!progress->shown || now - progress->drawn < 0.1)
		return;
	progress->drawn = now;
	share = progress->done / progress->total;
	if (share > 1)
		share = 1;
	filled = (int)(share * WIDTH);
	fprintf(stderr, "\r[%.*s%*s] %3.0f %%", filled, "##############################",
		WIDTH - filled, "", 100 * share);
	if (share > 0.02)
		fprintf(stderr, "  %3.0f s left", (now - progress->began) * (1 - share) / share);
	fprintf(stderr, "  %s\033[K", name);
	fflush(stderr);
}

void sb_progress_close(struct sb_progress *progress)
{
	if (progress->shown && progress->drawn > 0)
		fputs("\r\033[K", stderr);
}
