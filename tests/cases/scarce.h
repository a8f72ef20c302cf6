/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCARCE_H
#define SCARCE_H

enum scarce_kind { SCARCE_MEMORY, SCARCE_MAPPINGS, SCARCE_THREADS, SCARCE_KINDS };

void scarce_open(enum scarce_kind kind, long n);
long scarce_hits(void);

#endif
