/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and devices decide no bit of an emulated product: one call in memory of every size, down
 * to the least in which there is a plan, gives the bits of its oracle; in less the CPU answers.
 */
#include "emulated.h"

/* Tiles of all three tiers, sums of one chunk and of several, every transpose. */
static const struct spiced shapes[] = {
	{{258, 150, 2100, 0, 0, 0, 0, 0, 1, 0}, ALL_KINDS},
	{{140, 260, 1100, 1, 1, 3, 2, 5, 1.5f, 0.5f}, ALL_KINDS},
	{{130, 140, 2500, 1, 0, 0, 0, 0, -0.3f, 1}, THREE_TIERS},
	{{200, 130, 1000, 0, 1, 1, 0, 2, 1, -2}, ALL_KINDS},	 /* too short for the first tier */
	{{129, 130, 1030, 0, 0, 0, 1, 0, 2.5f, 0}, THREE_TIERS}, /* the kernels' own */
};

/* So long that its chunks are longer than the least. */
static const struct spiced longer = {{129, 2, 95 * 1536 + 1, 0, 0, 0, 0, 0, 1, 0}, FINE_SPREAD};

static struct product_data prepared[COUNT(shapes)], without_planes[COUNT(shapes)];

static const char fp16x3[] = "sgemm_fp16x3_128x128x64";
static const char bf16x6sync[] = "sgemm_bf16x6sync_128x128x32";

static const struct sb_target hopper = {90, 132, 232448, true, SB_LIE_COPIED, SB_LIE_COPIED};
static const struct sb_target ampere = {80, 108, 166912, true, SB_LIE_COPIED, SB_LIE_COPIED};

static size_t least_of(const struct product *p, const char *kernel, enum sb_place place_of_c)
{
	const struct sb_target *target = kernel == fp16x3 ? &hopper : &ampere;
	struct sb_tiers tiers;
	enum sb_fallback why;
	struct sb_plan_wish wish = {.m = p->m,
				    .n = p->n,
				    .k = p->k,
				    .trans_a = p->trans_a,
				    .trans_b = p->trans_b,
				    .place_c = place_of_c,
				    .tiers = &tiers};
	size_t none = 0, some = 1 << 26;

	CU_ASSERT(sb_registry_tiers_of(sb_registry_find(kernel), p->m, p->n, p->k, target, &tiers,
				       &why));
	if (place_of_c == SB_PLACE_DEVICE)
		wish.place_a = wish.place_b = place_of_c;
	wish.kernel = sb_registry_first(&tiers);
	while (some - none > 256) {
		struct sb_plan plan;

		wish.device_bytes = none + (some - none) / 512 * 256;
		if (sb_plan_make(&plan, &wish) == SB_OK) {
			some = wish.device_bytes;
			sb_plan_free(&plan);
		} else {
			none = wish.device_bytes;
		}
	}
	return some;
}

/* What a child is to do with a product. */
struct task {
	struct product_data *product;
	bool fits;
};

static void multiply(const void *argument)
{
	const struct task *task = argument;
	float *before = malloc(task->product->c_count * sizeof *before);
	struct sb_decision decision = {.emulate = true};
	int finished = 0;

	CHECK(start() == SB_HEALTH_READY);
	if (task->fits) {
		CHECK(run_emulated(task->product, &decision) == SB_OK);
		CHECK(decision.manner.arithmetic != SB_STRICT);
	} else {
		memcpy(before, task->product->c, task->product->c_count * sizeof *before);
		CHECK(carry(&task->product->call, &decision, &finished) == SB_NO_MEMORY);
		CHECK(memcmp(before, task->product->c, task->product->c_count * sizeof *before) ==
		      0);
	}
	free(before);
}

static void multiply_in_place(const void *argument)
{
	const struct task *task = argument;

	CHECK(start() == SB_HEALTH_READY);
	run_in_place(task->product);
}

/* In so many bytes; `stand_in` says what device it is. */
static void in_memory(struct product_data *product, const char *kernel, const char *stand_in,
		      size_t bytes, bool fits, void (*body)(const void *))
{
	struct task task = {product, fits};
	char text[300];
	int failures;

	snprintf(text, sizeof text,
		 "SHIMBLAS_KERNEL=%s SHIMBLAS_DEVICE=all SHIMBLAS_PINNED_MEMORY=2M "
		 "SHIMBLAS_DEVICE_MEMORY=%zu SB_STAND_IN=%s",
		 kernel, bytes, stand_in);
	failures = in_child(text, body, &task);
	if (failures)
		fprintf(stderr, "with %s\n", text);
	CU_ASSERT_EQUAL(failures, 0);
}

