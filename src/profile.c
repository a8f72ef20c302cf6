/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "profile_file.h"
#include "profile_text.h"
#include "settings.h"
#include "threads.h"
#include "trace.h"

/* Bytes a second that one copy thread moves, up and down; as many threads do in proportion. */
static const double thread_rate[] = {[SB_STAGED_UP] = 6.5e9, [SB_STAGED_DOWN] = 5.0e9};

/* FP32 units of a multiprocessor, by least architecture. */
static const struct {
	int arch, units;
} units[] = {{90, 128}, {86, 128}, {80, 64}, {75, 64}};

/* The shipped profile for the processors here, what a file held, and for the device that came. */
static struct sb_profile here, from_file, met;
static char file[4096];
static _Atomic(const char *) asking;
static _Atomic(const struct sb_profile *) in_force;

void sb_profile_copy(struct sb_profile *to, const struct sb_profile *from)
{
	const struct sb_profile *grids = sb_profile_grids(from);

	memcpy(to, from, offsetof(struct sb_profile, grids));
	to->grids = NULL;
	to->has_whole = grids->has_whole;
	to->cpus = grids->cpus;
	to->whole = grids->whole;
	memcpy(to->cpu, grids->cpu, sizeof to->cpu);
}

/* A copy whose grids are the other's. */
static void refer(struct sb_profile *to, const struct sb_profile *from)
{
	memcpy(to, from, offsetof(struct sb_profile, whole));
	to->grids = sb_profile_grids(from);
}

void sb_profile_backend(const char *path, char *name, size_t size)
{
	char *real = *path ? realpath(path, NULL) : NULL;
	const char *slash = strrchr(real ? real : path, '/');
	const char *base = slash ? slash + 1 : real ? real : path;

	snprintf(name, size, "%s", *base ? base : "none");
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '#')
			*c = '?';
	free(real);
}

static int processors;

static void count_processors(void)
{
	processors = sb_threads_process();
}

int sb_profile_processors(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, count_processors);
	return processors;
}

static uint64_t file_key(const char *backend)
{
	return sb_profile_key("", 0, backend, sb_profile_processors());
}

bool sb_profile_place(const char *backend, char *path, size_t size)
{
	char name[sizeof here.backend];

	sb_profile_backend(backend, name, sizeof name);
	return sb_profile_path(true, file_key(name), path, size) ||
	       sb_profile_path(false, file_key(name), path, size);
}

static void refuse(const char *problem)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	sb_trace_once(&said, "the profile %s is not used: %s (see shimblas tune)", file, problem);
}

/* Reads the file; was it of use? */
static bool read_file(const char *backend, bool *found)
{
	const char *problem = sb_profile_read(file, &from_file, found);

	if (!*found)
		return false;
	if (!problem && strcmp(from_file.backend, backend) != 0)
		problem = "it was made with another BLAS";
	if (!problem && from_file.processors != sb_profile_processors())
		problem = "it was made with another number of processors";
	if (problem)
		refuse(problem);
	return !problem;
}

static bool find_file(const char *backend)
{
	const struct sb_settings *settings = sb_settings();
	bool found;

	if (settings->secure)
		return false;
	if (*settings->profile) {
		snprintf(file, sizeof file, "%s", settings->profile);
		if (read_file(backend, &found))
			return true;
		if (!found)
			refuse("there is no such file");
		return false;
	}
	for (int users = 1; users >= 0; users--)
		if (sb_profile_path(users, file_key(backend), file, sizeof file)) {
			bool use = read_file(backend, &found);

			if (found)
				return use;
		}
	return false;
}

/* With fewer processors fewer threads copy. */
static void suit_processors(struct sb_profile *p)
{
	for (int link = SB_STAGED_UP; link <= SB_STAGED_DOWN; link++)
		for (int i = 0; i < SB_LINK_SIZES; i++) {
			double least = (double)sb_link_sizes[i] /
				       (sb_profile_processors() * thread_rate[link]);

			if (p->link[link][i] < least)
				p->link[link][i] = least;
		}
	p->processors = sb_profile_processors();
}

