/* SPDX-License-Identifier: BSD-3-Clause */
/* Where launches leave sums for each other: room enough, each stream's own, beside all else. */
#include "suite.h"

#include "plan.h"

static void look(const struct sb_plan *plan, const struct sb_plan_wish *wish)
{
	for (int i = 0; i < plan->count; i++) {
		const struct sb_step *step = &plan->steps[i];
		size_t base = plan->work_base[step->stream == SB_STREAM_COMPUTE_TOO];
		size_t end = base + plan->work_bytes;

		if (step->kind != SB_STEP_GEMM)
			continue;
		CU_ASSERT(sb_registry_work(wish->kernel, step->m, step->n, step->depth) <=
			  plan->work_bytes);
		CU_ASSERT(base >= plan->buffer_base + (size_t)plan->buffers * plan->buffer_bytes);
		CU_ASSERT(end <= plan->device_bytes);
		for (int raw = 0; raw < 2 && !plan->whole && plan->raw_bytes; raw++)
			CU_ASSERT(end <= plan->raw_base[raw]);
		for (int o = 0; o < SB_OPERANDS && plan->whole; o++)
			CU_ASSERT(plan->operands[o].way != SB_WAY_RAW ||
				  end <= plan->operands[o].raw_base);
	}
	if (plan->buffers)
		CU_ASSERT(plan->work_base[1] - plan->work_base[0] >= plan->work_bytes);
}

/* Of every kernel, in plans that hold all of a product and in plans that hold little of it. */
static void every_launch_has_room_for_its_sums(void)
{
	static const int64_t sizes[][3] = {
		{64, 64, 65536}, {3000, 2000, 1000}, {1, 8192, 8192}, {500, 500, 200}};
	int made = 0;

	for (int row = 0; row < sb_registry_count(); row++)
		for (int i = 0; i < 4 * 8; i++) {
			struct sb_plan_wish wish = {
				.m = sizes[i / 8][0],
				.n = sizes[i / 8][1],
				.k = sizes[i / 8][2],
				.trans_a = i & 1,
				.trans_b = true,
				.place_c = i & 2 ? SB_PLACE_DEVICE : SB_PLACE_PAGEABLE,
				.kernel = sb_registry_row(row),
				.device_bytes = (size_t)1 << (i & 4 ? 36 : 24),
			};
			struct sb_plan plan;

			if (sb_plan_make(&plan, &wish) != SB_OK)
				continue;
			look(&plan, &wish);
			sb_plan_free(&plan);
			made++;
		}
	CU_ASSERT(made > 500);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"every launch has room for its sums", every_launch_has_room_for_its_sums},
	};

	return SUITE("plan_work", tests);
}
