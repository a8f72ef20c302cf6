/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of a fresh C: put there by the copy threads, and nothing else; what C holds stays, and
 * nothing beside it is touched.
 */
#include "child.h"

#include <sys/mman.h>
#include <time.h>

#include "fresh.h"
#include "process.h"

enum { COLUMNS = 96 };

/* An m x COLUMNS matrix between two stretches of the same mapping that are not its own. */
struct mapping {
	char *base, *c;
	size_t page, margin, bytes;
	struct sb_call call;
};

static struct mapping map(int64_t m, int64_t ld)
{
	struct mapping map = {.page = (size_t)sysconf(_SC_PAGESIZE), .margin = (size_t)4 << 20};

	map.bytes = (size_t)ld * COLUMNS * sizeof(float);
	map.base = mmap(NULL, map.bytes + 2 * map.margin, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map.base != MAP_FAILED);
	/* In the middle of a page. */
	map.c = map.base + map.margin + 100;
	map.call =
		(struct sb_call){.m = m, .n = COLUMNS, .k = 1, .ldc = ld, .alpha = 1, .c = map.c};
	return map;
}

/* Pages in [start, start + bytes) that have memory behind them. */
static size_t present(const struct mapping *map, const char *start, size_t bytes)
{
	size_t first = (size_t)(start - map->base) / map->page, count = bytes / map->page, n = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned char there = 0;

		CHECK(mincore(map->base + (first + i) * map->page, map->page, &there) == 0);
		n += there & 1;
	}
	return n;
}

/* Small pages, so that what is put there can be told from what lies beside it. */
static void small_pages(const struct mapping *map)
{
	madvise(map->base, map->bytes + 2 * map->margin, MADV_NOHUGEPAGE);
}

static void begin_and_end(const struct sb_call *call, struct sb_fresh *fresh)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	sb_fresh_begin(fresh, call);
	/* Ended at once most would be left undone. */
	for (int i = 0; fresh->begun && i < 20000 && !sb_copy_threads_done(&fresh->job); i++)
		nanosleep(&nap, NULL);
	sb_fresh_end(fresh);
}

static void missing_pages_are_put_there(const void *unused)
{
	struct mapping fresh_map = map(8000, 8000);
	struct sb_fresh fresh;

	(void)unused;
	sb_process_start();
	sb_copy_threads_open();
	begin_and_end(&fresh_map.call, &fresh);
	sb_copy_threads_close();
	/* All but the two that C shares with what is not its own. */
	CHECK(present(&fresh_map, fresh_map.c, fresh_map.bytes) >=
	      fresh_map.bytes / fresh_map.page - 2);
}

static void nothing_beside_it_is(const void *unused)
{
	struct mapping m = map(8000, 8000);
	struct sb_fresh fresh;

	(void)unused;
	small_pages(&m);
	sb_process_start();
	sb_copy_threads_open();
	begin_and_end(&m.call, &fresh);
	sb_copy_threads_close();
	CHECK(present(&m, m.base, m.margin) == 0);
	CHECK(present(&m, m.c + m.bytes + m.page, m.margin - 2 * m.page) == 0);
}

static void what_it_holds_stays(const void *unused)
{
	struct mapping m = map(8000, 8000);
	struct sb_fresh fresh;

	(void)unused;
	sb_process_start();
	sb_copy_threads_open();
	for (size_t i = 0; i < m.bytes; i += 5 * m.page)
		m.c[i] = (char)(i / m.page + 1);
	begin_and_end(&m.call, &fresh);
	sb_copy_threads_close();
	for (size_t i = 0; i < m.bytes; i += 5 * m.page)
		CHECK(m.c[i] == (char)(i / m.page + 1) && m.c[i + m.page] == 0);
}

/* Whether it begins at all. */
struct beginning {
	int64_t m, ld;
	int touched, threads, begins;
};

static void begins(const void *argument)
{
	const struct beginning *b = argument;
	struct mapping m = map(b->m, b->ld);
	struct sb_fresh fresh;

	if (b->touched)
		memset(m.c, 1, m.bytes);
	sb_process_start();
	if (b->threads)
		sb_copy_threads_open();
	sb_fresh_begin(&fresh, &m.call);
	CHECK(fresh.begun == (bool)b->begins);
	sb_fresh_end(&fresh);
	CHECK(!fresh.begun);
	if (b->threads)
		sb_copy_threads_close();
}

static void pages_that_are_missing_are(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=3", missing_pages_are_put_there, NULL), 0);
}

static void and_no_others(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=3", nothing_beside_it_is, NULL), 0);
}

static void values_stay(void)
{
	CU_ASSERT_EQUAL(in_child("SHIMBLAS_THREADS=3", what_it_holds_stays, NULL), 0);
}

static void it_begins_where_it_helps(void)
{
	static const struct beginning rows[] = {
		{8000, 8000, 0, 1, 1}, /* fresh */
		{8000, 8000, 1, 1, 0}, /* there already */
		{8000, 8000, 0, 0, 0}, /* nobody to do it */
		{2000, 2000, 0, 1, 0}, /* too little */
		{4000, 8000, 0, 1, 0}, /* pages between the columns would be touched */
		{8000, 8500, 0, 1, 1}, /* a gap of less than a page */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int failures = in_child("SHIMBLAS_THREADS=3", begins, &rows[i]);

		if (failures)
			fprintf(stderr, "row %zu\n", i);
		CU_ASSERT_EQUAL(failures, 0);
	}
}

int main(void)
{
	const struct suite_case tests[] = {
		{"missing pages are put there", pages_that_are_missing_are},
		{"nothing beside it is", and_no_others},
		{"what it holds stays", values_stay},
		{"it begins where it helps", it_begins_where_it_helps},
	};

	return SUITE("fresh", tests);
}
