/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a call without a device: a suite that is linked with --wrap (see Makefile.am) finds
 * one ready, and what it does is the suite's own sb_offload().
 */
#ifndef MADE_UP_H
#define MADE_UP_H

#include "backend.h"

/* A row of names.def, apart from the library's own. */
extern struct sb_name made_up_sgemm;

/* An address in the main program: the caller. */
const void *made_up_caller(void);

/* The call as sgemm_ takes it, from made_up_caller(). */
void made_up_call(const struct sb_call *call);

#endif
