/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles as text and as files: what is taken, what is refused, and where one is looked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profile.h"
#include "profile_file.h"
#include "profile_text.h"
#include "suite.h"
#include "threads.h"

static char good[1 << 18];
static size_t good_length;
static struct sb_profile parsed;

extern const char sb_shipped_profile[], sb_shipped_profile_end[];

static void read_good(void)
{
	good_length = (size_t)(sb_shipped_profile_end - sb_shipped_profile);
	memcpy(good, sb_shipped_profile, good_length);
}

/* The good text with one piece of it exchanged; its length. */
static size_t exchange(char *into, const char *from, const char *to)
{
	char *at = strstr(good, from);
	size_t before = at ? (size_t)(at - good) : good_length;

	memcpy(into, good, before);
	if (!at)
		return before;
	strcpy(into + before, to);
	strcat(into + before, at + strlen(from));
	return strlen(into);
}

static bool sound(const struct sb_profile *p)
{
	bool good_so_far = p->copy_threads > 0 && p->copy_slot >= 4096 && p->cpus > 0 &&
			   p->launch > 0 && p->kernel > 0 && p->target.multiprocessors > 0 &&
			   p->processors > 0;

	for (int link = 0; link < SB_LINKS; link++)
		for (int i = 0; i < SB_LINK_SIZES; i++)
			good_so_far &= p->link[link][i] > 0;
	for (int i = 0; i < p->cpus; i++)
		for (int way = 0; way < SB_WAYS; way++)
			for (int node = 0; node < SB_GRID * SB_GRID * SB_GRID; node++)
				good_so_far &= (&p->cpu[i].seconds.way[way].at[0][0][0])[node] > 0;
	return good_so_far;
}

static void the_shipped_one_is_whole(void)
{
	CU_ASSERT(good_length > 1000);
	CU_ASSERT_PTR_NULL(sb_profile_parse(good, good_length, &parsed));
	CU_ASSERT_TRUE(sound(&parsed));
	CU_ASSERT_TRUE(sound(sb_profile_shipped()));
	CU_ASSERT_EQUAL(memcmp(&parsed, sb_profile_shipped(), sizeof parsed), 0);
	CU_ASSERT_STRING_EQUAL(parsed.gpu, "NVIDIA H200");
	CU_ASSERT_EQUAL(parsed.cpu[0].threads, 1);
	CU_ASSERT_EQUAL(parsed.cpu[parsed.cpus - 1].threads, parsed.processors);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Which every program would pay at its first judged call. */
static void ask_first(void)
{
	double begin = cpu_seconds(), asked, read;

	SUITE_EXPECT(sb_profile(NULL) != NULL);
	asked = cpu_seconds();
	SUITE_EXPECT(sb_profile_parse(good, good_length, &parsed) == NULL);
	read = cpu_seconds();
	SUITE_EXPECT(asked - begin < (read - asked) / 2);
}

static void the_shipped_one_need_not_be_read(void)
{
	int tries = 20;

	while (tries > 0 && suite_child(ask_first) != 0)
		tries--;
	CU_ASSERT(tries > 0);
}

static void what_makes_no_sense_is_refused(void)
{
	static const struct {
		const char *from, *to, *word;
	} rows[] = {
		{"profile 2", "profile 1", "format"},
		{"profile 2", "profile", "no profile"},
		{"shimblas", "wisdom", "no profile"},
		{"\ncopy 16", "\ncopy 0", "no sense"},
		{"\ncopy 16 2048", "\ncopy 16 1", "no sense"},
		{"\ncopy 16 2048", "\ncopy 16", "no sense"},
		{"\ncopy ", "\n#", "missing"},
		{"\nlaunch ", "\nlunch ", "no sense"},
		{"\nlaunch ", "\nlaunch -", "no sense"},
		{"\nlaunch ", "\nlaunch 1e3 ", "no sense"},
		{"\nlaunch ", "\nlaunch 0 #", "no sense"},
		{"\nlaunch ", "\nlaunch 1 1", "no sense"},
		{"\nlaunch ", "\n#", "missing"},
		{"\nlink pinned-up ", "\nlink pinned-up 1,5 ", "no sense"},
		{"\nlink pinned-up ", "\nlink pinned-up 1 ", "no sense"},
		{"\nlink pinned-up ", "\n#", "link"},
		{"\nlink pinned-up ", "\nlink pinned-up 999999 ", "no sense"},
		{"\ncpu 1 nn 19 47 ", "\n#", "backend"},
		{"\ncpu 1 nn 19 47 ", "\ncpu 3 nn 19 47 ", "backend"},
		{"\ncpu 1 nn 19 47 ", "\ncpu 1 nn 13 47 ", "no sense"},
		{"\ndevice 90", "\ndevice 90 0", "no sense"},
		{"\nkey ", "\nkey 0", "no sense"},
		{"\ngpu NVIDIA H200", "\ngpu NVIDIA H100", "key"},
		{"\nprocessors 16", "\nprocessors 17", "key"},
		{"\nend", "\n", "end"},
		{"\nend", "\nend\nlaunch 1", "behind"},
	};
	static char bad[sizeof good + 64];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t length = exchange(bad, rows[i].from, rows[i].to);
		const char *problem = sb_profile_parse(bad, length, &parsed);

		CU_ASSERT(problem && strstr(problem, rows[i].word));
		if (!problem || !strstr(problem, rows[i].word))
			printf("    %s -> %s: %s\n", rows[i].from + 1, rows[i].to + 1,
			       problem ? problem : "taken");
	}
}

