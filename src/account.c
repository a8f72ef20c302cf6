/* SPDX-License-Identifier: BSD-3-Clause */
#include "account.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "classes.h"
#include "clock.h"
#include "device.h"
#include "element.h"
#include "experience.h"
#include "process.h"
#include "profile.h"
#include "report.h"
#include "settings.h"
#include "stats.h"
#include "timeline_tell.h"
#include "trace.h"

struct sb_account sb_account_open(void)
{
	struct sb_account account = {0};
	struct sb_as_found found;
	bool entered;

	if (!sb_settings_timed())
		return account;
	entered = sb_process_enter(&found);
	account.start = sb_clock_now();
	if (entered)
		sb_process_leave(&found);
	return account;
}

/* For the report, when a call has used one that none has used before. */
static void note_devices(unsigned devices)
{
	static atomic_uint used;
	unsigned before = atomic_fetch_or(&used, devices);
	char names[SB_DEVICE_NAMES];

	if ((before | devices) == before)
		return;
	sb_device_names(atomic_load(&used), names);
	sb_report_devices(names);
	if (sb_device())
		sb_report_about(sb_device()->name, sb_profile_source());
}

/* Predictions rest on a profile that is in force by then. */
static void note_profile(const struct sb_decision *decision)
{
	static atomic_flag noted = ATOMIC_FLAG_INIT;

	if (decision->cpu_seconds > 0 && !atomic_flag_test_and_set(&noted))
		sb_report_about("", sb_profile_source());
}

/* "fp16x3", or "fp16x3 fallback=guard tiles=900/100/24" where some of C got another tier. */
static void describe(const struct sb_manner *manner, char *text, size_t size)
{
	const int64_t *tiles = manner->tiles;
	int used = snprintf(text, size, "%s", sb_arithmetic_word(manner->arithmetic));

	if (manner->fallback != SB_FALLBACK_NONE)
		used += snprintf(text + used, size - (size_t)used, " fallback=%s",
				 sb_fallback_word(manner->fallback));
	if (tiles[SB_FP16X3] || tiles[SB_BF16X6] || tiles[SB_STRICT])
		snprintf(text + used, size - (size_t)used,
			 " tiles=%" PRId64 "/%" PRId64 "/%" PRId64, tiles[SB_FP16X3],
			 tiles[SB_BF16X6], tiles[SB_STRICT]);
}

static void tell(const struct sb_call *call, const struct sb_outcome *outcome, unsigned devices)
{
	char names[SB_DEVICE_NAMES], manner[96];

	sb_device_names(devices, names);
	describe(&outcome->manner, manner, sizeof manner);
	sb_trace_line(
		1,
		"%s %c%c m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " lda=%" PRId64 " ldb=%" PRId64
		" ldc=%" PRId64 " side=%s kernel=%s math=%s device=%s ms=%s reason=%s",
		sb_element(call->type)->operation, call->trans_a ? 't' : 'n',
		call->trans_b ? 't' : 'n', call->m, call->n, call->k, call->lda, call->ldb,
		call->ldc, sb_side_word(outcome->side), outcome->kernel ? outcome->kernel : "-",
		manner, names, sb_trace_fixed(1e3 * outcome->seconds, 3).text,
		sb_reason_word(outcome->reason));
}

void sb_account_close(const struct sb_account *account, const struct sb_call *call,
		      const struct sb_decision *decision)
{
	struct sb_outcome outcome = {.side = decision->side,
				     .reason = decision->reason,
				     .kernel = decision->kernel,
				     .manner = decision->manner};
	struct sb_as_found found;
	bool entered = sb_process_enter(&found);

	if (account->start > 0) {
		outcome.seconds = sb_clock_now() - account->start;
		/* Small calls are decided before their arguments are looked at. */
		if (outcome.reason == SB_REASON_SMALL && sb_call_kind(call) != SB_CALL_WORK)
			outcome.reason = SB_REASON_INVALID;
	}
	sb_stats_add(call, &outcome);
	sb_experience_add(call, decision);
	if (account->start > 0 && *sb_settings()->report)
		sb_classes_add(call, &outcome,
			       &(struct sb_foreseen){decision->cpu_seconds, decision->gpu_seconds,
						     decision->bound});
	if (account->start > 0) {
		note_profile(decision);
		note_devices(decision->devices);
		tell(call, &outcome, decision->devices);
	}
	sb_timeline_tell();
	if (entered)
		sb_process_leave(&found);
}

/*
 * A process that made no call says nothing, unless it is the one that `shimblas run` started: there
 * somebody is waiting to hear that nothing came by.
 */
static __attribute__((destructor)) void report_at_exit(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const struct sb_settings *settings = sb_settings();

	if (!sb_stats_counted() && settings->run_id != getpid())
		return;
	sb_timeline_finish();
	sb_check_summary();
	if (*settings->report && !sb_report_append(settings->report))
		sb_trace_once(&said, "SHIMBLAS_REPORT=%s cannot be written", settings->report);
}
