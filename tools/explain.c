/* SPDX-License-Identifier: BSD-3-Clause */
/* `shimblas explain`: which side would answer a call, and what the predictions are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "both_sides.h"
#include "command.h"
#include "gpu.h"
#include "model.h"
#include "option.h"
#include "page.h"
#include "plan.h"
#include "route.h"
#include "settings.h"
#include "threads.h"
#include "whole.h"

/* The format number of `explain --json`. */
enum { FORMAT = 1, MOST = 1 << 30, MOST_WORDS = 4 };

struct question {
	struct sb_call call;
	struct sb_situation situation;
	const struct sb_profile *profile;
	const char *source; /* of the profile */
};

static bool complain(const char *problem, const char *word)
{
	fprintf(stderr, "shimblas explain: %s%s; see `shimblas help explain`\n", problem, word);
	return false;
}

static void add_options(struct sb_options *all, const struct sb_options *more)
{
	for (int row = 0; row < SB_OPTIONS; row++) {
		all->times[row] += more->times[row];
		if (more->times[row])
			all->value[row] = more->value[row];
	}
}

/* Words and options in any order; how many words, or -1. At most MOST_WORDS are kept. */
static int take_words(int argc, char **argv, struct sb_options *options, char **words)
{
	int count = 0;

	*options = (struct sb_options){.rest = argc};
	while (argc > 1) {
		struct sb_options some;

		if (!sb_option_parse(argc, argv, false, &some))
			return -1;
		add_options(options, &some);
		if (some.rest >= argc)
			break;
		if (count < MOST_WORDS)
			words[count++] = argv[some.rest];
		/* What follows the word is read as if it stood alone. */
		argv[some.rest] = argv[0];
		argc -= some.rest;
		argv += some.rest;
	}
	return count;
}

/* One size for all three, or three. */
static bool parse_sizes(char **words, int count, int64_t *sizes)
{
	if (count != 1 && count != 3)
		return complain("wants M N K, or one size for all three", "");
	for (int i = 0; i < 3; i++) {
		const char *word = words[count == 3 ? i : 0];
		char *end;
		long long size = strtoll(word, &end, 10);

		if (end == word || *end || size < 1 || size > MOST)
			return complain("no size: ", word);
		sizes[i] = size;
	}
	return true;
}

static bool parse_transposes(const char *word, struct sb_call *call)
{
	if (!word)
		return true;
	if (strlen(word) != 2 || strspn(word, "nt") != 2)
		return complain("--trans is nn, nt, tn or tt, not ", word);
	call->trans_a = word[0] == 't';
	call->trans_b = word[1] == 't';
	return true;
}

static bool parse_beta(const char *word, float *beta)
{
	char *end;

	if (!word)
		return true;
	*beta = strtof(word, &end);
	return (end != word && !*end) || complain("--beta is a number, not ", word);
}

static bool parse_math(const char *word, bool *emulate)
{
	*emulate = word ? strcmp(word, "emulated") == 0 : sb_settings()->math == SB_MATH_EMULATED;
	return !word || *emulate || strcmp(word, "strict") == 0 ||
	       complain("--math is strict or emulated, not ", word);
}

static bool ask(const struct sb_options *options, struct question *q)
{
	int told = sb_backend_threads_get(&sb_sides_backend()->threads);
	long threads = sb_option_number(options, SB_OPTION_explain_threads,
					told ? told : sb_threads_backend(), 1, MOST);
	long callers = sb_option_number(options, SB_OPTION_explain_callers, 1, 1, MOST);
	long pad = sb_option_number(options, SB_OPTION_explain_pad, 0, 0, MOST);
	struct sb_call *call = &q->call;

	if (threads < 0 || callers < 0 || pad < 0 ||
	    !parse_transposes(options->value[SB_OPTION_explain_trans], call) ||
	    !parse_math(options->value[SB_OPTION_explain_math], &q->situation.emulate) ||
	    !parse_beta(options->value[SB_OPTION_explain_beta], &call->beta))
		return false;
	call->alpha = 1;
	call->lda = pad + (call->trans_a ? call->k : call->m);
	call->ldb = pad + (call->trans_b ? call->n : call->k);
	call->ldc = pad + call->m;
	for (int i = 0; i < 3 && options->times[SB_OPTION_explain_pinned]; i++)
		q->situation.places[i] = SB_PLACE_PINNED;
	q->situation.threads = (int)threads;
	q->situation.callers = (int)callers - 1;
	q->situation.processors = sb_profile_processors();
	return true;
}

static bool knows(const char *name)
{
	return !name || (*name && strstr(sb_profile_shipped()->gpu, name)) ||
	       complain("no built-in profile of this device: ", name);
}

