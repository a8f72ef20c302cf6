/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in force, of what the settings and the program have asked for. */
#include <float.h>
#include <pthread.h>

#include "process.h"
#include "route.h"
#include "settings.h"
#include "stats.h"

_Atomic uint64_t sb_route_quick;
static atomic_int mode_in_force = SB_MODE_AUTO;
static atomic_int math_in_force = SB_MATH_STRICT;
static _Atomic double small_bound = -DBL_MAX;

/* In a forced mode every product there is counts as large, or none does. */
static void set_bound(int mode)
{
	const double bounds[] = {
		[SB_MODE_AUTO] = SB_ROUTE_SMALL_WORK,
		[SB_MODE_CPU] = SB_ROUTE_SMALL_WORK,
		[SB_MODE_GPU] = 1,
		[SB_MODE_CHECK] = 1,
	};

	atomic_store(&mode_in_force, mode);
	atomic_store(&small_bound, bounds[mode]);
	atomic_store(&sb_route_quick, sb_settings_timed() || bounds[mode] < SB_ROUTE_SMALL_WORK
					      ? 0
					      : SB_SMALL_EXTENT);
}

static void take_setting(void)
{
	sb_process_start();
	set_bound(sb_settings()->mode);
	atomic_store(&math_in_force, sb_settings()->math);
}

/* Once, so that a first call never undoes what a program sets meanwhile. */
static void begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, take_setting);
}

int sb_route_mode(void)
{
	begin();
	return atomic_load_explicit(&mode_in_force, memory_order_relaxed);
}

void sb_route_set_mode(int mode)
{
	begin();
	set_bound(mode);
}

int sb_route_math(void)
{
	begin();
	return atomic_load_explicit(&math_in_force, memory_order_relaxed);
}

void sb_route_set_math(int math)
{
	begin();
	atomic_store(&math_in_force, math);
}

double sb_route_bound(void)
{
	return atomic_load_explicit(&small_bound, memory_order_relaxed);
}
