/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include "gpu.h"
#include "launch.h"

/* What the driver knows; "-" where the kernel does not run here or there is no device. */
static void say_facts(struct sb_table *table, struct sb_device *device,
		      const struct sb_kernel *kernel)
{
	struct sb_kernel_facts facts = {0, 0, 0, 0};
	bool known = device && sb_launch_facts(device, kernel, &facts) == SB_OK;
	const int values[] = {facts.registers, facts.static_shared, facts.local,
			      facts.blocks_per_multiprocessor,
			      facts.blocks_per_multiprocessor * kernel->threads / 32};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (known)
			sb_table_cell(table, "%d", values[i]);
		else
			sb_table_cell(table, "-");
}

void sb_info_kernels(struct sb_page *page)
{
	static const char *const columns[] = {
		"kernel",	  "#threads", "thread_tile",	 "#stages",
		"operands",	  "#arch",    "#dynamic_shared", "#registers",
		"#static_shared", "#local",   "#blocks",	 "#warps",
		"idea",		  NULL};
	static const char *const forms[] = {
		[SB_FORM_ANY] = "any", [SB_FORM_PANELS] = "panels", [SB_FORM_PLANES] = "planes"};
	struct sb_device *device = sb_gpu_device();
	struct sb_table table;
	struct sb_visit visit;

	if (device && !sb_gpu_visit(device, &visit))
		device = NULL;
	sb_table_open(&table, "kernels", columns);
	for (int row = 0; row < sb_registry_count(); row++) {
		const struct sb_kernel *kernel = sb_registry_row(row);

		sb_table_cell(&table, "%s", kernel->name);
		sb_table_cell(&table, "%d", kernel->threads);
		if (kernel->tm)
			sb_table_cell(&table, "%dx%d", kernel->tm, kernel->tn);
		else
			sb_table_cell(&table, "-");
		sb_table_cell(&table, "%d", kernel->stages);
		sb_table_cell(&table, "%s", forms[kernel->form]);
		sb_table_cell(&table, "%d", kernel->arch);
		sb_table_cell(&table, "%d", kernel->dynamic);
		say_facts(&table, device, kernel);
		sb_table_cell(&table, "%s", kernel->text);
	}
	if (device)
		sb_gpu_depart(device, &visit);
	sb_page_table(page, &table);
}
