/* SPDX-License-Identifier: BSD-3-Clause */
#include "images.h"

#include <stddef.h>

#define SB_IMAGE(source) extern const unsigned char sb_image_##source[];
#include "images.def"
#undef SB_IMAGE

static const struct sb_image images[] = {
#define SB_IMAGE(source) {#source, sb_image_##source},
#include "images.def"
#undef SB_IMAGE
};

int sb_images_count(void)
{
	return (int)(sizeof images / sizeof *images);
}

const struct sb_image *sb_images_row(int row)
{
	return &images[row];
}
