/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "settings.h"

enum { LINE = 1024, PATH = 4096 };

static const char prefix[] = "shimblas: ";

static bool write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		text += written;
		length -= (size_t)written;
	}
	return true;
}

/* The signals that a write can raise. */
static void set_of_write(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE); /* the reader went away */
	sigaddset(set, SIGXFSZ); /* past the program's file size limit */
	sigaddset(set, SIGTTOU); /* a background process on a terminal that minds */
}

/* What cannot be written must cost the program a line, not its life. */
static bool write_quietly(int fd, const char *text, size_t length)
{
	const struct timespec now = {0, 0};
	sigset_t ours, before, pending;
	bool done;

	set_of_write(&ours);
	if (pthread_sigmask(SIG_BLOCK, &ours, &before))
		return false;
	sigpending(&pending);
	done = write_all(fd, text, length);
	/* What the write left behind is taken away; what was pending before belongs to others. */
	if (!done && (errno == EPIPE || errno == EFBIG)) {
		int raised = errno == EPIPE ? SIGPIPE : SIGXFSZ;

		sigemptyset(&ours);
		sigaddset(&ours, raised);
		if (!sigismember(&pending, raised))
			sigtimedwait(&ours, NULL, &now);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return done;
}

/* Expands %p, %h and %%, nothing else; false if the result does not fit. */
static bool expand(const char *path, char *to, size_t room)
{
	size_t used = 0;

	while (*path) {
		char word[256] = {path[0], '\0'};
		bool taken = path[0] == '%';

		if (taken && path[1] == 'p')
			snprintf(word, sizeof word, "%ld", (long)getpid());
		else if (taken && path[1] == 'h')
			taken = gethostname(word, sizeof word - 1) == 0;
		else
			taken = taken && path[1] == '%';
		path += taken ? 2 : 1;
		if (used + strlen(word) >= room)
			return false;
		memcpy(to + used, word, strlen(word) + 1);
		used += strlen(word);
	}
	return used > 0;
}

static bool append(const char *path, int flags, const char *text, size_t length)
{
	char expanded[PATH];
	int kept = errno, cancel, fd;
	bool done = false;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (strcmp(path, "-") == 0) {
		done = write_quietly(STDERR_FILENO, text, length);
	} else if (expand(path, expanded, sizeof expanded)) {
		fd = open(expanded,
			  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
				  O_NONBLOCK | flags,
			  0666);
		if (fd >= 0) {
			done = write_quietly(fd, text, length);
			close(fd);
		}
	}
	pthread_setcancelstate(cancel, NULL);
	errno = kept;
	return done;
}

bool sb_trace_append(const char *path, const char *text, size_t length)
{
	return append(path, 0, text, length);
}

bool sb_trace_create(const char *path, const char *text, size_t length)
{
	return append(path, O_EXCL, text, length);
}

/* A value of the environment may hold a newline; what is one line stays one. */
static void keep_on_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

static bool append_line(const char *path, const char *format, va_list arguments)
{
	char text[LINE];
	int length;

	memcpy(text, prefix, sizeof prefix);
	length =
		vsnprintf(text + sizeof prefix - 1, sizeof text - sizeof prefix, format, arguments);
	if (length < 0)
		return true;
	keep_on_one_line(text);
	length += (int)sizeof prefix - 1;
	if (length > LINE - 2)
		length = LINE - 2;
	text[length++] = '\n';
	return sb_trace_append(path, text, (size_t)length);
}

static SB_PRINTF(1, 2) void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)append_line("-", format, arguments);
	va_end(arguments);
}

static void line(const char *format, va_list arguments)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const char *logfile = sb_settings()->logfile;

	if (!append_line(*logfile ? logfile : "-", format, arguments) && *logfile &&
	    !atomic_flag_test_and_set(&said))
		complain("SHIMBLAS_LOGFILE=%s cannot be written", logfile);
}

bool sb_trace_wanted(int level)
{
	return sb_settings()->verbose >= level;
}

void sb_trace_line(int level, const char *format, ...)
{
	va_list arguments;

	if (!sb_trace_wanted(level))
		return;
	va_start(arguments, format);
	line(format, arguments);
	va_end(arguments);
}

void sb_trace_once(atomic_flag *said, const char *format, ...)
{
	va_list arguments;

	if (atomic_flag_test_and_set(said))
		return;
	va_start(arguments, format);
	line(format, arguments);
	va_end(arguments);
}

void sb_trace_refused_settings(void)
{
	static atomic_flag said[64];

	for (int row = 0; row < sb_settings_count() && row < 64; row++)
		if (sb_settings_refused(row))
			sb_trace_once(&said[row], "%s=%s makes no sense (%s); using %s",
				      sb_settings_row(row)->variable, sb_settings_refused(row),
				      sb_settings_row(row)->values,
				      *sb_settings_row(row)->fallback
					      ? sb_settings_row(row)->fallback
					      : "the default");
}

struct sb_fixed sb_trace_fixed(double value, int digits)
{
	struct sb_fixed fixed;
	unsigned long long scale = 1, scaled;

	if (value != value || value > 1e15 || value < -1e15) {
		snprintf(fixed.text, sizeof fixed.text, "%s",
			 value != value ? "nan"
			 : value > 0	? "inf"
					: "-inf");
		return fixed;
	}
	digits = digits < 0 ? 0 : digits > 3 ? 3 : digits;
	for (int i = 0; i < digits; i++)
		scale *= 10;
	scaled = (unsigned long long)((value < 0 ? -value : value) * (double)scale + 0.5);
	if (digits > 0)
		snprintf(fixed.text, sizeof fixed.text, "%s%llu.%0*llu", value < 0 ? "-" : "",
			 scaled / scale, digits, scaled % scale);
	else
		snprintf(fixed.text, sizeof fixed.text, "%s%llu", value < 0 ? "-" : "", scaled);
	return fixed;
}
