/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include <dlfcn.h>

#include "settings.h"

/* This version of the library drives no device, so all that matters is said of the driver's file.
 */
enum sb_reason sb_info_driver(struct sb_page *page)
{
	const char *given = sb_settings()->driver;
	const char *path = *given ? given : "libcuda.so.1";
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

	sb_page_say(page, "driver", "%s (%s)", path, handle ? "present, not used" : "absent");
	return SB_REASON_NO_GPU;
}
