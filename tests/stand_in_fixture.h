/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the stand-in driver that are linked with it: every row of driver.def as cu_<slot>,
 * and a device with a current context and two streams that order nothing by themselves.
 */
#ifndef SB_STAND_IN_FIXTURE_H
#define SB_STAND_IN_FIXTURE_H

#include <stdint.h>
#include <string.h>
#include "../kernels/args.h"
#include "../src/cuda_types.h"
#include "stand_in/stand_in.h"
#include "suite.h"

#define SB_DRIVER(slot, base, symbol, version, parameters)                                         \
	sb_cu_result cu_##slot parameters __asm__(symbol);
#include "../src/driver.def"
#undef SB_DRIVER

#define OK(call) CU_ASSERT_EQUAL(call, 0)

static sb_cu_context context;
static sb_cu_stream first, second;

/* A fresh world; violations are counted, not fatal, unless the text says otherwise. */
static inline void begin(const char *text)
{
	OK(stand_in_configure(NULL));
	OK(stand_in_configure("abort=0"));
	OK(stand_in_configure(text));
	OK(cu_init(0));
	OK(cu_primary_retain(&context, 0));
	OK(cu_context_push(context));
	OK(cu_stream_create(&first, SB_CU_STREAM_NON_BLOCKING));
	OK(cu_stream_create(&second, SB_CU_STREAM_NON_BLOCKING));
}

/* Gives everything back; what a test forgot goes with the context. */
static inline void end(void)
{
	sb_cu_context popped;
	struct stand_in_live live;

	OK(stand_in_configure("devices=8")); /* heals a lost context */
	OK(cu_context_pop(&popped));
	CU_ASSERT_PTR_EQUAL(popped, context);
	OK(cu_primary_release(0));
	live = stand_in_live();
	CU_ASSERT(live.device_memory + live.host_memory + live.streams + live.events +
			  live.modules + live.contexts + live.pending ==
		  0);
}

static inline sb_cu_deviceptr device_words(size_t count)
{
	sb_cu_deviceptr p = 0;

	OK(cu_memory_alloc(&p, 4 * count));
	return p;
}

static inline unsigned *host_words(size_t count)
{
	void *p = NULL;

	OK(cu_host_alloc(&p, 4 * count, SB_CU_HOST_ALLOC_PORTABLE));
	return p;
}

static inline sb_cu_event event(void)
{
	sb_cu_event e = NULL;

	OK(cu_event_create(&e, SB_CU_EVENT_DISABLE_TIMING));
	return e;
}

/* Whether a test caused a violation whose text holds the word. */
static inline int violated(const char *word)
{
	const char *error = stand_in_error();

	return error && strstr(error, word);
}

#endif
