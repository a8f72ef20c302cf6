/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 6: the path of every call. */
#ifndef SB_GEMM_H
#define SB_GEMM_H

#include "backend.h"
#include "route.h"
#include "stats.h"

/*
 * Answers a call: C = alpha op(A) op(B) + beta C, on the GPU where that is faster, else by the
 * backend with the caller's own arguments.
 */
void sb_gemm(const struct sb_forward *forward);

/*
 * The short way for the calls there are most of: of what is small nothing is judged, timed or told.
 * The call is noted and the function to jump to is returned; NULL: take the long way, which also
 * serves the first calls of a thread and of a caller.
 */
static inline sb_function sb_gemm_small(struct sb_name *name, const void *caller, int64_t m,
					int64_t n, int64_t k)
{
	const struct sb_backend *backend;

	if ((uint64_t)(m | n | k) >= sb_route_quick_bound() || !sb_route_small_at_once(m, n, k))
		return NULL;
	backend = sb_backend_known(name, caller);
	return backend && backend->function && sb_stats_note_small(m, n, k) ? backend->function
									    : NULL;
}

#endif
