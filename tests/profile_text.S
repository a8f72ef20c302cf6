/* SPDX-License-Identifier: BSD-3-Clause */
/* The shipped profile as it stands in the tree, for those who read it or spoil it. */
	.section .rodata
	.globl sb_shipped_profile
	.globl sb_shipped_profile_end
sb_shipped_profile:
	.incbin "h200.profile"
sb_shipped_profile_end:
	.byte 0

	.section .note.GNU-stack, "", %progbits