static void a_time_that_falls_is_refused(void)
{
	static char bad[sizeof good + 64];
	size_t length = exchange(bad, "\ncpu 1 nn 47 47 ", "\ncpu 1 nn 47 47 900000 ");
	char *line = strstr(bad, "\ncpu 1 nn 47 47 ") + 1, *end = strchr(line, '\n');

	/* One value too many: the last goes. */
	while (*--end != ' ')
		;
	memset(end, ' ', (size_t)(strchr(line, '\n') - end));
	CU_ASSERT_PTR_NOT_NULL_FATAL(sb_profile_parse(bad, length, &parsed));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(sb_profile_parse(bad, length, &parsed), "fall where a size grows"));
}

static void every_truncation_is_refused(void)
{
	size_t whole = (size_t)(strstr(good, "\nend") + 4 - good);

	/* Each length of the first lines, and then some of every kind of place in a line. */
	for (size_t length = 0; length < whole; length += length < 2500 ? 1 : 1009) {
		/* Memory of just that size, so that a sanitizer sees a read past it. */
		char *cut = malloc(length ? length : 1);

		memcpy(cut, good, length);
		if (!sb_profile_parse(cut, length, &parsed))
			CU_FAIL("a truncated profile was taken");
		free(cut);
	}
	CU_PASS("all were refused");
}

static void whatever_is_taken_is_sound(void)
{
	char *copy = malloc(good_length);
	int taken = 0;

	for (int round = 0; round < 600; round++) {
		memcpy(copy, good, good_length);
		for (int64_t i = suite_between(1, 4); i > 0; i--)
			copy[suite_between(0, (int64_t)good_length - 1)] =
				round % 2 ? (char)suite_between(0, 255)
					  : "0123456789. \n#-e"[suite_between(0, 15)];
		if (!sb_profile_parse(copy, good_length, &parsed)) {
			taken++;
			CU_ASSERT_TRUE_FATAL(sound(&parsed));
		}
	}
	/* A digit for another is no fault that can be seen. */
	CU_ASSERT(taken > 3 && taken < 590);
	free(copy);
}

/* --- files, each in a process of its own ---------------------------------------------------- */

static char folder[256], path[512];

/* The good profile, said to be of this backend and so many processors. */
static void write_profile(const char *file, const char *backend, int processors)
{
	static char text[sizeof good + 512];
	char key[64];
	FILE *out = fopen(file, "w");

	snprintf(key, sizeof key, "\nkey %016llx\n#",
		 (unsigned long long)sb_profile_key("NVIDIA H200", 13000, backend, processors));
	exchange(text, "\nkey ", key);
	for (int i = 0; i < 3; i++) {
		const char *const words[] = {"\nbackend ", "\nprocessors ", "\ndriver "};
		char *at = strstr(text, words[i]), rest[sizeof good];

		strcpy(rest, strchr(at + 1, '\n'));
		if (i == 0)
			sprintf(at, "\nbackend %s%s", backend, rest);
		else
			sprintf(at, "%s%d%s", words[i], i == 1 ? processors : 13000, rest);
	}
	fputs(text, out);
	fclose(out);
}

