/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls carried to the GPU whose operands the program has allocated through its driver. */
#include "child.h"

#include "device.h"
#include "offload.h"
#include "process.h"
#include "product.h"
#include "start.h"

static const struct product shape = {150, 140, 40, 0, 1, 1, 0, 2, 1, 0};

static enum sb_status multiply(const struct sb_call *call, struct sb_decision *decision,
			       sb_finish *finish, void *context)
{
	struct sb_as_found found;
	enum sb_status status;

	CHECK(sb_process_enter(&found));
	status = sb_offload(call, decision, finish, context);
	sb_process_leave(&found);
	return status;
}

static struct sb_device *start(void)
{
	CHECK(child_start() == SB_HEALTH_READY);
	return sb_device();
}

/*
 * C is pinned and beta zero, the one case in which a copy could go straight to it. The program
 * gives C back after the call: the stand-in knows what copies are still queued then.
 */
static void give_back_c(const void *unused)
{
	struct product_data d = product_make(&shape);
	struct sb_decision decision = {0};
	struct sb_device *device = start();
	struct sb_visit visit;
	enum sb_status status;
	void *pinned;
	int finished = 0;

	(void)unused;
	sb_device_least_patience = 0.3;
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->host_alloc(&pinned, d.c_count * sizeof(float), 0) == 0);
	memcpy(pinned, d.c, d.c_count * sizeof(float));
	d.call.c = (float *)pinned + ((float *)d.call.c - d.c);
	status = multiply(&d.call, &decision, product_compute, &finished);
	if (status != SB_OK)
		product_compute(NULL, &d.call);
	memcpy(d.c, pinned, d.c_count * sizeof(float));
	CHECK(product_right(&d));
	CHECK(sb_device() == NULL);
	CHECK(device->cu->host_free(pinned) == 0);
	product_free(&d);
}

static void a_device_given_up_has_nothing_on_its_way_to_c(void)
{
	static const char *const hangs[] = {"launch:1", "copy_2d:2", "copy_2d:5", "copy_2d:9"};

	for (size_t i = 0; i < sizeof hangs / sizeof *hangs; i++) {
		char text[200];

		snprintf(text, sizeof text,
			 "SB_STAND_IN=hang=%s SHIMBLAS_LOGFILE=/dev/null "
			 "SHIMBLAS_PINNED_MEMORY=128K",
			 hangs[i]);
		CU_ASSERT_EQUAL(in_child(text, give_back_c, NULL), 0);
	}
}

/* A backend that looks whether anybody holds the device. */
static void compute_and_look(void *context, const struct sb_call *call)
{
	struct sb_device *device = sb_device();

	CHECK(sb_device_queue(device) == 0);
	CHECK(sb_device_take(device, 0));
	sb_device_give(device);
	product_compute(context, call);
}

static void compute_from_copies(const void *unused)
{
	struct product_data d = product_make(&shape);
	struct sb_decision decision = {.on_device = true, .side = SB_CPU};
	struct sb_device *device = start();
	sb_cu_deviceptr a = 0;
	struct sb_visit visit;
	size_t bytes = (size_t)(d.call.lda * d.call.k) * sizeof(float);
	int finished = 0;

	(void)unused;
	CHECK(sb_device_enter(device, &visit) == SB_OK);
	CHECK(device->cu->memory_alloc(&a, bytes) == 0);
	CHECK(device->cu->copy_up(a, d.a, bytes, NULL) == 0);
	sb_device_leave(device, &visit);
	d.call.a = (const void *)(uintptr_t)a;
	CHECK(multiply(&d.call, &decision, compute_and_look, &finished) == SB_OK);
	CHECK(finished == 1 && decision.on_device && decision.side == SB_CPU);
	CHECK(product_right(&d));
	product_free(&d);
}

static void nobody_holds_the_device_while_the_cpu_computes(void)
{
	CU_ASSERT_EQUAL(in_child("SB_STAND_IN=sealed", compute_from_copies, NULL), 0);
}

int main(void)
{
	const struct suite_case tests[] = {
		{"a device given up has nothing on its way to C",
		 a_device_given_up_has_nothing_on_its_way_to_c},
		{"nobody holds the device while the CPU computes",
		 nobody_holds_the_device_while_the_cpu_computes},
	};

	if (!child_driver() || !child_driver_is_stand_in())
		return suite_skip("no driver to test with");
	return SUITE("offload_memory", tests);
}
