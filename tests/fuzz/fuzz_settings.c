/* SPDX-License-Identifier: BSD-3-Clause */
/* A setting's text: byte 0 names the row, the rest is what the environment holds. */
#include "fuzz.h"

#include <string.h>

#include "registry.h"
#include "settings.h"

enum row {
#define SB_SETTING(field, variable, kind, fallback, values, text) ROW_##field,
#include "settings.def"
#undef SB_SETTING
};

static int words_in(const char *values)
{
	int words = 1;

	for (; *values; values++)
		words += *values == '|';
	return words;
}

#define IS_CHOICE(field, values) (settings->field >= 0 && settings->field < words_in(values))
#define IS_TEXT(field, values)	 (settings->field != NULL)
#define IS_LIST(field, values)	 is_list(settings->field)
#define IS_BYTES(field, values)	 (settings->field <= INT64_MAX)
#define IS_COUNT(field, values)	 (settings->field >= 0)

static int is_list(const char *text)
{
	return strcmp(text, "all") == 0 || strspn(text, "0123456789,") == strlen(text);
}

/* Is the row's field what its kind allows? */
static int allowed(int row, const struct sb_settings *settings)
{
	const int is[] = {
#define SB_SETTING(field, variable, kind, fallback, values, text)                                  \
	row != ROW_##field || IS_##kind(field, values),
#include "settings.def"
#undef SB_SETTING
	};

	return is[row];
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_settings settings, before;
	char *text;
	int row;

	if (size == 0)
		return 0;
	row = data[0] % sb_settings_count();
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	memset(&settings, 0x5a, sizeof settings);
	before = settings;
	if (sb_settings_store(&settings, row, text))
		FUZZ_CHECK(allowed(row, &settings), "%s=%s is taken",
			   sb_settings_row(row)->variable, text);
	else
		FUZZ_CHECK(memcmp(&settings, &before, sizeof settings) == 0,
			   "%s=%s is refused, and yet a field is another",
			   sb_settings_row(row)->variable, text);
	(void)sb_registry_find(text);
	free(text);
	return 0;
}
