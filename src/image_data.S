/* SPDX-License-Identifier: BSD-3-Clause */
/* Embeds the device images. Assembled in the build directory, where kernels/ holds them. */
#define SB_TEXT(...)   SB_TEXT_(__VA_ARGS__)
#define SB_TEXT_(...)  #__VA_ARGS__
#define SB_JOIN(a, b)  a##b
#define SB_IMAGE(source)                                                                           \
	.globl SB_JOIN(sb_image_, source);                                                         \
	.hidden SB_JOIN(sb_image_, source);                                                        \
	.balign 64;                                                                                \
	SB_JOIN(sb_image_, source): .incbin SB_TEXT(kernels/source.fatbin);                        \
	.byte 0;

	.section .rodata
#include "images.def"

	.section .note.GNU-stack, "", %progbits
