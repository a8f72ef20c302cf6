/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in driver's order: what streams, events and synchronisations enforce, and nothing else.
 */
#include <pthread.h>
#include <stdlib.h>
#include "stand_in_fixture.h"

sb_cu_result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
				 int *status);

static void every_row_is_found_by_name_and_version(void)
{
	void *function;
	int status;

	OK(stand_in_configure(NULL));
#define SB_DRIVER(slot, base, symbol, version, parameters)                                         \
	OK(cuGetProcAddress_v2(base, &function, version, 0, &status));                             \
	CU_ASSERT(function == (void *)cu_##slot && status == 0);                                   \
	OK(cuGetProcAddress_v2(base, &function, version - 1, 0, &status));                         \
	CU_ASSERT(function == NULL && status == 2);                                                \
	CU_ASSERT_EQUAL(stand_in_calls(#slot), 0);
#include "../src/driver.def"
#undef SB_DRIVER
	OK(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &status));
	CU_ASSERT(function == NULL && status == 1);
	OK(stand_in_configure("driver=11000"));
	OK(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &function, 13000, 0, &status));
	CU_ASSERT(function == NULL && status == 1);
	CU_ASSERT_EQUAL(stand_in_calls("nothing"), -1);
}

static void copy_reads_its_source_when_it_runs(void)
{
	unsigned *source;
	unsigned *result;
	sb_cu_deviceptr d;

	begin("seed=0");
	source = host_words(1);
	result = host_words(1);
	d = device_words(1);
	*source = 1;
	OK(cu_copy_up(d, source, 4, first));
	*source = 2;
	*result = 0;
	OK(cu_copy_down(result, d, 4, first));
	CU_ASSERT_EQUAL(*result, 0);
	CU_ASSERT_EQUAL(stand_in_live().pending, 2);
	OK(cu_stream_synchronize(first));
	CU_ASSERT_EQUAL(*result, 2);
	CU_ASSERT_EQUAL(stand_in_live().pending, 0);
	end();
}

static void pageable_memory_is_read_at_once_and_written_before_return(void)
{
	unsigned source = 1;
	unsigned result = 0;
	sb_cu_deviceptr d;

	begin("seed=0");
	d = device_words(1);
	OK(cu_copy_up(d, &source, 4, first));
	source = 2;
	CU_ASSERT_EQUAL(stand_in_live().pending, 1);
	OK(cu_copy_down(&result, d, 4, first));
	CU_ASSERT_EQUAL(result, 1);
	end();
}

enum hazard { READ_AFTER_WRITE, WRITE_AFTER_READ, HOST_REUSE, HOST_READ };

/*
 * One step of a pipeline, with or without its wait: whether the value that arrives is right. The
 * word goes up on the first stream and comes down on the second.
 */
static int right(enum hazard hazard, int wait, unsigned seed)
{
	char text[32];
	sb_cu_deviceptr d;
	unsigned *up, *down, *other;
	unsigned want = 1, got;
	sb_cu_event uploaded, downloaded;

	snprintf(text, sizeof text, "seed=%u", seed);
	begin(text);
	d = device_words(1);
	up = host_words(1);
	down = host_words(1);
	other = host_words(1);
	uploaded = event();
	downloaded = event();
	*up = 1;
	*other = 9;
	OK(cu_copy_up(d, up, 4, first));
	OK(cu_event_record(uploaded, first));
	if (hazard == HOST_REUSE) {
		if (wait)
			OK(cu_event_synchronize(uploaded));
		*up = 9;
	}
	if (hazard != READ_AFTER_WRITE || wait)
		OK(cu_stream_wait_event(second, uploaded, 0));
	OK(cu_copy_down(down, d, 4, second));
	OK(cu_event_record(downloaded, second));
	if (hazard == WRITE_AFTER_READ) {
		if (wait)
			OK(cu_stream_wait_event(first, downloaded, 0));
		OK(cu_copy_up(d, other, 4, first));
		OK(cu_stream_synchronize(first));
	}
	if (hazard != HOST_READ || wait)
		OK(cu_event_synchronize(downloaded));
	got = *down;
	end();
	return got == want;
}

static void every_wait_is_needed_by_some_seed(void)
{
	for (int hazard = READ_AFTER_WRITE; hazard <= HOST_READ; hazard++) {
		int wrong = 0;

		for (unsigned seed = 0; seed < 64; seed++) {
			CU_ASSERT(right((enum hazard)hazard, 1, seed));
			wrong += !right((enum hazard)hazard, 0, seed);
		}
		CU_ASSERT(wrong > 0);
	}
}

static void synchronise_runs_no_more_than_it_must(void)
{
	unsigned *source, *result;
	sb_cu_deviceptr d;
	sb_cu_event half;

	begin("seed=0");
	source = host_words(1);
	result = host_words(2);
	d = device_words(1);
	half = event();
	*source = 5;
	result[0] = result[1] = 0;
	OK(cu_copy_up(d, source, 4, first));
	OK(cu_copy_down(result, d, 4, first));
	OK(cu_event_record(half, first));
	OK(cu_copy_down(result + 1, d, 4, first));
	OK(cu_copy_up(d, source, 4, second));
	OK(cu_event_synchronize(half));
	CU_ASSERT(result[0] == 5 && result[1] == 0);
	CU_ASSERT_EQUAL(stand_in_live().pending, 2);
	end();
}

static void queries_get_there_in_the_end(void)
{
	unsigned *source;
	sb_cu_deviceptr d;
	sb_cu_event done;
	int asked = 0, error;

	begin("seed=0");
	source = host_words(1);
	d = device_words(1);
	done = event();
	OK(cu_event_query(done)); /* never recorded */
	OK(cu_copy_up(d, source, 4, first));
	OK(cu_event_record(done, first));
	CU_ASSERT_EQUAL(cu_stream_query(first), SB_CU_ERROR_NOT_READY);
	while ((error = cu_event_query(done)) == SB_CU_ERROR_NOT_READY && asked < 100)
		asked++;
	CU_ASSERT(error == 0 && asked > 0);
	OK(cu_stream_query(first));
	end();
}

static void wait_means_the_record_that_was_last_when_it_was_queued(void)
{
	unsigned *source;
	sb_cu_deviceptr d;
	sb_cu_event e;

	begin("seed=0");
	source = host_words(1);
	d = device_words(2);
	e = event();
	OK(cu_stream_wait_event(second, e, 0)); /* never recorded: no wait */
	OK(cu_copy_up(d, source, 4, first));
	OK(cu_event_record(e, first));
	OK(cu_stream_wait_event(second, e, 0));
	OK(cu_copy_up(d, source, 4, first));
	OK(cu_event_record(e, first));
	OK(cu_stream_synchronize(second));
	CU_ASSERT_EQUAL(stand_in_live().pending, 2);
	OK(cu_event_destroy(e)); /* what is queued keeps its meaning */
	OK(cu_stream_synchronize(first));
	end();
}

static void null_stream_waits_for_blocking_streams_and_they_for_it(void)
{
	unsigned *word;
	sb_cu_deviceptr d;
	sb_cu_stream blocking;

	begin("seed=0");
	OK(cu_stream_create(&blocking, 0));
	word = host_words(3);
	d = device_words(1);
	word[0] = 1;
	word[1] = 2;
	word[2] = 0;
	OK(cu_copy_up(d, word, 4, first)); /* not blocking: nobody waits for it */
	OK(cu_copy_up(d, word + 1, 4, blocking));
	OK(cu_copy_down(word + 2, d, 4, NULL));
	OK(cu_stream_synchronize(NULL));
	CU_ASSERT_EQUAL(word[2], 2);
	CU_ASSERT_EQUAL(stand_in_live().pending, 1);
	OK(cu_set_words(d, 7, 1, NULL));
	OK(cu_copy_down(word + 2, d, 4, blocking));
	OK(cu_stream_synchronize(blocking));
	CU_ASSERT_EQUAL(word[2], 7);
	end();
}

static void two_dimensional_copies_keep_to_their_rows(void)
{
	unsigned *from, *to;
	sb_cu_deviceptr d;
	struct sb_cu_memcpy2d copy = {0};
	int wrong = 0;

	begin("seed=0");
	from = host_words(5 * 8);
	to = host_words(5 * 8);
	d = device_words(5 * 8);
	for (unsigned i = 0; i < 5 * 8; i++) {
		from[i] = i;
		to[i] = 99;
	}
	OK(cu_set_words(d, 77, 5 * 8, first));
	copy.src_type = SB_CU_MEMORY_HOST;
	copy.src_host = from;
	copy.src_pitch = copy.dst_pitch = 5 * 4;
	copy.dst_type = SB_CU_MEMORY_DEVICE;
	copy.dst_device = d;
	copy.width_bytes = 3 * 4;
	copy.height = 8;
	OK(cu_copy_2d(&copy, first));
	OK(cu_copy_down(to, d, 5 * 8 * 4, first));
	OK(cu_stream_synchronize(first));
	for (unsigned i = 0; i < 5 * 8; i++)
		wrong += to[i] != (i % 5 < 3 ? i : 77);
	CU_ASSERT_EQUAL(wrong, 0);
	copy.src_pitch = 8; /* less than a row */
	CU_ASSERT_EQUAL(cu_copy_2d(&copy, first), SB_CU_ERROR_INVALID_VALUE);
	end();
}

struct worker {
	unsigned seed, wrong;
};

/* One thread of several, each with its own streams on the same device. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	sb_cu_stream mine;
	sb_cu_deviceptr d = 0;
	void *memory = NULL;
	volatile unsigned *word;
	sb_cu_context popped;

	cu_context_push(context);
	cu_stream_create(&mine, SB_CU_STREAM_NON_BLOCKING);
	cu_memory_alloc(&d, 4);
	cu_host_alloc(&memory, 8, 0);
	word = memory;
	for (unsigned i = 0; i < 200; i++) {
		word[0] = worker->seed + i;
		cu_copy_up(d, memory, 4, mine);
		cu_copy_down((unsigned *)memory + 1, d, 4, mine);
		cu_stream_synchronize(mine);
		worker->wrong += word[1] != worker->seed + i;
	}
	cu_host_free(memory);
	cu_memory_free(d);
	cu_stream_destroy(mine);
	cu_context_pop(&popped);
	return NULL;
}

static void threads_do_not_disturb_each_other(void)
{
	struct worker workers[4] = {{0}};
	pthread_t threads[4];

	begin("seed=5");
	for (unsigned i = 0; i < 4; i++) {
		workers[i].seed = 1000 * i;
		CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		CU_ASSERT_EQUAL(workers[i].wrong, 0);
	}
	CU_ASSERT_PTR_NULL(stand_in_error());
	end();
}

int main(void)
{
	static const struct suite_case cases[] = {
		{"every row is found by name and version", every_row_is_found_by_name_and_version},
		{"a copy reads its source when it runs", copy_reads_its_source_when_it_runs},
		{"pageable memory is read at once and written before return",
		 pageable_memory_is_read_at_once_and_written_before_return},
		{"every wait is needed by some seed", every_wait_is_needed_by_some_seed},
		{"a synchronisation runs no more than it must",
		 synchronise_runs_no_more_than_it_must},
		{"queries get there in the end", queries_get_there_in_the_end},
		{"a wait means the record that was last when it was queued",
		 wait_means_the_record_that_was_last_when_it_was_queued},
		{"the null stream waits for blocking streams, and they for it",
		 null_stream_waits_for_blocking_streams_and_they_for_it},
		{"two-dimensional copies keep to their rows",
		 two_dimensional_copies_keep_to_their_rows},
		{"threads do not disturb each other", threads_do_not_disturb_each_other},
	};

	return SUITE("stand_in", cases);
}
