/* SPDX-License-Identifier: BSD-3-Clause */
#include "bound.h"

static double wire_seconds(double up, double down, const struct sb_wire *wire)
{
	double fewer = up < down ? up : down;

	return fewer / wire->both + (up - fewer) / wire->up + (down - fewer) / wire->down;
}

struct sb_bound sb_bound(const struct sb_plan *plan, const struct sb_wire *wire, double arithmetic)
{
	struct sb_bound b = {.arithmetic = arithmetic};
	double first = 0, last = 0;
	bool begun = false;

	for (int i = 0; i < plan->count; i++) {
		const struct sb_step *step = &plan->steps[i];
		double bytes = 0;

		if (step->kind == SB_STEP_UP)
			bytes = (double)step->count * (double)step->depth * sizeof(float);
		else if (step->kind == SB_STEP_DOWN)
			bytes = (double)step->m * (double)step->n * sizeof(float);
		begun = begun || step->kind == SB_STEP_GEMM;
		if (step->kind == SB_STEP_DOWN) {
			b.bytes_down += bytes;
			last = bytes;
		} else {
			b.bytes_up += bytes;
			first += begun ? 0 : bytes;
		}
	}
	b.wire = wire_seconds(b.bytes_up, b.bytes_down, wire);
	b.in = first / wire->up;
	b.out = last / wire->down;
	b.seconds = (b.wire > arithmetic ? b.wire : arithmetic) + b.in + b.out;
	return b;
}
