/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 1: what the user asked for. The only reader of the environment.
 *
 * The environment is read once, at the first call of sb_settings() in a process; later changes to
 * it are not seen. A set-user-ID program sees the defaults only (secure_getenv).
 */
#ifndef SB_SETTINGS_H
#define SB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum sb_mode { SB_MODE_AUTO, SB_MODE_CPU, SB_MODE_GPU, SB_MODE_CHECK };
enum sb_math { SB_MATH_STRICT, SB_MATH_EMULATED };

/* One field a row of settings.def. Texts are "" where not given, never NULL, and live for ever. */
#define SB_FIELD_CHOICE int
#define SB_FIELD_TEXT	const char *
#define SB_FIELD_LIST	const char *
#define SB_FIELD_BYTES	uint64_t
#define SB_FIELD_COUNT	int64_t

struct sb_settings {
#define SB_SETTING(field, variable, kind, fallback, values, text) SB_FIELD_##kind field;
#include "settings.def"
#undef SB_SETTING
	int64_t local_rank;	 /* this process among the MPI ranks of this host, or -1 */
	int64_t run_id;		 /* the process that `shimblas run` started, or -1 */
	int64_t omp_threads;	 /* what OMP_NUM_THREADS asks for, or -1 */
	const char *config_home; /* XDG_CONFIG_HOME, "" if not given */
	const char *home;	 /* HOME, likewise */
	bool secure;		 /* a set-user-ID program: nothing of the user's is read */
	bool profiler;		 /* one that understands NVTX has announced itself */
};

/* The settings in force; never NULL; safe from any thread. */
const struct sb_settings *sb_settings(void);

/* Does somebody want a line or a time for every call? */
bool sb_settings_timed(void);

/* The table itself, for those who print it. */
enum sb_setting_kind {
	SB_SETTING_CHOICE,
	SB_SETTING_TEXT,
	SB_SETTING_LIST,
	SB_SETTING_BYTES,
	SB_SETTING_COUNT
};
struct sb_setting {
	const char *variable, *fallback, *values, *text;
	enum sb_setting_kind kind;
};
int sb_settings_count(void);
const struct sb_setting *sb_settings_row(int row);

/*
 * Sets a row's field to what `text` says; false, and the field as it was, if that makes no sense.
 * Fields that are texts point into `text`.
 */
bool sb_settings_store(struct sb_settings *into, int row, const char *text);

/* What the environment gave for a row, if it was accepted; NULL where the default is in force. */
const char *sb_settings_given(int row);
/* What the environment gave for a row that made no sense; NULL where nothing was refused. */
const char *sb_settings_refused(int row);

#endif
