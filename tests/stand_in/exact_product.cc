/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of warpgroups. A product reads its operands and makes its sums when all threads of the
 * warpgroup wait for it and not before; until then what it reads must not be written. A thread's
 * accumulators belong to the tensor core from the first product to the hold after the wait for the
 * last one, and are full of a NaN meanwhile that no thread may read or overwrite. What a thread had
 * in them before, or has done with them since, a fence must come between.
 */
#include "exact_state.h"
#include "exact_calls.h"

#include <algorithm>
#include <cstring>

/* What a thread finds in accumulators that are not its own. */
static constexpr uint32_t given_away = 0x7fb0dead;

/* In place of an operand's offset in shared memory. */
static constexpr size_t in_registers = SIZE_MAX;

SB_ANY_SCOPE static bool is_given_away(const sb_exact_sums &sums)
{
	for (size_t i = 0; i < sums.value.size(); i++) {
		const volatile float *from = sums.place + i;
		uint32_t bits;

		bits = *reinterpret_cast<const volatile uint32_t *>(from);
		if (bits != given_away)
			return false;
	}
	return true;
}

static void give_away(const sb_exact_sums &sums)
{
	for (size_t i = 0; i < sums.value.size(); i++)
		memcpy(sums.place + i, &given_away, sizeof given_away);
}

SB_ANY_SCOPE static void look(sb_exact_sums *sums)
{
	const volatile uint32_t *from = reinterpret_cast<const volatile uint32_t *>(sums->place);
	uint32_t *to = reinterpret_cast<uint32_t *>(sums->value.data());

	for (size_t i = 0; i < sums->value.size(); i++)
		to[i] = from[i];
}

static bool is_as_seen(const sb_exact_sums &sums)
{
	return memcmp(sums.place, sums.value.data(), sums.value.size() * sizeof(float)) == 0;
}

void sb_exact_tensor_fence()
{
	sb_exact_thread &self = sb_exact_self();
	uint32_t &clock = self.seen[(size_t)sb_exact_now.fiber];

	self.fences.push_back({sb_exact_launch_now->epoch, clock});
	clock++;
}

void sb_exact_product_fence()
{
	sb_exact_thread &self = sb_exact_self();

	self.product_fences++;
	sb_exact_rows_fence(&self);
	for (sb_exact_sums &sums : self.sums)
		if (!sums.given)
			look(&sums);
}

static sb_exact_sums *find(float *place)
{
	for (sb_exact_sums &sums : sb_exact_self().sums)
		if (sums.place == place)
			return &sums;
	return nullptr;
}

/* The thread's accumulators become the tensor core's, or are already. */
static sb_exact_sums *give(float *place, unsigned count, sb_exact_line line)
{
	sb_exact_thread &self = sb_exact_self();
	sb_exact_sums *sums = find(place);

	if (sums == nullptr || (sums->value.size() != count && !sums->given)) {
		if (self.product_fences == 0)
			sb_exact_fail(SB_EXACT_RACE, line, "a product before the first fence");
		if (sums == nullptr) {
			self.sums.push_back({place, false, 0, 0, {}});
			sums = &self.sums.back();
		}
		sums->value.resize(count);
		memcpy(sums->value.data(), place, count * sizeof(float));
	}
	if (sums->value.size() != count)
		sb_exact_fail(SB_EXACT_RACE, line, "%zu accumulators are used as %u",
			      sums->value.size(), count);
	if (sums->given && !is_given_away(*sums))
		sb_exact_fail(SB_EXACT_RACE, line,
			      "accumulators were written that are the tensor core's");
	if (!sums->given && sums->held == self.product_fences && sums->held > 0)
		sb_exact_fail(SB_EXACT_RACE, line, "accumulators are given without a fence");
	if (!sums->given && !is_as_seen(*sums))
		sb_exact_fail(SB_EXACT_RACE, line, "accumulators were written after the fence");
	if (!sums->given)
		give_away(*sums);
	sums->given = true;
	sums->pending++;
	return sums;
}

void sb_exact_product_hold(float *place, unsigned count, sb_exact_line line)
{
	sb_exact_sums *sums = find(place);

	if (sums == nullptr || !sums->given)
		return;
	if (sums->pending > 0)
		sb_exact_fail(SB_EXACT_RACE, line, "accumulators are held before the wait");
	if (sums->value.size() != count || !is_given_away(*sums))
		sb_exact_fail(SB_EXACT_RACE, line,
			      "accumulators were written that are the tensor core's");
	memcpy(place, sums->value.data(), count * sizeof(float));
	sums->given = false;
	sums->held = sb_exact_self().product_fences;
}

