/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "status.h"
#include "suite.h"

static void every_reason_has_one_word_and_a_text(void)
{
	for (int i = 0; i < SB_REASONS; i++) {
		const char *word = sb_reason_word((enum sb_reason)i);

		CU_ASSERT(strlen(word) > 0 && !strpbrk(word, " =\"\\"));
		CU_ASSERT(strlen(sb_reason_text((enum sb_reason)i)) > strlen(word));
		for (int j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(word, sb_reason_word((enum sb_reason)j));
	}
}

static void the_words_of_the_promise_are_there(void)
{
	static const char *const words[] = {"small",   "faster",   "tried",	 "busy",
					    "no-gpu",  "no-image", "old-driver", "starting",
					    "forked",  "memory",   "misaligned", "nested",
					    "invalid", "declined", "lost",	 "forced"};

	CU_ASSERT_EQUAL(SB_REASONS, sizeof words / sizeof *words);
	for (int i = 0; i < SB_REASONS; i++)
		CU_ASSERT_STRING_EQUAL(sb_reason_word((enum sb_reason)i), words[i]);
}

static void sides_and_statuses_have_words(void)
{
	CU_ASSERT_STRING_EQUAL(sb_side_word(SB_CPU), "cpu");
	CU_ASSERT_STRING_EQUAL(sb_side_word(SB_GPU), "gpu");
	for (int i = SB_OK; i <= SB_LOST; i++)
		CU_ASSERT_STRING_NOT_EQUAL(sb_status_word((enum sb_status)i), "unknown");
}

static void each_arithmetic_and_fallback_has_a_word_of_its_own(void)
{
	for (int i = 0; i < SB_ARITHMETICS; i++)
		for (int j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(sb_arithmetic_word((enum sb_arithmetic)i),
						   sb_arithmetic_word((enum sb_arithmetic)j));
	for (int i = 0; i < SB_FALLBACKS; i++) {
		const char *word = sb_fallback_word((enum sb_fallback)i);

		CU_ASSERT(strlen(word) > 0 && !strpbrk(word, " =\"\\"));
		CU_ASSERT(strlen(sb_fallback_text((enum sb_fallback)i)) > strlen(word));
		for (int j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(word, sb_fallback_word((enum sb_fallback)j));
	}
}

static void a_value_outside_the_enum_is_unknown(void)
{
	CU_ASSERT_STRING_EQUAL(sb_side_word(SB_SIDES), "unknown");
	CU_ASSERT_STRING_EQUAL(sb_reason_word(SB_REASONS), "unknown");
	CU_ASSERT_STRING_EQUAL(sb_reason_text((enum sb_reason) - 1), "unknown");
	CU_ASSERT_STRING_EQUAL(sb_status_word((enum sb_status)(SB_LOST + 1)), "unknown");
	CU_ASSERT_STRING_EQUAL(sb_arithmetic_word(SB_ARITHMETICS), "unknown");
	CU_ASSERT_STRING_EQUAL(sb_fallback_word(SB_FALLBACKS), "unknown");
	CU_ASSERT_STRING_EQUAL(sb_fallback_text((enum sb_fallback) - 1), "unknown");
}

static const struct suite_case cases[] = {
	{"every reason has one word and a text", every_reason_has_one_word_and_a_text},
	{"the words of the promise are there", the_words_of_the_promise_are_there},
	{"sides and statuses have words", sides_and_statuses_have_words},
	{"each arithmetic and fallback has a word of its own",
	 each_arithmetic_and_fallback_has_a_word_of_its_own},
	{"a value outside the enum is unknown", a_value_outside_the_enum_is_unknown},
};

int main(void)
{
	return SUITE("status", cases);
}