/* The device that is assumed: one that was named, the one here, else the profile's. */
static void find_device(struct sb_page *page, const char *name, struct question *q)
{
	struct sb_device *device;

	q->profile = sb_profile(sb_sides_backend()->path);
	q->situation.health = SB_HEALTH_READY;
	if (name) {
		q->profile = sb_profile_shipped();
		q->source = "built in";
		sb_page_say(page, "device", "%s, as asked for", q->profile->gpu);
		return;
	}
	device = sb_gpu_device();
	if (device) {
		sb_gpu_meet(device);
		q->profile = sb_profile(NULL);
		sb_page_say(page, "device", "%s", device->name);
	} else {
		sb_page_say(page, "device", "none (%s); a %s is assumed", sb_gpu_why_not(),
			    q->profile->gpu);
	}
	q->source = sb_profile_source();
}

static void say_call(struct sb_page *page, const struct question *q)
{
	const struct sb_call *call = &q->call;

	sb_page_say(page, "call", "%lld x %lld x %lld %c%c, leading dimensions %lld %lld %lld%s",
		    (long long)call->m, (long long)call->n, (long long)call->k,
		    call->trans_a ? 't' : 'n', call->trans_b ? 't' : 'n', (long long)call->lda,
		    (long long)call->ldb, (long long)call->ldc,
		    q->situation.places[0] == SB_PLACE_PINNED ? ", pinned" : "");
	sb_page_say(page, "profile", "%s (%s, %s)", q->source, q->profile->gpu,
		    q->profile->backend);
}

static void part(struct sb_table *table, const char *side, const char *what, double seconds)
{
	sb_table_cell(table, "%s", side);
	sb_table_cell(table, "%.4f", 1e3 * seconds);
	sb_table_cell(table, "%s", what);
}

static double longest_of(const struct sb_gpu_parts *p)
{
	double longest = p->up > p->down ? p->up : p->down;

	return longest > p->computing ? longest : p->computing;
}

static void say_parts(struct sb_page *page, const struct question *q)
{
	static const char *const columns[] = {"side", "#ms", "part", NULL};
	struct sb_cpu_parts cpu = sb_model_cpu(q->profile, &q->situation, &q->call);
	struct sb_gpu_parts gpu = sb_model_gpu(q->profile, &q->situation, &q->call);
	struct sb_table table;
	char text[160];

	sb_table_open(&table, "parts", columns);
	snprintf(text, sizeof text, "the backend with %.3g threads", cpu.threads);
	part(&table, "cpu", text, cpu.seconds / cpu.turns);
	if (cpu.turns > 1) {
		snprintf(text, sizeof text, "%.3g callers to a processor take turns", cpu.turns);
		part(&table, "cpu", text, cpu.seconds - cpu.seconds / cpu.turns);
	}
	part(&table, "gpu", "launches, and the end of the call", gpu.launch);
	part(&table, "gpu", "A and B up", gpu.up);
	part(&table, "gpu", gpu.kernel->name, gpu.computing);
	part(&table, "gpu", "C down", gpu.down);
	snprintf(text, sizeof text, "less what %d panel%s hide%s behind the longest of these",
		 gpu.panels, gpu.panels == 1 ? "" : "s", gpu.panels == 1 ? "s" : "");
	part(&table, "gpu", text,
	     (gpu.seen - 1) * (gpu.up + gpu.down + gpu.computing - longest_of(&gpu)));
	if (q->profile->has_whole) {
		snprintf(text, sizeof text, "whole calls of such sizes took %.2f times that",
			 gpu.measured);
		part(&table, "gpu", text, gpu.seconds * (1 - 1 / gpu.measured));
	}
	sb_page_table(page, &table);
}

/* Into how many parts k is cut, where C has few tiles. */
static void say_cut(struct sb_page *page, const struct question *q, const struct sb_tiers *tiers)
{
	const struct sb_call *call = &q->call;
	struct sb_tiers_launch launch = sb_registry_tiers_launch(
		tiers, call->m, call->n, call->k, q->profile->target.multiprocessors);

	if (launch.part)
		sb_page_say(page, "cut", "k in %lld of %d each, by %s: C has few tiles",
			    (long long)sb_ceil_div(call->k, launch.part), launch.part,
			    launch.kernels[0]->name);
}

/* In which arithmetic it would be computed, and why not in the first. */
static void say_math(struct sb_page *page, const struct sb_tiers *tiers, enum sb_fallback why)
{
	if (!tiers)
		sb_page_say(page, "math", "strict%s%s",
			    why == SB_FALLBACK_NONE ? "" : ", though emulated was asked for: ",
			    why == SB_FALLBACK_NONE ? "" : sb_fallback_text(why));
	else
		sb_page_say(page, "math", "%s%s%s%s",
			    tiers->fp16x3 ? "fp16x3, and for tiles that its guard turns away bf16x6"
					  : "bf16x6",
			    ", and for what that turns away strict",
			    why == SB_FALLBACK_NONE ? "" : "; not fp16x3: ",
			    why == SB_FALLBACK_NONE ? "" : sb_fallback_text(why));
}