static void begin(void)
{
	char name[sizeof here.backend];

	sb_profile_backend(atomic_load(&asking), name, sizeof name);
	if (find_file(name)) {
		atomic_store(&in_force, &from_file);
		return;
	}
	refer(&here, sb_profile_shipped());
	suit_processors(&here);
	atomic_store(&in_force, &here);
}

static void begin_once(const char *backend)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *nobody = NULL;

	atomic_compare_exchange_strong(&asking, &nobody, backend ? backend : "");
	pthread_once(&once, begin);
}

const struct sb_profile *sb_profile(const char *backend)
{
	const struct sb_profile *profile = atomic_load_explicit(&in_force, memory_order_acquire);

	if (profile)
		return profile;
	begin_once(backend);
	return atomic_load(&in_force);
}

const char *sb_profile_source(void)
{
	const struct sb_profile *profile = sb_profile(NULL);

	if (profile == &from_file)
		return file;
	return profile == &met ? "built in, adapted to the device" : "built in";
}

static bool same_gpu(const struct sb_profile *p, const struct sb_device *device)
{
	return strcmp(p->gpu, device->name) == 0;
}

/* A file knows its driver too; the shipped profile is near enough for all of them. */
static bool serves(const struct sb_profile *p, const struct sb_device *device)
{
	return same_gpu(p, device) && (p != &from_file || p->driver == sb_driver_status().version);
}

bool sb_profile_unknown(const struct sb_device *device)
{
	return !serves(sb_profile(NULL), device);
}

static int units_of(int arch)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (arch >= units[i].arch)
			return units[i].units;
	return 64;
}

static void adapt(struct sb_profile *p, const struct sb_device *device,
		  const struct sb_profile_sample *measured)
{
	double before = (double)p->clock_khz * units_of(p->target.arch);
	double now = (double)device->clock_khz * units_of(device->arch);

	snprintf(p->gpu, sizeof p->gpu, "%s", device->name);
	p->driver = sb_driver_status().version;
	p->target = sb_launch_target(device);
	p->memory = device->memory;
	p->clock_khz = device->clock_khz;
	/* Kernels' rates are a multiprocessor's. */
	if (before > 0 && now > 0) {
		p->kernel *= before / now;
		p->emulated *= before / now;
	}
	if (!measured)
		return;
	if (measured->launch > 0)
		p->launch = measured->launch;
	for (int link = 0; link < SB_LINKS; link++)
		for (int i = 0; i < SB_LINK_SIZES; i++)
			if (measured->link[link][i] > 0)
				p->link[link][i] = measured->link[link][i];
	/* What was measured stands beside what was not: no size may be faster than a smaller. */
	for (int link = 0; link < SB_LINKS; link++)
		for (int i = 1; i < SB_LINK_SIZES; i++)
			if (p->link[link][i] < p->link[link][i - 1])
				p->link[link][i] = p->link[link][i - 1];
}

void sb_profile_meet(const struct sb_device *device, const struct sb_profile_sample *measured)
{
	const struct sb_profile *profile = sb_profile(NULL);

	if (profile == &met || serves(profile, device))
		return;
	refer(&met, profile);
	if (profile == &from_file && strcmp(profile->gpu, "none") != 0) {
		refuse(same_gpu(profile, device) ? "it was made with another driver"
						 : "it was made with another GPU");
		/* Of the processors and their BLAS it still knows more than what was shipped. */
		sb_profile_copy(&here, sb_profile_shipped());
		suit_processors(&here);
		here.cpus = profile->cpus;
		memcpy(here.cpu, profile->cpu, sizeof here.cpu);
		refer(&met, &here);
	}
	if (!same_gpu(&met, device))
		adapt(&met, device, measured);
	atomic_store(&in_force, &met);
}
