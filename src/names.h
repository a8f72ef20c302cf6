/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 7: the exported spellings as data. */
#ifndef SB_NAMES_H
#define SB_NAMES_H

#include "backend.h"

enum sb_name_index {
#define SB_NAME(interface, spelling, integer, plain) SB_NAME_##spelling,
#include "names.def"
#undef SB_NAME
	SB_NAMES
};

extern struct sb_name sb_names[SB_NAMES];

/* The entry of an exported spelling, NULL if there is none of that name. */
sb_function sb_names_entry(const char *spelling);

#endif
