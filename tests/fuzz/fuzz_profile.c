/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles as text. The bytes are one, or edits of the shipped one: byte 0 even, the text follows;
 * odd, each edit is a place (4 bytes), what to do there (1) and a byte to do it with. What is taken
 * must be fit to predict with.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "model.h"
#include "profile_text.h"
#include "sized.h"

extern const char sb_shipped_profile[], sb_shipped_profile_end[];

static struct sb_profile profile, again;

static void judge(int64_t m, int64_t n, int64_t k)
{
	const struct sb_call call = sized_call(m, n, k);
	const struct sb_situation situation = {
		.health = SB_HEALTH_READY, .threads = 3, .callers = 1, .processors = 4};
	double cpu = sb_model_cpu(&profile, &situation, &call).seconds;
	double gpu = sb_model_gpu(&profile, &situation, &call).seconds;
	double least = sb_model_gpu_least(&profile, &situation, &call);
	double copies = sb_model_gpu_copies(&profile, &situation, &call);

	/* Where no kernel runs the GPU never ends. */
	FUZZ_CHECK(cpu > 0 && isfinite(cpu), "cpu %g", cpu);
	FUZZ_CHECK(gpu > 0 && !isnan(gpu), "gpu %g", gpu);
	FUZZ_CHECK(copies > 0 && copies <= gpu * (1 + 1e-9), "copies %g, gpu %g", copies, gpu);
	FUZZ_CHECK(least >= 0 && !isnan(least), "least %g", least);
}

static void take(const char *text, size_t length)
{
	if (sb_profile_parse(text, length, &profile))
		return;
	FUZZ_CHECK(!sb_profile_parse(text, length, &again) &&
			   memcmp(&profile, &again, sizeof profile) == 0,
		   "read twice it is another");
	FUZZ_CHECK(profile.copy_threads > 0 && profile.copy_slot >= 4096 && profile.cpus > 0,
		   "%d threads, slots of %zu", profile.copy_threads, profile.copy_slot);
	FUZZ_CHECK(memchr(profile.gpu, 0, sizeof profile.gpu) &&
			   memchr(profile.backend, 0, sizeof profile.backend),
		   "a text without an end");
	judge(1, 1, 1);
	judge(64, 64, 64);
	judge(4096, 4096, 4096);
	judge(1, 100000, 7);
	judge(1000000, 1, 1000000);
	judge(1 << 20, 1 << 20, 1 << 20);
}

/* A place becomes another byte, an empty one, one more, or a second copy of its line. */
static size_t edit(char *text, size_t length, size_t room, struct fuzz_bytes *bytes)
{
	size_t place = fuzz_word(bytes) % length, count;
	unsigned what = fuzz_byte(bytes) % 4;
	char byte = (char)fuzz_byte(bytes);

	switch (what) {
	case 0:
		text[place] = byte;
		return length;
	case 1:
		memmove(text + place, text + place + 1, length - place - 1);
		return length - 1;
	case 2:
		if (length == room)
			return length;
		memmove(text + place + 1, text + place, length - place);
		text[place] = byte;
		return length + 1;
	default:
		for (count = 0; place + count < length && text[place + count] != '\n'; count++)
			;
		count += place + count < length;
		if (length + count > room)
			return length;
		memmove(text + place + count, text + place, length - place);
		return length + count;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = {data + 1, data + size};
	size_t length = (size_t)(sb_shipped_profile_end - sb_shipped_profile);
	size_t room = length + 4096;
	char *text, *exact;

	if (size == 0)
		return 0;
	if (data[0] % 2 == 0) {
		take((const char *)data + 1, size - 1);
		return 0;
	}
	text = malloc(room);
	if (!text)
		return 0;
	memcpy(text, sb_shipped_profile, length);
	for (int edits = 0; edits < 64 && bytes.at < bytes.end && length > 1; edits++)
		length = edit(text, length, room, &bytes);
	exact = malloc(length);
	if (exact) {
		memcpy(exact, text, length);
		take(exact, length);
	}
	free(exact);
	free(text);
	return 0;
}
