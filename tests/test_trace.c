/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings.h"
#include "suite.h"
#include "trace.h"

static char path[512];

static const char *in_scratch(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", suite_scratch(), name);
	return path;
}

static bool holds(const char *name, const char *text)
{
	char read_back[8192] = "";
	FILE *file = fopen(name, "r");

	if (!file)
		return false;
	read_back[fread(read_back, 1, sizeof read_back - 1, file)] = '\0';
	fclose(file);
	return strcmp(read_back, text) == 0;
}

/* Each datagram is one write. */
static void write_lines(void)
{
	char datagram[2048], words[2000];
	int ends[2];

	SUITE_EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	dup2(ends[1], STDERR_FILENO);
	setenv("SHIMBLAS_VERBOSE", "1", 1);
	sb_trace_line(1, "m=%d", 7);
	SUITE_EXPECT(recv(ends[0], datagram, sizeof datagram, MSG_DONTWAIT) == 14);
	SUITE_EXPECT(memcmp(datagram, "shimblas: m=7\n", 14) == 0);
	memset(words, 'x', sizeof words - 1);
	words[sizeof words - 1] = '\0';
	sb_trace_line(1, "%s", words);
	SUITE_EXPECT(recv(ends[0], datagram, sizeof datagram, MSG_DONTWAIT) == 1023);
	SUITE_EXPECT(datagram[1021] == 'x' && datagram[1022] == '\n');
	sb_trace_line(1, "%s", "a\nb\x1b");
	SUITE_EXPECT(recv(ends[0], datagram, sizeof datagram, MSG_DONTWAIT) == 15);
	SUITE_EXPECT(memcmp(datagram, "shimblas: a?b?\n", 15) == 0);
	sb_trace_line(2, "not wanted");
	SUITE_EXPECT(recv(ends[0], datagram, sizeof datagram, MSG_DONTWAIT) == -1);
}

static void a_line_is_one_write(void)
{
	SUITE_CHILD_PASSES(write_lines);
}

static void write_once(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT, other = ATOMIC_FLAG_INIT;

	sb_trace_line(1, "not wanted");
	for (int i = 0; i < 3; i++)
		sb_trace_once(&said, "warning");
	sb_trace_once(&other, "another");
}

static void a_warning_is_printed_once_even_if_no_line_is_wanted(void)
{
	SUITE_CHILD_PASSES(write_once);
	CU_ASSERT_STRING_EQUAL(suite_child_said(), "shimblas: warning\nshimblas: another\n");
}

static void write_to_file(void)
{
	setenv("SHIMBLAS_LOGFILE", in_scratch("log"), 1);
	setenv("SHIMBLAS_VERBOSE", "1", 1);
	sb_trace_line(1, "one");
	sb_trace_line(1, "two");
}

static void lines_go_to_the_logfile_and_append(void)
{
	SUITE_CHILD_PASSES(write_to_file);
	CU_ASSERT_STRING_EQUAL(suite_child_said(), "");
	CU_ASSERT(holds(in_scratch("log"), "shimblas: one\nshimblas: two\n"));
}

static void the_name_is_expanded(void)
{
	char name[1024], host[256] = "";

	gethostname(host, sizeof host - 1);
	CU_ASSERT_TRUE(sb_trace_append(in_scratch("a%p.%h.%%.%x.%"), "text", 4));
	snprintf(name, sizeof name, "%s/a%ld.%s.%%.%%x.%%", suite_scratch(), (long)getpid(), host);
	CU_ASSERT(holds(name, "text"));
}

static void a_name_that_does_not_fit_is_given_up(void)
{
	char *name = malloc(9000);

	memset(name, 'a', 8999);
	name[8999] = '\0';
	CU_ASSERT_FALSE(sb_trace_append(name, "x", 1));
	CU_ASSERT_FALSE(sb_trace_append("", "x", 1));
	CU_ASSERT_FALSE(sb_trace_append("/nonexistent/file", "x", 1));
	CU_ASSERT_FALSE(sb_trace_append("/tmp", "x", 1));
	free(name);
}

