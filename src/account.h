/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: what is said and counted of a call. */
#ifndef SB_ACCOUNT_H
#define SB_ACCOUNT_H

#include "call.h"
#include "route.h"

struct sb_account {
	double start; /* seconds; 0 where no clock was asked for */
};

/* Reads the clock only where a report or a line will tell the time. */
struct sb_account sb_account_open(void);
/* Counts the call, and prints its line where one is wanted. */
void sb_account_close(const struct sb_account *account, const struct sb_call *call,
		      const struct sb_decision *decision);

#endif
