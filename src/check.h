/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: both sides answer, and are compared. */
#ifndef SB_CHECK_H
#define SB_CHECK_H

#include "backend.h"
#include "route.h"

/*
 * Lets the GPU compute into a copy of C and the backend into C, which keeps the backend's result.
 * The difference is measured, element by element, in units of k * eps * (|alpha| |A||B| + |beta
 * C|), the bound within which every order of summation must stay: one line a call where lines are
 * wanted, and a warning for a difference above 1. Where only the CPU could answer nothing is
 * compared, and the decision says why.
 */
void sb_check(const struct sb_forward *forward, struct sb_decision *decision);

/* The end of the process: how many calls were compared and the largest difference. */
void sb_check_summary(void);

#endif