static sb_exact_warpgroup &own_warpgroup(sb_exact_line line)
{
	sb_exact_launch *launch = sb_exact_launch_now;

	if (launch->warpgroups == 0)
		sb_exact_fail(SB_EXACT_LAUNCH, line, "a block of %u threads has no warpgroups",
			      launch->threads);
	return launch->warpgroup[(size_t)sb_exact_now.fiber / 128];
}

/* Calls use(first, last) for the words of each panel of an operand. */
template <typename use_function>
static void panels(size_t offset, size_t panel_bytes, int width, use_function use)
{
	for (int p = 0; p < (width + 63) / 64; p++) {
		size_t begin = offset + (size_t)p * panel_bytes;

		use(begin / 4, (begin + SB_CORE_DEPTH * 128) / 4);
	}
}

static void ask(sb_exact_product *product, bool first)
{
	sb_exact_launch *launch = sb_exact_launch_now;
	auto use = [=](size_t begin, size_t end) {
		for (size_t word = begin; first && word < end; word++)
			launch->multiplied[word]++;
		sb_exact_product_may_read(launch, begin, end, product->line);
	};

	if (product->a != in_registers)
		panels(product->a, 0, 64, use);
	panels(product->b, product->panel_bytes, product->columns, use);
}

static size_t operand(const uint16_t *piece, size_t panel_bytes, int width, sb_exact_line line)
{
	size_t bytes = (size_t)((width - 1) / 64) * panel_bytes + SB_CORE_DEPTH * 128;
	size_t offset = sb_exact_offset(piece, bytes, line);

	if (offset % 1024 != 0 || panel_bytes % 1024 != 0)
		sb_exact_fail(SB_EXACT_SHARED, line,
			      "an operand at shared byte %zu, panels %zu bytes apart", offset,
			      panel_bytes);
	return offset;
}

static void ask(const sb_exact_product &asked, float *d, const uint32_t *rows)
{
	sb_exact_thread &self = sb_exact_self();
	sb_exact_warpgroup &warpgroup = own_warpgroup(asked.line);
	size_t place = (size_t)(self.products++ - warpgroup.made), thread;

	if (place == warpgroup.products.size())
		warpgroup.products.push_back(asked);
	sb_exact_product &product = warpgroup.products[place];

	if (product.format != asked.format || product.a != asked.a || product.b != asked.b ||
	    product.panel_bytes != asked.panel_bytes || product.columns != asked.columns ||
	    product.add != asked.add)
		sb_exact_fail(SB_EXACT_RACE, asked.line,
			      "the threads of a warpgroup ask for different products");
	/* One lane of each warp, another one each time, is asked whether it sees the operands. */
	bool first = product.asked++ == 0;

	thread = (size_t)sb_exact_now.thread % 128;
	product.rows[thread] = rows != nullptr ? sb_exact_rows_lend(rows, asked.line) : nullptr;
	if (first || self.products % 32 == (uint64_t)sb_exact_now.thread % 32)
		ask(&product, first);
	product.sums[thread] = give(d, (unsigned)asked.columns / 2, asked.line);
}

void sb_exact_product_ask(int bf16, float *d, int columns, const uint16_t *a, const uint16_t *b,
			  unsigned panel_bytes, bool add, sb_exact_line line)
{
	ask({bf16 ? SB_CORE_BF16 : SB_CORE_FP16,
	     operand(a, 0, 64, line),
	     operand(b, panel_bytes, columns, line),
	     panel_bytes,
	     columns,
	     add,
	     0,
	     {},
	     line,
	     {}},
	    d, nullptr);
}

void sb_exact_product_ask_rows(int bf16, float *d, int columns, const uint32_t *a,
			       const uint16_t *b, unsigned panel_bytes, bool add,
			       sb_exact_line line)
{
	ask({bf16 ? SB_CORE_BF16 : SB_CORE_FP16,
	     in_registers,
	     operand(b, panel_bytes, columns, line),
	     panel_bytes,
	     columns,
	     add,
	     0,
	     {},
	     line,
	     {}},
	    d, a);
}

void sb_exact_product_commit()
{
	sb_exact_self().product_groups.push_back(sb_exact_self().products);
}

void sb_exact_product_wait(unsigned left, sb_exact_line line)
{
	sb_exact_thread &self = sb_exact_self();
	size_t groups = self.product_groups.size();

	own_warpgroup(line);
	self.awaited = groups > left ? self.product_groups[groups - 1 - left] : 0;
	sb_exact_wait(SB_AT_PRODUCTS);
}

