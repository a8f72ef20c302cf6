/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers that products of warpgroups read: an operand's rows. They keep what they were at the
 * fence before the product until the wait for it.
 */
#include "exact_state.h"

#include <algorithm>

SB_ANY_SCOPE static void look(sb_exact_rows *rows)
{
	const volatile uint32_t *from = rows->place;

	for (int i = 0; i < 4; i++)
		rows->value[i] = from[i];
}

SB_ANY_SCOPE static bool are_as_seen(const sb_exact_rows &rows)
{
	const volatile uint32_t *now = rows.place;

	for (int i = 0; i < 4; i++)
		if (now[i] != rows.value[i])
			return false;
	return true;
}

void sb_exact_rows_fence(sb_exact_thread *thread)
{
	for (sb_exact_rows &rows : thread->rows)
		if (rows.pending == 0)
			look(&rows);
}

sb_exact_rows *sb_exact_rows_lend(const uint32_t *place, sb_exact_line line)
{
	sb_exact_thread &self = sb_exact_self();
	auto rows = std::find_if(self.rows.begin(), self.rows.end(),
				 [=](const sb_exact_rows &r) { return r.place == place; });

	if (rows == self.rows.end()) {
		if (self.product_fences == 0)
			sb_exact_fail(SB_EXACT_RACE, line, "a product before the first fence");
		self.rows.push_back({place, 0, {place[0], place[1], place[2], place[3]}});
		rows = self.rows.end() - 1;
	}
	if (!are_as_seen(*rows))
		sb_exact_fail(SB_EXACT_RACE, line, "registers that a product reads were written %s",
			      rows->pending > 0 ? "before the wait" : "after the fence");
	rows->pending++;
	return &*rows;
}

void sb_exact_rows_return(const sb_exact_product &product)
{
	for (sb_exact_rows *rows : product.rows) {
		if (rows == nullptr)
			continue;
		if (!are_as_seen(*rows))
			sb_exact_fail(SB_EXACT_RACE, product.line,
				      "registers that a product reads were written before the "
				      "wait");
		rows->pending--;
	}
}

uint16_t sb_exact_rows_element(const sb_exact_product &product, int row, int k)
{
	int thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
	uint32_t word = product.rows[thread]->value[k / 8 * 2 + row % 16 / 8];

	return (uint16_t)(word >> k % 2 * 16);
}
