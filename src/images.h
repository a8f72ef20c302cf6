/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 4: the device images, one a source file of kernels/, embedded in the library. A build
 * without nvcc has placeholders in their place, which no real driver accepts.
 */
#ifndef SB_IMAGES_H
#define SB_IMAGES_H

struct sb_image {
	const char *source; /* as in struct sb_kernel: the file's name without its ending */
	const void *data;
};

int sb_images_count(void);
const struct sb_image *sb_images_row(int row);

#endif
