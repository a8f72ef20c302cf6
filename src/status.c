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

static const char *const arithmetics[SB_ARITHMETICS] = {
	[SB_NO_ARITHMETIC] = "-",
	[SB_FP16X3] = "fp16x3",
	[SB_BF16X6] = "bf16x6",
	[SB_STRICT] = "strict",
};

static const struct {
	const char *word, *text;
} fallbacks[SB_FALLBACKS] = {
#define SB_FALLBACK(name, word, text) [SB_FALLBACK_##name] = {word, text},
#include "fallbacks.def"
#undef SB_FALLBACK
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

const char *sb_arithmetic_word(enum sb_arithmetic arithmetic)
{
	return (unsigned)arithmetic < SB_ARITHMETICS ? arithmetics[arithmetic] : "unknown";
}

const char *sb_fallback_word(enum sb_fallback fallback)
{
	return (unsigned)fallback < SB_FALLBACKS ? fallbacks[fallback].word : "unknown";
}

const char *sb_fallback_text(enum sb_fallback fallback)
{
	return (unsigned)fallback < SB_FALLBACKS ? fallbacks[fallback].text : "unknown";
}