static void say_plan(struct sb_page *page, const struct question *q)
{
	const struct sb_call *call = &q->call;
	const struct sb_target *target = &q->profile->target;
	enum sb_fallback why = SB_FALLBACK_NONE;
	struct sb_tiers tiers;
	bool pinned = q->situation.places[0] == SB_PLACE_PINNED;
	bool emulated = q->situation.emulate &&
			sb_registry_choose_tiers(call->m, call->n, call->k, target, &tiers, &why);
	struct sb_plan plan;
	struct sb_plan_wish wish = {
		.m = call->m,
		.n = call->n,
		.k = call->k,
		.trans_a = call->trans_a,
		.trans_b = call->trans_b,
		.place_a = q->situation.places[0],
		.place_b = q->situation.places[1],
		.place_c = q->situation.places[2],
		.kernel = emulated ? sb_registry_first(&tiers)
				   : sb_registry_choose(call->m, call->n, call->k, target),
		.tiers = emulated ? &tiers : NULL,
		.pace = {sb_model_rate(q->profile, pinned ? SB_PINNED_UP : SB_STAGED_UP),
			 sb_model_rate(q->profile, pinned ? SB_PINNED_DOWN : SB_STAGED_DOWN),
			 target->multiprocessors},
		.device_bytes = sb_arena_bounded(q->profile->memory),
		.panels = (int)sb_settings()->panels,
	};
	enum sb_status status = sb_plan_make(&plan, &wish);

	sb_page_say(page, "kernel", "%s", wish.kernel->name);
	say_math(page, emulated ? &tiers : NULL, why);
	if (emulated)
		say_cut(page, q, &tiers);
	if (status != SB_OK) {
		sb_page_say(page, "plan", "none: %s", sb_status_word(status));
		return;
	}
	sb_page_say(
		page, "plan", "%d steps; A in %d and B in %d panels, %s; %.1f MiB on the device%s",
		plan.count, plan.operands[SB_OPERAND_A].panels, plan.operands[SB_OPERAND_B].panels,
		plan.whole	    ? "all of both on the device"
		: plan.run < wish.k ? "runs of k of both passing by blocks of C"
				    : "one passing by the other",
		(double)plan.device_bytes / (1 << 20),
		call->beta != 0 ? "; beta is applied on the way down" : "");
	sb_plan_free(&plan);
}

/* What sb_route() would say, once CUDA has started. */
static void say_verdict(struct sb_page *page, const struct question *q)
{
	double cpu = sb_model_cpu(q->profile, &q->situation, &q->call).seconds;
	double gpu = sb_model_gpu(q->profile, &q->situation, &q->call).seconds;
	bool small = sb_route_small(&q->call, SB_ROUTE_SMALL_WORK);
	enum sb_side side = sb_sides_choose(q->profile, &q->situation, &q->call);

	sb_page_say(page, "cpu", "%.4f ms predicted", 1e3 * cpu);
	sb_page_say(page, "gpu", "%.4f ms predicted, once CUDA has started", 1e3 * gpu);
	sb_page_say(page, "side", "%s", sb_side_word(side));
	sb_page_say(page, "reason", "%s: %s",
		    sb_reason_word(small ? SB_REASON_SMALL : SB_REASON_FASTER),
		    sb_reason_text(small ? SB_REASON_SMALL : SB_REASON_FASTER));
}

int sb_command_explain(int argc, char **argv)
{
	struct question q = {.call = {.beta = 0}};
	struct sb_options options;
	struct sb_page page;
	char *words[MOST_WORDS];
	int64_t sizes[3];
	int count = take_words(argc, argv, &options, words);

	if (count < 0 || !parse_sizes(words, count, sizes))
		return SB_EXIT_USAGE;
	q.call.m = sizes[0];
	q.call.n = sizes[1];
	q.call.k = sizes[2];
	if (!ask(&options, &q))
		return SB_EXIT_USAGE;
	if (!knows(options.value[SB_OPTION_explain_device]))
		return SB_EXIT_USAGE;
	sb_page_open(&page, stdout,
		     options.times[SB_OPTION_explain_json] ? SB_STYLE_JSON : SB_STYLE_TEXT, FORMAT);
	find_device(&page, options.value[SB_OPTION_explain_device], &q);
	say_call(&page, &q);
	say_parts(&page, &q);
	say_plan(&page, &q);
	say_verdict(&page, &q);
	return sb_page_close(&page);
}
