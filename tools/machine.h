/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process may use of the machine. */
#ifndef SB_MACHINE_H
#define SB_MACHINE_H

/*
 * The processors' time that the control groups above this process allow, in processors (1.5 say);
 * 0 if they set no limit.
 */
double sb_machine_quota(void);

#endif
