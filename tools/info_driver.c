/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include "device.h"
#include "driver.h"
#include "gpu.h"
#include "launch.h"

static const char *const state_words[] = {
	[SB_DRIVER_UNOPENED] = "not opened", [SB_DRIVER_OPENING] = "being opened",
	[SB_DRIVER_USABLE] = "usable",	     [SB_DRIVER_ABSENT] = "absent",
	[SB_DRIVER_BROKEN] = "broken",	     [SB_DRIVER_TOO_OLD] = "too old",
};

static void say_state(struct sb_page *page, const struct sb_driver_status *status)
{
	if (status->state == SB_DRIVER_BROKEN && status->missing)
		sb_page_say(page, "driver", "%s (broken: has no %s)", status->path,
			    status->missing);
	else if (status->version)
		sb_page_say(page, "driver", "%s (%s, for CUDA %d.%d)", status->path,
			    state_words[status->state], status->version / 1000,
			    status->version % 1000 / 10);
	else
		sb_page_say(page, "driver", "%s (%s)", status->path, state_words[status->state]);
}

static int attribute(const struct sb_driver *cu, sb_cu_device device, int which)
{
	int value = 0;

	return cu->device_attribute(&value, which, device) == SB_CU_SUCCESS ? value : 0;
}

static void say_device(struct sb_table *table, const struct sb_driver *cu, int ordinal)
{
	char name[128] = "";
	sb_cu_device device;
	size_t bytes = 0;

	if (cu->device_get(&device, ordinal) != SB_CU_SUCCESS)
		return;
	(void)cu->device_name(name, sizeof name, device);
	(void)cu->device_memory(&bytes, device);
	sb_table_cell(table, "%d", ordinal);
	sb_table_cell(table, "%s", name);
	sb_table_cell(table, "%d.%d", attribute(cu, device, SB_CU_ATTR_COMPUTE_CAPABILITY_MAJOR),
		      attribute(cu, device, SB_CU_ATTR_COMPUTE_CAPABILITY_MINOR));
	sb_table_cell(table, "%d", attribute(cu, device, SB_CU_ATTR_MULTIPROCESSOR_COUNT));
	sb_table_cell(table, "%.1f", (double)bytes / (1 << 30));
}

/* Does a kernel fit each of them? */
static enum sb_status prepare(struct sb_team *team)
{
	enum sb_status status = sb_launch_prepare(team->devices, sb_registry_plain());

	for (int i = 1; i < team->count && status == SB_OK; i++) {
		status = sb_device_step_over(&team->devices[i]);
		if (status != SB_OK)
			break;
		status = sb_launch_prepare(&team->devices[i], sb_registry_plain());
		if (sb_device_step_back(&team->devices[i]) != SB_OK)
			status = SB_LOST;
	}
	return status;
}

/* The devices that would be used, started to see that they can be: with a kernel that fits them. */
static enum sb_reason say_chosen(struct sb_page *page, struct sb_device *device)
{
	struct sb_team *team = sb_device_team();
	struct sb_visit visit;
	enum sb_status status;

	if (!device || !team) {
		sb_page_say(page, "device", "none: CUDA could not be started on it");
		return SB_REASON_NO_GPU;
	}
	sb_gpu_say_team(page, team);
	if (!sb_gpu_visit(device, &visit))
		return SB_REASON_LOST;
	status = prepare(team);
	sb_gpu_depart(device, &visit);
	if (status == SB_OK)
		return SB_REASON_FASTER;
	sb_page_say(page, "images", "none of this build's device images runs on %s",
		    team->count > 1 ? "every one of them" : "it");
	return SB_REASON_NO_GPU;
}

enum sb_reason sb_info_driver(struct sb_page *page)
{
	static const char *const columns[] = {"#ordinal",	  "name",	 "capability",
					      "#multiprocessors", "#memory_GiB", NULL};
	const struct sb_driver *cu = sb_driver_open();
	struct sb_driver_status status = sb_driver_status();
	enum sb_reason why = SB_REASON_NO_GPU;
	struct sb_device *device;
	struct sb_table table;
	sb_cu_result result;
	int count = 0;

	say_state(page, &status);
	if (status.state == SB_DRIVER_TOO_OLD)
		return SB_REASON_OLD_DRIVER;
	if (!cu)
		return SB_REASON_NO_GPU;
	/* On the library's own way first: it waits for a driver that hangs no longer than it says.
	 */
	device = sb_gpu_device();
	if (sb_device_health(&why) == SB_HEALTH_STARTING) {
		sb_page_say(page, "device", "none: CUDA does not start");
		return SB_REASON_STARTING;
	}
	result = cu->init(0);
	if (result == SB_CU_SUCCESS)
		result = cu->device_count(&count);
	if (result != SB_CU_SUCCESS || !count) {
		sb_page_say(page, "device", "none: %s",
			    result == SB_CU_SUCCESS ? "the driver has none"
						    : sb_driver_error(result));
		return SB_REASON_NO_GPU;
	}
	sb_table_open(&table, "devices", columns);
	for (int ordinal = 0; ordinal < count; ordinal++)
		say_device(&table, cu, ordinal);
	sb_page_table(page, &table);
	return say_chosen(page, device);
}
