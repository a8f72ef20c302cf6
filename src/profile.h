/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 5: the measured numbers that predictions rest on, in seconds, and where they come from.
 *
 * A profile is what `shimblas tune` wrote for this GPU, driver, backend and number of processors;
 * without one, the shipped profile (an H200 and 16 processors), adapted to what is known of the
 * device. It is looked for once in a process, at the first judged call: the file that
 * SHIMBLAS_PROFILE names, else shimblas/<key>.profile in $XDG_CONFIG_HOME or $HOME/.config, else in
 * the system's configuration folder; never in the working directory, and by no set-user-ID program.
 * A file that is broken, or of another configuration, is refused with one line.
 */
#ifndef SB_PROFILE_H
#define SB_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "grid.h"
#include "registry.h"

enum { SB_PROFILE_FORMAT = 2, SB_PROFILE_CPUS = 6, SB_LINK_SIZES = 6 };

/* Copies between host and device: of pageable memory through the ring, or of pinned memory. */
enum sb_link { SB_STAGED_UP, SB_STAGED_DOWN, SB_PINNED_UP, SB_PINNED_DOWN, SB_LINKS };
extern const size_t sb_link_sizes[SB_LINK_SIZES]; /* bytes, ascending */

struct sb_profile {
	/* What it was measured on: "none" for a GPU that was not there. */
	char gpu[96], backend[160];
	int driver, processors;

	/* The device as kernels are picked for it. */
	struct sb_target target;
	int clock_khz;
	size_t memory;

	/* The copying that the staged links were measured with. */
	int copy_threads; /* the caller being one */
	size_t copy_slot; /* bytes of a slot of the rings */

	double start;	 /* of CUDA, once in a process */
	double launch;	 /* of a call that copies nothing, beside its kernel */
	double overlap;	 /* share of what is hidden behind the longest part that stays visible */
	double kernel;	 /* seconds of a kernel over those of rates.def */
	double emulated; /* the same of an emulated product's; as kernel, where it was not measured
			  */
	double link[SB_LINKS][SB_LINK_SIZES];

	/*
	 * Whose grids are read; NULL: its own. They come last, behind all figures that a copy
	 * changes, and are most of a profile.
	 */
	const struct sb_profile *grids;
	bool has_whole;
	int cpus;
	struct sb_grids whole; /* whole calls, pageable, over what the parts say */

	/* The backend, for ascending numbers of threads. */
	struct {
		int threads;
		struct sb_grids seconds;
	} cpu[SB_PROFILE_CPUS];
};

static inline const struct sb_profile *sb_profile_grids(const struct sb_profile *profile)
{
	return profile->grids ? profile->grids : profile;
}
/* A copy with grids of its own. */
void sb_profile_copy(struct sb_profile *to, const struct sb_profile *from);

/* The profile in force; never NULL. The first to ask says which backend's file serves the process.
 */
const struct sb_profile *sb_profile(const char *backend);

/* Where it comes from: a file's path, "built in", "built in, adapted to the device". */
const char *sb_profile_source(void);

/* The shipped profile as it is, whatever the machine: made from its text when this was built. */
extern const struct sb_profile sb_profile_built_in __attribute__((visibility("hidden")));
static inline const struct sb_profile *sb_profile_shipped(void)
{
	return &sb_profile_built_in;
}

/* Processors of the process, counted once. */
int sb_profile_processors(void);

/* The name under which a backend goes in a profile: that of its file, links followed. */
void sb_profile_backend(const char *path, char *name, size_t size);
/* Where tune writes the profile of this backend: in the user's configuration; false: nowhere. */
bool sb_profile_place(const char *backend, char *path, size_t size);

/*
 * A device has been started: a profile of another GPU or driver is refused, and one that was not
 * measured on this GPU is adapted to its attributes. `measured` (or NULL) is what a short
 * measurement found, instead of `launch` and the links of the shipped one; entries that are 0 are
 * not known.
 */
struct sb_profile_sample {
	double launch;
	double link[SB_LINKS][SB_LINK_SIZES];
};
void sb_profile_meet(const struct sb_device *device, const struct sb_profile_sample *measured);
/* Would meeting this device adapt the profile? */
bool sb_profile_unknown(const struct sb_device *device);

#endif