static void a_symbolic_link_is_refused(void)
{
	char target[512];
	struct stat status;

	strcpy(target, in_scratch("target"));
	CU_ASSERT_EQUAL(symlink(target, in_scratch("link")), 0);
	CU_ASSERT_FALSE(sb_trace_append(path, "x", 1));
	CU_ASSERT_NOT_EQUAL(stat(target, &status), 0);
}

static void append_to_fifo(void)
{
	alarm(10);
	SUITE_EXPECT(mkfifo(in_scratch("fifo"), 0600) == 0);
	SUITE_EXPECT(!sb_trace_append(path, "x", 1));
}

static void a_pipe_without_a_reader_does_not_hang(void)
{
	SUITE_CHILD_PASSES(append_to_fifo);
}

static void append_to_full_disk(void)
{
	int full = open("/dev/full", O_WRONLY);

	SUITE_EXPECT(!sb_trace_append("/dev/full", "x", 1));
	dup2(full, STDERR_FILENO);
	errno = 4321;
	SUITE_EXPECT(!sb_trace_append("-", "x", 1));
	SUITE_EXPECT(errno == 4321);
}

static void a_full_disk_costs_the_line_only(void)
{
	SUITE_CHILD_PASSES(append_to_full_disk);
}

static void append_to_closed(void)
{
	close(STDERR_FILENO);
	errno = 4321;
	SUITE_EXPECT(!sb_trace_append("-", "x", 1));
	SUITE_EXPECT(errno == 4321);
	/* Nothing of ours may stay open in the place of a closed stream. */
	SUITE_EXPECT(sb_trace_append(in_scratch("beside"), "x", 1));
	SUITE_EXPECT(fcntl(STDERR_FILENO, F_GETFD) == -1);
}

static void a_closed_stderr_costs_the_line_only(void)
{
	SUITE_CHILD_PASSES(append_to_closed);
}

static void append_to_broken_pipe(void)
{
	sigset_t set;
	int ends[2];

	signal(SIGPIPE, SIG_DFL);
	SUITE_EXPECT(pipe(ends) == 0);
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	errno = 4321;
	SUITE_EXPECT(!sb_trace_append("-", "x", 1));
	SUITE_EXPECT(errno == 4321);
	sigpending(&set);
	SUITE_EXPECT(!sigismember(&set, SIGPIPE));
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	SUITE_EXPECT(!sigismember(&set, SIGPIPE));
	/* A SIGPIPE that the program itself is waiting for stays pending. */
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	SUITE_EXPECT(!sb_trace_append("-", "x", 1));
	sigpending(&set);
	SUITE_EXPECT(sigismember(&set, SIGPIPE));
}

static void a_reader_that_went_away_does_not_kill(void)
{
	SUITE_CHILD_PASSES(append_to_broken_pipe);
}

static void append_past_the_limit(void)
{
	const struct rlimit limit = {4, 4};

	signal(SIGXFSZ, SIG_DFL);
	SUITE_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	SUITE_EXPECT(sb_trace_append(in_scratch("short"), "1234", 4));
	SUITE_EXPECT(!sb_trace_append(path, "5", 1));
}

static void a_file_size_limit_does_not_kill(void)
{
	SUITE_CHILD_PASSES(append_past_the_limit);
}

static void cancelled_while_writing(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_cancel(pthread_self());
	SUITE_EXPECT(sb_trace_append(in_scratch("cancel"), "x", 1));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	SUITE_EXPECT(before == PTHREAD_CANCEL_ENABLE);
	SUITE_EXPECT(holds(path, "x"));
}

static void a_cancelled_thread_finishes_its_line(void)
{
	SUITE_CHILD_PASSES(cancelled_while_writing);
}

