/* SPDX-License-Identifier: BSD-3-Clause */
/* Who else wants the processors while a program multiplies: what call_times has beside it. */
#ifndef COMPANY_H
#define COMPANY_H

#include <stdbool.h>

/*
 * yielding  a thread a processor less the caller, which spin between calls and yield
 * spinning  the same without yielding
 * others    as many processes as half the processors, which burn
 *
 * False if the situation is none of these, and nobody is there. Comes back when all are.
 */
bool company_come(const char *situation);
/* Before a call: the threads do 50 us of work each and spin again. */
void company_work(void);
void company_go(void);

#endif
