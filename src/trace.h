/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 1: the only writer. Every line the library prints goes through here, to standard error or
 * to SHIMBLAS_LOGFILE, in one write(2), so that lines of threads and processes do not mix. stdout
 * is never written. A file is opened for each line (O_APPEND|O_CLOEXEC|O_NOFOLLOW|O_NONBLOCK), so
 * that nothing is held open in the program and a pipe that nobody reads does not hold it up;
 * whatever fails is silently given up. errno, signals and locale are left as found. Formats may not
 * use %f, %g or %e: their decimal point belongs to the program's locale; sb_trace_fixed() writes
 * decimals.
 */
#ifndef SB_TRACE_H
#define SB_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SB_PRINTF(string, first) __attribute__((format(printf, string, first)))

/* Is a line of this level (1, 2) wanted? */
bool sb_trace_wanted(int level);

/*
 * One line, "shimblas: " before it and a newline after it, if a line of this level is wanted.
 * Control characters in it become question marks.
 */
void sb_trace_line(int level, const char *format, ...) SB_PRINTF(2, 3);

/*
 * A warning the user should see although nothing was asked for; printed the first time `said` is
 * passed and never again in this process.
 */
void sb_trace_once(atomic_flag *said, const char *format, ...) SB_PRINTF(2, 3);

/* One warning for each setting whose value made no sense; once in a process. */
void sb_trace_refused_settings(void);

/*
 * Appends `length` bytes to the file a setting named: "-" is standard error, %p the process id, %h
 * the host's name, %% a percent sign. False if they could not all be written.
 */
bool sb_trace_append(const char *path, const char *text, size_t length);
/* The same to a file that was not there; false if it was. */
bool sb_trace_create(const char *path, const char *text, size_t length);

/*
 * value with 0 to 3 decimals ('.' whatever the locale); "nan", "inf" or "-inf" for what is not a
 * number below 1e15.
 */
struct sb_fixed {
	char text[32];
};
struct sb_fixed sb_trace_fixed(double value, int digits);

#endif