static const char *const blas = "/usr/lib/libfancyblas.so.7";

static void prepare_home(void)
{
	snprintf(folder, sizeof folder, "%s/home", suite_scratch());
	mkdir(folder, 0755);
	setenv("HOME", folder, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("SHIMBLAS_PROFILE");
	strcat(folder, "/.config");
	mkdir(folder, 0755);
	strcat(folder, "/shimblas");
	mkdir(folder, 0755);
}

static void in_home(void)
{
	prepare_home();
	SUITE_EXPECT(sb_profile_place(blas, path, sizeof path));
	SUITE_EXPECT(strncmp(path, folder, strlen(folder)) == 0);
	write_profile(path, "libfancyblas.so.7", sb_threads_process());
	SUITE_EXPECT(strcmp(sb_profile(blas)->backend, "libfancyblas.so.7") == 0);
	SUITE_EXPECT(strcmp(sb_profile_source(), path) == 0);
	/* Whoever asks later gets the same. */
	SUITE_EXPECT(sb_profile("/other") == sb_profile(blas));
}

static void in_xdg(void)
{
	prepare_home();
	setenv("XDG_CONFIG_HOME", suite_scratch(), 1);
	SUITE_EXPECT(sb_profile_place(blas, path, sizeof path));
	SUITE_EXPECT(strncmp(path, suite_scratch(), strlen(suite_scratch())) == 0);
	SUITE_EXPECT(strncmp(path, folder, strlen(folder)) != 0);
}

static void nowhere_relative(void)
{
	setenv("XDG_CONFIG_HOME", "here", 1);
	setenv("HOME", ".", 1);
	SUITE_EXPECT(sb_profile_place(blas, path, sizeof path) && path[0] == '/');
	SUITE_EXPECT(strcmp(sb_profile_source(), "built in") == 0);
}

static void a_profile_is_found_in_the_users_folders(void)
{
	SUITE_CHILD_PASSES(in_home);
	CU_ASSERT_EQUAL(suite_child_lines(), 0);
	SUITE_CHILD_PASSES(in_xdg);
	SUITE_CHILD_PASSES(nowhere_relative);
	CU_ASSERT_EQUAL(suite_child_lines(), 0);
}

static void named(void)
{
	SUITE_EXPECT(strcmp(sb_profile(blas)->backend, "libfancyblas.so.7") == 0);
	SUITE_EXPECT(strcmp(sb_profile_source(), getenv("SHIMBLAS_PROFILE")) == 0);
}

static void refused(void)
{
	SUITE_EXPECT(sb_profile(blas)->launch == sb_profile_shipped()->launch);
	SUITE_EXPECT(strcmp(sb_profile_source(), "built in") == 0);
	SUITE_EXPECT(sb_profile(blas)->processors == sb_threads_process());
}

static void a_named_profile_serves_or_is_refused_with_a_line(void)
{
	int processors = sb_threads_process();

	snprintf(path, sizeof path, "%s/named", suite_scratch());
	setenv("SHIMBLAS_PROFILE", path, 1);
	SUITE_CHILD_PASSES(refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	write_profile(path, "libfancyblas.so.7", processors);
	SUITE_CHILD_PASSES(named);
	CU_ASSERT_EQUAL(suite_child_lines(), 0);
	write_profile(path, "libplainblas.so.7", processors);
	SUITE_CHILD_PASSES(refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	write_profile(path, "libfancyblas.so.7", processors + 1);
	SUITE_CHILD_PASSES(refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	CU_ASSERT_EQUAL(truncate(path, 500), 0);
	SUITE_CHILD_PASSES(refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	/* Neither a folder nor a pipe that nobody writes to holds anybody up. */
	setenv("SHIMBLAS_PROFILE", suite_scratch(), 1);
	SUITE_CHILD_PASSES(refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	snprintf(path, sizeof path, "%s/pipe", suite_scratch());
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	setenv("SHIMBLAS_PROFILE", path, 1);
	SUITE_CHILD_PASSES(refused);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
	unsetenv("SHIMBLAS_PROFILE");
}

/* --- devices that come ------------------------------------------------------------------------ */

static const struct sb_driver no_driver;
static struct sb_device device = {.cu = &no_driver,
				  .arch = 80,
				  .multiprocessors = 108,
				  .clock_khz = 1410000,
				  .memory = (size_t)40 << 30};

static void meets_a_stranger(void)
{
	struct sb_profile_sample sample = {.launch = 0};

	strcpy(device.name, "Some other GPU");
	for (int i = 0; i < SB_LINK_SIZES; i++)
		sample.link[SB_PINNED_UP][i] = 2 * sb_profile_shipped()->link[SB_PINNED_UP][i];
	SUITE_EXPECT(sb_profile_unknown(&device));
	sb_profile_meet(&device, &sample);
	SUITE_EXPECT(strcmp(sb_profile(NULL)->gpu, device.name) == 0);
	SUITE_EXPECT(sb_profile(NULL)->target.multiprocessors == 108);
	/* Half the units, at less than three quarters of the clock. */
	SUITE_EXPECT(sb_profile(NULL)->kernel > 2.5 * sb_profile_shipped()->kernel);
	SUITE_EXPECT(sb_profile(NULL)->link[SB_PINNED_UP][2] == sample.link[SB_PINNED_UP][2]);
	SUITE_EXPECT(sb_profile(NULL)->link[SB_PINNED_DOWN][2] ==
		     sb_profile_shipped()->link[SB_PINNED_DOWN][2]);
	SUITE_EXPECT(sb_profile(NULL)->launch == sb_profile_shipped()->launch);
	SUITE_EXPECT(strstr(sb_profile_source(), "adapted") != NULL);
}

static void meets_its_own(void)
{
	strcpy(device.name, "NVIDIA H200");
	SUITE_EXPECT(!sb_profile_unknown(&device));
	sb_profile_meet(&device, NULL);
	SUITE_EXPECT(strcmp(sb_profile_source(), "built in") == 0);
}

static void file_meets_a_stranger(void)
{
	snprintf(path, sizeof path, "%s/strange", suite_scratch());
	setenv("SHIMBLAS_PROFILE", path, 1);
	write_profile(path, "libfancyblas.so.7", sb_threads_process());
	SUITE_EXPECT(strcmp(sb_profile(blas)->gpu, "NVIDIA H200") == 0);
	meets_a_stranger();
}

static void a_device_that_no_profile_knows_has_one_derived(void)
{
	SUITE_CHILD_PASSES(meets_a_stranger);
	CU_ASSERT_EQUAL(suite_child_lines(), 0);
	SUITE_CHILD_PASSES(meets_its_own);
	CU_ASSERT_EQUAL(suite_child_lines(), 0);
	SUITE_CHILD_PASSES(file_meets_a_stranger);
	CU_ASSERT_EQUAL(suite_child_lines(), 1);
}

static const struct suite_case cases[] = {
	{"the shipped one is whole", the_shipped_one_is_whole},
	{"the shipped one need not be read", the_shipped_one_need_not_be_read},
	{"what makes no sense is refused", what_makes_no_sense_is_refused},
	{"a time that falls is refused", a_time_that_falls_is_refused},
	{"every truncation is refused", every_truncation_is_refused},
	{"whatever is taken is sound", whatever_is_taken_is_sound},
	{"a profile is found in the user's folders", a_profile_is_found_in_the_users_folders},
	{"a named profile serves or is refused with a line",
	 a_named_profile_serves_or_is_refused_with_a_line},
	{"a device that no profile knows has one derived",
	 a_device_that_no_profile_knows_has_one_derived},
};

int main(void)
{
	read_good();
	return SUITE("profile", cases);
}
