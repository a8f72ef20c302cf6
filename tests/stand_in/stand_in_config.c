/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in's settings: one table of keys, read from SB_STAND_IN or from a test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stand_in.h"
#include "stand_in_world.h"

static const struct settings defaults = {
	.devices = 1,
	.cc = 90,
	.sms = 132,
	.shared = 233472,
	.memory = 4L << 30,
	.driver = 13000,
	.abort = 1,
};

static const struct {
	const char *key;
	size_t offset;
	long least, most;
} numbers[] = {
	{"devices", offsetof(struct settings, devices), 0, DEVICES},
	{"cc", offsetof(struct settings, cc), 30, 999},
	{"sms", offsetof(struct settings, sms), 1, 1024},
	{"shared", offsetof(struct settings, shared), 49152, 1 << 20},
	{"memory", offsetof(struct settings, memory), 0, 1L << 40},
	{"driver", offsetof(struct settings, driver), 0, 1000000},
	{"seed", offsetof(struct settings, seed), 0, 1L << 60},
	{"slow", offsetof(struct settings, slow), 0, 1000000},
	{"start", offsetof(struct settings, start), 0, 1000000},
	{"short", offsetof(struct settings, most), 0, 1L << 40},
	{"pageable", offsetof(struct settings, pageable), 0, 1},
	{"island", offsetof(struct settings, island), 0, DEVICES},
	{"nopeer", offsetof(struct settings, nopeer), 0, 1},
	{"sealed", offsetof(struct settings, sealed), 0, 1},
	{"capturing", offsetof(struct settings, capturing), 0, 1},
	{"whole", offsetof(struct settings, whole), 0, 1},
	{"abort", offsetof(struct settings, abort), 0, 1},
	{"forget", offsetof(struct settings, forget), 0, 1},
};

static const struct {
	const char *key;
	enum fault_kind kind;
} fault_keys[] = {
	{"fail", FAULT_FAIL},	{"from", FAULT_FROM}, {"lose", FAULT_LOSE},
	{"crash", FAULT_CRASH}, {"hang", FAULT_HANG},
};

/* A count of something, perhaps of K, M or G; false if it is none. */
static bool read_number(const char *text, long *value)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	*value = strtol(text, &end, 10);
	if (end == text)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		*value <<= 10 * (unit - units + 1);
		end++;
	}
	return *end == '\0';
}

/* SLOT:N[:ERROR] */
static bool read_fault(enum fault_kind kind, const char *text)
{
	struct fault fault = {.kind = kind};
	const char *colon = strchr(text, ':');
	int slot = colon ? slot_find(text, (size_t)(colon - text)) : -1;
	char *end;

	if (slot < 0 || world.fault_count == FAULTS)
		return false;
	fault.slot = (enum slot)slot;
	fault.call = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || fault.call < 1)
		return false;
	if (*end == ':') {
		fault.error = error_find(end + 1, strlen(end + 1));
		if (fault.error < 0)
			return false;
	} else if (*end) {
		return false;
	}
	world.faults[world.fault_count++] = fault;
	return true;
}

static bool read_pair(const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		long number;

		if (strcmp(key, numbers[i].key) != 0)
			continue;
		if (!read_number(value, &number) || number < numbers[i].least ||
		    number > numbers[i].most)
			return false;
		memcpy((char *)&world.settings + numbers[i].offset, &number, sizeof number);
		return true;
	}
	for (size_t i = 0; i < sizeof fault_keys / sizeof *fault_keys; i++)
		if (strcmp(key, fault_keys[i].key) == 0)
			return read_fault(fault_keys[i].kind, value);
	if (strcmp(key, "engine") == 0) {
		world.settings.exact = strcmp(value, "exact") == 0;
		return world.settings.exact || strcmp(value, "quick") == 0;
	}
	if (strcmp(key, "report") == 0 && strlen(value) < sizeof world.settings.report) {
		strcpy(world.settings.report, value);
		return true;
	}
	return false;
}

/* false and a line on stderr at the first pair that makes no sense. A key alone means key=1. */
static bool read_text(const char *text)
{
	while (*text) {
		char pair[512];
		size_t length = strcspn(text, ",");
		char *value;

		if (length > 0) {
			snprintf(pair, sizeof pair, "%.*s", (int)length, text);
			value = strchr(pair, '=');
			if (value)
				*value++ = '\0';
			if (!read_pair(pair, value ? value : "1")) {
				fprintf(stderr, "stand-in: cannot make sense of '%.*s'\n",
					(int)length, text);
				return false;
			}
		}
		text += length + (text[length] == ',');
	}
	return true;
}

/* Nobody waits for what is forgotten. */
static void forget(void)
{
	for (struct CUctx_st *c = context_each(NULL); c; c = context_each(c)) {
		stream_clear(&c->null);
		for (struct CUstream_st *s = c->streams; s; s = s->next)
			stream_clear(s);
	}
	for (struct CUevent_st *e = world.events; e; e = e->next)
		if (e->last && !e->last->record)
			e->last->done = true;
}

static bool apply(const char *text)
{
	if (!world.configured || !text)
		world.settings = defaults;
	world.configured = true;
	world.fault_count = 0;
	memset(world.lost, 0, sizeof world.lost);
	memset(world.bytes, 0, sizeof world.bytes);
	world.error[0] = '\0';
	memset(world.calls, 0, sizeof world.calls);
	world.settings.forget = 0;
	if (text && !read_text(text))
		return false;
	if (world.settings.forget)
		forget();
	/* splitmix64, so that neighbouring seeds have nothing in common */
	world.random = (unsigned long)world.settings.seed * 0x9e3779b97f4a7c15UL + 0x9e3779b9UL;
	world.random = (world.random ^ (world.random >> 30)) * 0xbf58476d1ce4e5b9UL;
	world.random |= 1;
	return true;
}

EXPORTED int stand_in_configure(const char *text)
{
	bool ok;

	world_lock();
	ok = apply(text);
	world_unlock();
	return ok ? 0 : -1;
}

void config_start(void)
{
	if (!world.configured && !apply(getenv("SB_STAND_IN")))
		abort();
}