/* Element (mn, k) of an operand: rows of k, the eight-element chunks of each in another order. */
static uint16_t element(const unsigned char *piece, size_t panel_bytes, int mn, int k)
{
	uint16_t bits;

	piece += (size_t)(mn / 64) * panel_bytes + (size_t)k * 128;
	memcpy(&bits, piece + ((mn % 64 / 8) ^ (k & 7)) * 16 + mn % 8 * 2, sizeof bits);
	return bits;
}

/* Where row and column of a product lie: whose accumulators, and which of them. */
static float *sum_of(const sb_exact_product &product, int row, int column)
{
	int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;

	return &product.sums[thread]
			->value[(size_t)(column / 8 * 4 + row % 16 / 8 * 2 + column % 2)];
}

static void make(sb_exact_launch *launch, const sb_exact_product &product)
{
	/* On the heap: a library that is opened late has little room for what each thread has. */
	std::vector<sb_core_eight> eights((size_t)(product.columns / 8));
	const unsigned char *b = launch->shared + product.b;

	for (int k = 0; k < SB_CORE_DEPTH; k++)
		for (int e = 0; e < product.columns / 8; e++) {
			uint16_t bits[SB_CORE_WIDTH];

			for (int j = 0; j < SB_CORE_WIDTH; j++)
				bits[j] = element(b, product.panel_bytes, e * 8 + j, k);
			sb_core_eight_set(&eights[(size_t)e], product.format, k, bits);
		}
	for (int i = 0; i < 64; i++) {
		uint16_t bits[SB_CORE_DEPTH];
		sb_core_row row;

		for (int k = 0; k < SB_CORE_DEPTH; k++)
			bits[k] = product.a == in_registers
					  ? sb_exact_rows_element(product, i, k)
					  : element(launch->shared + product.a, 0, i, k);
		sb_core_row_set(&row, product.format, bits);
		for (int e = 0; e < product.columns / 8; e++) {
			float sums[SB_CORE_WIDTH];

			for (int j = 0; j < SB_CORE_WIDTH; j++)
				sums[j] = product.add ? *sum_of(product, i, e * 8 + j) : 0.0f;
			sb_tensor_core_dots(product.format, &row, &eights[(size_t)e], sums);
			for (int j = 0; j < SB_CORE_WIDTH; j++)
				*sum_of(product, i, e * 8 + j) = sums[j];
		}
	}
}

static void finish(sb_exact_launch *launch, size_t number, uint32_t clock)
{
	sb_exact_warpgroup &warpgroup = launch->warpgroup[number];
	const sb_exact_product &product = warpgroup.products.front();
	auto use = [=](size_t begin, size_t end) {
		sb_exact_product_read(launch, begin, end, number, clock);
	};

	sb_exact_rows_return(product);
	make(launch, product);
	for (sb_exact_sums *sums : product.sums)
		sums->pending--;
	if (product.a != in_registers)
		panels(product.a, 0, 64, use);
	panels(product.b, product.panel_bytes, product.columns, use);
	warpgroup.products.pop_front();
	warpgroup.made++;
}

/* All of a warpgroup wait, and for the same. */
static bool all_wait(sb_exact_launch *launch, size_t number)
{
	const sb_exact_thread *first = &launch->thread[number * 128];

	for (const sb_exact_thread *t = first; t < first + 128; t++)
		if (t->waits != SB_AT_PRODUCTS)
			return false;
	for (const sb_exact_thread *t = first; t < first + 128; t++)
		if (t->awaited != first->awaited)
			sb_exact_fail(SB_EXACT_RACE, {"", 0},
				      "the threads of a warpgroup wait for different products");
	return launch->result == SB_EXACT_OK;
}

bool sb_exact_products_release(sb_exact_launch *launch)
{
	bool any = false;

	for (size_t w = 0; w < launch->warpgroups; w++) {
		size_t id = sb_exact_id_of_warpgroup(launch, w);

		if (!all_wait(launch, w))
			continue;
		uint32_t clock = launch->thread[w * 128].seen[id] + 1;

		while (launch->warpgroup[w].made < launch->thread[w * 128].awaited)
			finish(launch, w, clock);
		for (size_t f = w * 128; f < w * 128 + 128; f++) {
			sb_exact_thread &thread = launch->thread[f];

			while (!thread.product_groups.empty() &&
			       thread.product_groups.front() <= thread.awaited)
				thread.product_groups.pop_front();
			thread.seen[id] = clock;
			thread.waits = SB_RUNS;
		}
		any = true;
	}
	return any;
}

bool sb_exact_products_idle(const sb_exact_launch *launch)
{
	for (const sb_exact_warpgroup &warpgroup : launch->warpgroup)
		if (!warpgroup.products.empty())
			return false;
	return true;
}
