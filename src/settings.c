/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static const struct sb_setting rows[] = {
#define SB_SETTING(field, variable, kind, fallback, values, text)                                  \
	{variable, fallback, values, text, SB_SETTING_##kind},
#include "settings.def"
#undef SB_SETTING
};

enum { ROWS = sizeof rows / sizeof *rows };

static const size_t offsets[ROWS] = {
#define SB_SETTING(field, variable, kind, fallback, values, text)                                  \
	offsetof(struct sb_settings, field),
#include "settings.def"
#undef SB_SETTING
};

/* Where launchers leave a process's rank among those of its host. */
static const char *const rank_variables[] = {
	"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
	"MV2_COMM_WORLD_LOCAL_RANK",  "SLURM_LOCALID",
	"PALS_LOCAL_RANKID",
};

static struct sb_settings settings;
static const char *given[ROWS], *refused[ROWS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The position of `word` among the words of `values`, or -1. */
static int choice(const char *values, const char *word)
{
	size_t length = strlen(word);

	for (int position = 0;; position++) {
		size_t width = strcspn(values, "|");

		if (width == length && strncmp(values, word, width) == 0)
			return position;
		if (values[width] == '\0')
			return -1;
		values += width + 1;
	}
}

static bool number(const char *text, bool suffixed, uint64_t *value)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	char letter;
	char *end;
	unsigned long long parsed;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	parsed = strtoull(text, &end, 10);
	if (errno)
		return false;
	letter = (char)(*end & ~0x20);
	/* A space becomes the end of the string, which strchr finds too. */
	if (suffixed && letter && (suffix = strchr(suffixes, letter)) != NULL) {
		shift = 10 * (int)(suffix - suffixes + 1);
		end++;
	}
	if (*end || parsed > (uint64_t)INT64_MAX >> shift)
		return false;
	*value = (uint64_t)parsed << shift;
	return true;
}

/* Numbers with commas between them, or `all`; nothing at all is the empty list. */
static bool numbers(const char *text)
{
	bool wanted = false;

	if (strcmp(text, "all") == 0)
		return true;
	for (; *text; text++) {
		bool digit = *text >= '0' && *text <= '9';

		if (!digit && (*text != ',' || wanted))
			return false;
		wanted = !digit;
	}
	return !wanted;
}

bool sb_settings_store(struct sb_settings *into, int row, const char *text)
{
	void *field = (char *)into + offsets[row];
	uint64_t value;
	int position;

	switch (rows[row].kind) {
	case SB_SETTING_CHOICE:
		position = choice(rows[row].values, text);
		if (position < 0)
			return false;
		*(int *)field = position;
		return true;
	case SB_SETTING_TEXT:
		*(const char **)field = text;
		return true;
	case SB_SETTING_LIST:
		if (!numbers(text) || *text == ',')
			return false;
		*(const char **)field = text;
		return true;
	case SB_SETTING_BYTES:
		return number(text, true, (uint64_t *)field);
	case SB_SETTING_COUNT:
		if (!number(text, false, &value))
			return false;
		*(int64_t *)field = (int64_t)value;
		return true;
	}
	return false;
}

static int64_t process_number(const char *variable)
{
	const char *text = secure_getenv(variable);
	uint64_t value;

	return text && number(text, false, &value) ? (int64_t)value : -1;
}

static const char *folder(const char *variable)
{
	const char *text = secure_getenv(variable), *copy = text ? strdup(text) : NULL;

	return copy ? copy : "";
}

/* The first of a list of numbers, one for each level of nesting. */
static int64_t omp_threads(void)
{
	const char *text = secure_getenv("OMP_NUM_THREADS");
	char *end;
	long count = text ? strtol(text, &end, 10) : 0;

	return count > 0 && count < 1 << 20 ? count : -1;
}

static void read_environment(void)
{
	int kept = errno;

	for (int row = 0; row < ROWS; row++) {
		const char *text = secure_getenv(rows[row].variable);
		/* A copy, since the program may change its environment at any time. */
		char *copy = text && *text ? strdup(text) : NULL;

		if (copy && sb_settings_store(&settings, row, copy)) {
			given[row] = copy;
			continue;
		}
		refused[row] = copy;
		(void)sb_settings_store(&settings, row, rows[row].fallback);
	}
	settings.local_rank = -1;
	for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++)
		if (settings.local_rank < 0)
			settings.local_rank = process_number(rank_variables[i]);
	settings.run_id = process_number("SHIMBLAS_RUN_ID");
	settings.omp_threads = omp_threads();
	settings.config_home = folder("XDG_CONFIG_HOME");
	settings.home = folder("HOME");
	settings.secure = getauxval(AT_SECURE) != 0;
	settings.profiler = secure_getenv("NVTX_INJECTION64_PATH") != NULL;
	errno = kept;
}

const struct sb_settings *sb_settings(void)
{
	pthread_once(&once, read_environment);
	return &settings;
}

bool sb_settings_timed(void)
{
	return sb_settings()->verbose > 0 || *sb_settings()->report;
}

int sb_settings_count(void)
{
	return ROWS;
}

const struct sb_setting *sb_settings_row(int row)
{
	return &rows[row];
}

const char *sb_settings_given(int row)
{
	sb_settings();
	return given[row];
}

const char *sb_settings_refused(int row)
{
	sb_settings();
	return refused[row];
}
