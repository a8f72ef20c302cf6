/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 4: kernels on a device: images loaded at first use and kept, functions looked up once, the
 * limit of dynamic shared memory raised where a row needs it, tensor maps made.
 *
 * Called by the one who has taken and entered the device. A launch is queued and not waited for.
 */
#ifndef SB_LAUNCH_H
#define SB_LAUNCH_H

#include "args.h"
#include "device.h"
#include "registry.h"

/* The device as a pick sees it. */
struct sb_target sb_launch_target(const struct sb_device *device);

/*
 * Makes the kernel (and, for form PANELS, the pack kernels, or, where it splits k, the sum kernel)
 * ready, so that the launches of a plan cannot fail for want of an image. SB_DECLINE if no image
 * serves this device.
 */
enum sb_status sb_launch_prepare(struct sb_device *device, const struct sb_kernel *kernel);

/* The same for all kernels of an emulated product. */
enum sb_status sb_launch_prepare_tiers(struct sb_device *device, const struct sb_tiers *tiers);

/*
 * Where the device can, a kernel that packs or splits behind another of these, or adds up what a
 * product left, is brought to the multiprocessors that the one before leaves, and waits there until
 * that has ended (device.cuh). Behind a product it would keep them from that of the other stream.
 * After this the next launch in the stream is not, either: for those who take the time of products
 * in a row.
 */
void sb_launch_apart(struct sb_device *device, enum sb_stream stream);

/*
 * Launches a GEMM or a pack kernel. The maps of args are filled in here where the kernel reads
 * them: over a as {m, k} with stride a_k, over b in the same way; a and b may then be operands as
 * they lie, if those are mappable.
 * Where the chains of several slabs are to be added up, the sum kernel is launched as well. Work
 * must have room for sb_registry_work() bytes; its strides are filled in here.
 */
enum sb_status sb_launch_gemm(struct sb_device *device, const struct sb_kernel *kernel,
			      struct sb_gemm_args *args, enum sb_stream stream);
enum sb_status sb_launch_pack(struct sb_device *device, const struct sb_pack_args *args,
			      enum sb_stream stream);

/* Can a map be made of an operand that lies there, its rows or columns contiguous along m or n? */
bool sb_launch_mappable(const void *base, int64_t ld);
/* How one on the device lies, whose k is slow or contiguous. */
enum sb_lie sb_launch_lie(const void *base, int64_t ld, bool k_slow);

/* Makes C of the sums that work holds, each with a slab's k (args.h). */
enum sb_status sb_launch_sum(struct sb_device *device, struct sb_gemm_args *args,
			     enum sb_stream stream);

/*
 * Splits a canonical panel or a part of one, or, if args say where the panel is to be, an operand
 * as it lies; and launches each of the tiers in turn, on panels that have been split and flags that
 * say so. Work must have room for sb_registry_tiers_work() bytes. Where beta is not zero and a
 * launch after the first fails, C cannot be had again: the device is lost.
 */
enum sb_status sb_launch_split(struct sb_device *device, const struct sb_split_args *args,
			       enum sb_stream stream);
enum sb_status sb_launch_tiers(struct sb_device *device, const struct sb_tiers *tiers,
			       struct sb_gemm_args *args, enum sb_stream stream);

/* What the driver says of a kernel; for `shimblas info --kernels`. */
struct sb_kernel_facts {
	int registers, static_shared, local, blocks_per_multiprocessor;
};
enum sb_status sb_launch_facts(struct sb_device *device, const struct sb_kernel *kernel,
			       struct sb_kernel_facts *facts);

#endif
