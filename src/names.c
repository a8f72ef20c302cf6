/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include <string.h>

_Static_assert(SB_NAMES < 1 << SB_SPELLING_BITS, "a backend is remembered by spelling, from 1 on");

struct sb_name sb_names[SB_NAMES] = {
#define SB_NAME(interface, spelling, integer, plain)                                               \
	{#spelling, SB_##interface, 8 * (int)sizeof(integer), SB_NAME_##spelling, #plain, NULL, 0},
#include "names.def"
#undef SB_NAME
};

#define SB_NAME(interface, spelling, integer, plain) void spelling(void);
#include "names.def"
#undef SB_NAME

static const sb_function entries[SB_NAMES] = {
#define SB_NAME(interface, spelling, integer, plain) spelling,
#include "names.def"
#undef SB_NAME
};

sb_function sb_names_entry(const char *spelling)
{
	for (int i = 0; i < SB_NAMES; i++)
		if (strcmp(sb_names[i].spelling, spelling) == 0)
			return entries[i];
	return NULL;
}
