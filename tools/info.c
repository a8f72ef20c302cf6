/* SPDX-License-Identifier: BSD-3-Clause */
/* `shimblas info`: what would become of a program's calls here, and why. */
#include "info.h"

#include <limits.h>
#include <string.h>

#include "backend.h"
#include "both_sides.h"
#include "command.h"
#include "gpu.h"
#include "launch.h"
#include "machine.h"
#include "names.h"
#include "option.h"
#include "place.h"
#include "profile.h"
#include "settings.h"
#include "status.h"
#include "threads.h"

/* The format number of `info --json`. */
enum { FORMAT = 1 };

static void say_settings(struct sb_page *page)
{
	static const char *const columns[] = {"variable", "value", "source", NULL};
	struct sb_table table;

	sb_table_open(&table, "settings", columns);
	for (int row = 0; row < sb_settings_count(); row++) {
		const struct sb_setting *setting = sb_settings_row(row);
		const char *given = sb_settings_given(row), *refused = sb_settings_refused(row);
		const char *value = given ? given : setting->fallback;

		sb_table_cell(&table, "%s", setting->variable);
		sb_table_cell(&table, "%s", *value || page->style != SB_STYLE_TEXT ? value : "-");
		if (refused)
			sb_table_cell(&table, "default, since %s makes no sense", refused);
		else
			sb_table_cell(&table, given ? "environment" : "default");
	}
	sb_page_table(page, &table);
}

/* Looked for as for a program that brings no BLAS of its own, which this command does not. */
static void say_backends(struct sb_page *page)
{
	static const char *const columns[] = {"spelling", "source", "path", NULL};
	struct sb_table table;

	sb_table_open(&table, "backend", columns);
	for (int i = 0; i < SB_NAMES; i++) {
		const struct sb_backend *backend =
			sb_backend_find(&sb_names[i], __builtin_return_address(0));

		sb_table_cell(&table, "%s", sb_names[i].spelling);
		sb_table_cell(&table, "%s", sb_source_word(backend->source));
		sb_table_cell(&table, "%s", *backend->path ? backend->path : "-");
	}
	sb_page_table(page, &table);
}

static void say_threads(struct sb_page *page)
{
	double quota = sb_machine_quota();
	int processors = sb_threads_backend();

	if (quota > 0)
		sb_page_say(page, "threads",
			    "%d processors, of which the control group allows %.2f", processors,
			    quota);
	else
		sb_page_say(page, "threads", "%d processors", processors);
}

/* The one a program would begin with that brings no BLAS of its own. */
static void say_profile(struct sb_page *page)
{
	const struct sb_profile *profile = sb_profile(sb_sides_backend()->path);

	sb_page_say(page, "profile", "%s (%s, %s)", sb_profile_source(), profile->gpu,
		    profile->backend);
}

/* By the device here, else the one that the profile is of. */
static void say_math(struct sb_page *page)
{
	struct sb_device *device = sb_gpu_device();
	const struct sb_target target =
		device ? sb_launch_target(device) : sb_profile(NULL)->target;
	const int64_t large = 8192;
	struct sb_tiers tiers;
	enum sb_fallback why;

	if (sb_settings()->math == SB_MATH_STRICT)
		sb_page_say(page, "math", "strict");
	else if (sb_registry_choose_tiers(large, large, large, &target, &tiers, &why))
		sb_page_say(page, "math", "emulated, by %s%s and %s",
			    tiers.fp16x3 ? "fp16x3, " : "", "bf16x6",
			    "strict for what that does not hold");
	else
		sb_page_say(page, "math", "strict, though emulated was asked for: %s",
			    sb_fallback_text(why));
}

static void say_verdict(struct sb_page *page, enum sb_reason reason)
{
	const struct sb_settings *settings = sb_settings();
	const char *kept = *settings->backend ? "the library that SHIMBLAS_BACKEND names"
					      : "the program's own BLAS";

	if (settings->mode == SB_MODE_CPU)
		sb_page_say(page, "verdict", "Every call is answered by %s: %s.", kept,
			    sb_reason_text(SB_REASON_FORCED));
	else if (reason != SB_REASON_FASTER)
		sb_page_say(page, "verdict", "Every call is answered by %s: %s.", kept,
			    sb_reason_text(reason));
	else if (settings->mode == SB_MODE_GPU)
		sb_page_say(
			page, "verdict",
			"Every product goes to the GPU, whatever its size, and what cannot to %s.",
			kept);
	else
		sb_page_say(
			page, "verdict", "Large products go to the GPU, all else to %s%s.", kept,
			settings->mode == SB_MODE_CHECK ? ", and both results are compared" : "");
}

int sb_command_info(int argc, char **argv)
{
	struct sb_options options;
	struct sb_page page;
	char library[PATH_MAX];
	enum sb_reason reason;
	bool found;

	if (!sb_option_parse(argc, argv, true, &options))
		return SB_EXIT_USAGE;
	sb_page_open(&page, stdout,
		     options.times[SB_OPTION_info_json] ? SB_STYLE_JSON : SB_STYLE_TEXT, FORMAT);
	found = sb_place_library(library, sizeof library);
	sb_page_say(&page, "version", "%s", PACKAGE_VERSION);
	sb_page_say(&page, "library", "%s%s", library, found ? "" : " (not there)");
	say_settings(&page);
	sb_page_say(&page, "program", "one that brings no BLAS of its own; one that does keeps it");
	say_backends(&page);
	say_threads(&page);
	say_profile(&page);
	reason = sb_info_driver(&page);
	if (options.times[SB_OPTION_info_kernels])
		sb_info_kernels(&page);
	say_math(&page);
	say_verdict(&page, reason);
	return sb_page_close(&page);
}