static void errno_is_kept(void)
{
	errno = 4321;
	sb_trace_append(in_scratch("errno"), "x", 1);
	CU_ASSERT_EQUAL(errno, 4321);
	sb_trace_append("/nonexistent/x", "x", 1);
	CU_ASSERT_EQUAL(errno, 4321);
}

static const struct {
	double value;
	int digits;
	const char *text;
} fixed[] = {
	{0, 3, "0.000"},      {1.5, 1, "1.5"},
	{1.0625, 3, "1.063"}, {0.0004, 3, "0.000"},
	{0.9996, 3, "1.000"}, {12345.678, 0, "12346"},
	{-2.25, 2, "-2.25"},  {1e14, 3, "100000000000000.000"},
	{2e15, 3, "inf"},     {-2e15, 3, "-inf"},
	{1, 9, "1.000"},      {1, -1, "1"},
};

static void decimals_have_a_point(void)
{
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		CU_ASSERT_STRING_EQUAL(sb_trace_fixed(fixed[i].value, fixed[i].digits).text,
				       fixed[i].text);
	CU_ASSERT_STRING_EQUAL(sb_trace_fixed((double)NAN, 3).text, "nan");
	CU_ASSERT_STRING_EQUAL(sb_trace_fixed((double)INFINITY, 3).text, "inf");
}

static void whatever_the_locale(void)
{
	char command[1024], number[16];

	snprintf(command, sizeof command,
		 "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/l 2>&1", suite_scratch(),
		 suite_scratch());
	if (system(command) != 0)
		printf("    localedef: no de_DE, installed locales only\n");
	setenv("LOCPATH", suite_scratch(), 1);
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		suite_skip("no locale with a decimal comma (package locales)");
		return;
	}
	snprintf(number, sizeof number, "%.1f", 0.5);
	CU_ASSERT_STRING_EQUAL(number, "0,5");
	decimals_have_a_point();
	setlocale(LC_NUMERIC, "C");
	unsetenv("LOCPATH");
}

static void *many_lines(void *context)
{
	(void)context;
	for (int i = 0; i < 200; i++)
		sb_trace_append(path, "0123456789012345678901234567890123456789\n", 41);
	return NULL;
}

static void lines_of_threads_do_not_mix(void)
{
	char line[64];
	pthread_t threads[4];
	int lines = 0;
	FILE *file;

	in_scratch("mixed");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, many_lines, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file)) {
		lines += strlen(line) == 41;
	}
	if (file)
		fclose(file);
	CU_ASSERT_EQUAL(lines, 800);
}

static const struct suite_case cases[] = {
	{"a line is one write", a_line_is_one_write},
	{"a warning is printed once, even if no line is wanted",
	 a_warning_is_printed_once_even_if_no_line_is_wanted},
	{"lines go to the logfile and append", lines_go_to_the_logfile_and_append},
	{"the name is expanded", the_name_is_expanded},
	{"a name that does not fit is given up", a_name_that_does_not_fit_is_given_up},
	{"a symbolic link is refused", a_symbolic_link_is_refused},
	{"a pipe without a reader does not hang", a_pipe_without_a_reader_does_not_hang},
	{"a full disk costs the line only", a_full_disk_costs_the_line_only},
	{"a closed stderr costs the line only", a_closed_stderr_costs_the_line_only},
	{"a reader that went away does not kill", a_reader_that_went_away_does_not_kill},
	{"a file size limit does not kill", a_file_size_limit_does_not_kill},
	{"a cancelled thread finishes its line", a_cancelled_thread_finishes_its_line},
	{"errno is kept", errno_is_kept},
	{"decimals have a point", decimals_have_a_point},
	{"whatever the locale", whatever_the_locale},
	{"lines of threads do not mix", lines_of_threads_do_not_mix},
};

int main(void)
{
	suite_scratch();
	return SUITE("trace", cases);
}
