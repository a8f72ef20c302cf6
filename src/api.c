/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 7: the public functions. */
#include "shimblas.h"

#include <stddef.h>
#include <string.h>

#include "classes.h"
#include "names.h"
#include "process.h"
#include "report.h"
#include "route.h"
#include "settings.h"
#include "stats.h"

_Static_assert((int)SHIMBLAS_MODE_AUTO == (int)SB_MODE_AUTO &&
		       (int)SHIMBLAS_MODE_CPU == (int)SB_MODE_CPU &&
		       (int)SHIMBLAS_MODE_GPU == (int)SB_MODE_GPU &&
		       (int)SHIMBLAS_MODE_CHECK == (int)SB_MODE_CHECK,
	       "the public modes are the settings' modes");
_Static_assert((int)SHIMBLAS_MATH_STRICT == (int)SB_MATH_STRICT &&
		       (int)SHIMBLAS_MATH_EMULATED == (int)SB_MATH_EMULATED,
	       "the public kinds of arithmetic are the settings'");

int shimblas_version(void)
{
	return SHIMBLAS_VERSION;
}

const char *shimblas_version_string(void)
{
	return PACKAGE_VERSION;
}

enum shimblas_mode shimblas_get_mode(void)
{
	return (enum shimblas_mode)sb_route_mode();
}

int shimblas_set_mode(enum shimblas_mode mode)
{
	if ((int)mode < SB_MODE_AUTO || (int)mode > SB_MODE_CHECK)
		return -1;
	sb_route_set_mode((int)mode);
	return 0;
}

enum shimblas_math shimblas_get_math(void)
{
	return (enum shimblas_math)sb_route_math();
}

int shimblas_set_math(enum shimblas_math math)
{
	if ((int)math < SB_MATH_STRICT || (int)math > SB_MATH_EMULATED)
		return -1;
	sb_route_set_math((int)math);
	return 0;
}

static struct shimblas_side_statistics side(const struct sb_totals *totals, enum sb_side which)
{
	struct sb_tally sum = sb_stats_sum(totals, which, SB_REASONS, SB_BUCKETS);

	return (struct shimblas_side_statistics){sum.calls, sum.flops, sum.bytes, sum.seconds};
}

/* Fills a caller's struct of the size it says; -1 if it is smaller than the first version's. */
static int fill(void *to, const void *from, size_t size, size_t first_version)
{
	size_t asked = *(const size_t *)to;

	if (asked < first_version)
		return -1;
	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t),
	       (asked < size ? asked : size) - sizeof(size_t));
	return 0;
}

int shimblas_get_statistics(struct shimblas_statistics *statistics)
{
	struct shimblas_statistics now;
	struct sb_totals totals;

	sb_stats_read(&totals);
	now.cpu = side(&totals, SB_CPU);
	now.gpu = side(&totals, SB_GPU);
	return fill(statistics, &now, sizeof now, sizeof now);
}

void shimblas_reset_statistics(void)
{
	sb_stats_reset();
	sb_classes_reset();
}

int shimblas_last_decision(struct shimblas_decision *decision)
{
	struct shimblas_decision last;
	struct sb_last found;

	if (!sb_stats_last(&found))
		return -1;
	last.side = sb_side_word(found.outcome.side);
	last.reason = sb_reason_word(found.outcome.reason);
	last.kernel = found.outcome.kernel;
	last.m = found.m;
	last.n = found.n;
	last.k = found.k;
	last.seconds = found.outcome.seconds;
	last.arithmetic = sb_arithmetic_word(found.outcome.manner.arithmetic);
	last.fallback = sb_fallback_word(found.outcome.manner.fallback);
	return fill(decision, &last, sizeof last, offsetof(struct shimblas_decision, arithmetic));
}

int shimblas_report(const char *path)
{
	return sb_report_append(path) ? 0 : -1;
}

const char *shimblas_explain_reason(const char *word)
{
	for (int reason = 0; reason < SB_REASONS; reason++)
		if (strcmp(word, sb_reason_word((enum sb_reason)reason)) == 0)
			return sb_reason_text((enum sb_reason)reason);
	return NULL;
}

void (*shimblas_entry(const char *spelling))(void)
{
	return sb_names_entry(spelling);
}

const char *shimblas_backend(const char *spelling)
{
	for (int i = 0; i < SB_NAMES; i++)
		if (strcmp(sb_names[i].spelling, spelling) == 0)
			return sb_backend_find(&sb_names[i], __builtin_return_address(0))->path;
	return NULL;
}
