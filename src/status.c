/* SPDX-License-Identifier: BSD-3-Clause */
#include "status.h"

static const char *const status_words[] = {
	[SB_OK] = "ok",
	[SB_DECLINE] = "decline",
	[SB_NO_DEVICE] = "no-device",
	[SB_NO_IMAGE] = "no-image",
	[SB_NO_MEMORY] = "no-memory",
	[SB_BUSY] = "busy",
	[SB_LOST] = "lost",
};

static const char *const side_words[SB_SIDES] = {
	[SB_CPU] = "cpu",
	[SB_GPU] = "gpu",
};

static const struct {
	const char *word, *text;
} reasons[SB_REASONS] = {
#define SB_REASON(name, word, text) [SB_REASON_##name] = {word, text},
#include "reasons.def"
#undef SB_REASON
};

const char *sb_status_word(enum sb_status status)
{
	unsigned i = (unsigned)status;
	return i < sizeof status_words / sizeof *status_words ? status_words[i] : "unknown";
}

const char *sb_side_word(enum sb_side side)
{
	return (unsigned)side < SB_SIDES ? side_words[side] : "unknown";
}

const char *sb_reason_word(enum sb_reason reason)
{
	return (unsigned)reason < SB_REASONS ? reasons[reason].word : "unknown";
}

const char *sb_reason_text(enum sb_reason reason)
{
	return (unsigned)reason < SB_REASONS ? reasons[reason].text : "unknown";
}