static const char *const teams[] = {"devices=1,seed=1", "devices=2,seed=2", "devices=3,seed=3",
				    "devices=3,nopeer=1,seed=4"};

/* From the least up, each step four times as much beyond it, to as much as one wants. */
static void any_memory_and_devices_give_the_bits_of_the_oracle(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		size_t least = least_of(&shapes[i].product, fp16x3, SB_PLACE_PAGEABLE);

		CU_ASSERT(least < 6 << 20);
		for (size_t more = 0; more < 64 << 20; more = more ? 4 * more : 256 << 10)
			for (size_t t = 0; t < COUNT(teams); t++)
				if (i == 0 || t == i % COUNT(teams))
					in_memory(&prepared[i], fp16x3, teams[t], least + more,
						  true, multiply);
	}
}

static void with_less_than_the_least_the_cpu_answers(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		size_t least = least_of(&shapes[i].product, fp16x3, SB_PLACE_PAGEABLE);

		in_memory(&prepared[i], fp16x3, "devices=1", least - 256, false, multiply);
		in_memory(&prepared[i], fp16x3, "devices=1", 4096, false, multiply);
	}
}

static void devices_without_planes_give_them_too(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		size_t least = least_of(&shapes[i].product, bf16x6sync, SB_PLACE_PAGEABLE);

		for (size_t more = 0; more < 64 << 20; more = more ? 8 * more : 256 << 10) {
			char text[100];

			snprintf(text, sizeof text, "cc=80,%s", teams[i % COUNT(teams)]);
			in_memory(&without_planes[i], bf16x6sync, text, least + more, true,
				  multiply);
		}
	}
}

static void operands_on_the_device_give_them_too(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++) {
		size_t least = least_of(&shapes[i].product, fp16x3, SB_PLACE_DEVICE);

		for (size_t more = 0; more < 64 << 20; more = more ? 8 * more : 256 << 10)
			in_memory(&prepared[i], fp16x3, "devices=1,seed=5", least + more, true,
				  multiply_in_place);
	}
}

/* Whatever is launched, in runs of a chunk: those of the whole product. */
static void runs_of_long_sums_have_the_chunks_of_the_whole(void)
{
	const struct product *p = &longer.product;
	struct product_data product = spiced_make(&longer, true);

	CU_ASSERT(sb_split_chunk(p->m, p->n, p->k) > SB_CHUNK_LEAST);
	in_memory(&product, fp16x3, "devices=1,seed=6", least_of(p, fp16x3, SB_PLACE_PAGEABLE),
		  true, multiply);
	in_memory(&product, fp16x3, "devices=2,seed=7", 32 << 20, true, multiply);
	product_free(&product);
}

/* Tiles of all tiers go on from chunk to chunk in the kernels' own source. */
static void the_kernels_themselves_give_them(void)
{
	const size_t i = COUNT(shapes) - 1;

	in_memory(&prepared[i], fp16x3, "engine=exact,sms=4",
		  least_of(&shapes[i].product, fp16x3, SB_PLACE_PAGEABLE), true, multiply);
	in_memory(&without_planes[i], bf16x6sync, "engine=exact,sms=4,cc=80",
		  least_of(&shapes[i].product, bf16x6sync, SB_PLACE_PAGEABLE), true, multiply);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"any memory and devices give the bits of the oracle",
		 any_memory_and_devices_give_the_bits_of_the_oracle},
		{"with less than the least the CPU answers",
		 with_less_than_the_least_the_cpu_answers},
		{"devices without planes give them too", devices_without_planes_give_them_too},
		{"operands on the device give them too", operands_on_the_device_give_them_too},
		{"runs of long sums have the chunks of the whole",
		 runs_of_long_sums_have_the_chunks_of_the_whole},
		{"the kernels themselves give them", the_kernels_themselves_give_them},
	};

	/* Of a real device, which must be a Hopper: the least memory is. */
	const struct suite_case real[] = {
		{"any memory gives the bits of the oracle",
		 any_memory_and_devices_give_the_bits_of_the_oracle},
		{"with less than the least the CPU answers",
		 with_less_than_the_least_the_cpu_answers},
		{"operands on the device give them too", operands_on_the_device_give_them_too},
	};

	if (!child_driver())
		return suite_skip("no driver to test with");
	for (size_t i = 0; i < COUNT(shapes); i++) {
		prepared[i] = spiced_make(&shapes[i], true);
		without_planes[i] = spiced_make(&shapes[i], false);
	}
	return child_driver_is_stand_in() ? SUITE("emulated_memory", tests)
					  : SUITE("emulated_memory", real);
}
