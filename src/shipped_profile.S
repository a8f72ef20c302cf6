/* SPDX-License-Identifier: BSD-3-Clause */
/* Embeds the shipped profile as it stands in the tree. */
	.section .rodata
	.globl sb_shipped_profile
	.hidden sb_shipped_profile
	.globl sb_shipped_profile_end
	.hidden sb_shipped_profile_end
sb_shipped_profile:
	.incbin "h200.profile"
sb_shipped_profile_end:
	.byte 0

	.section .note.GNU-stack, "", %progbits
