/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launch's accesses cost, as exact numbers: the rules are in exact.h. Threads run one after
 * another, so the lanes of a request come in one by one and are kept until the next barrier.
 */
#include "exact_state.h"

#include <algorithm>
#include <array>
#include <cstring>

static constexpr uintptr_t nothing = UINTPTR_MAX;

struct request {
	std::array<uintptr_t, 32> address;
};

struct site {
	struct sb_exact_site counts;
	std::vector<uint32_t> occurrence;	    /* a thread each */
	std::vector<std::vector<request>> requests; /* a warp each */
};

struct sb_exact_counter {
	std::vector<site> sites;
};

void sb_exact_counter_delete::operator()(sb_exact_counter *counter) const
{
	delete counter;
}

void sb_exact_count_begin(sb_exact_launch *launch)
{
	*launch->counts = sb_exact_counts();
	launch->counter.reset(new sb_exact_counter());
}

static site &site_of(sb_exact_launch *launch, bool shared, unsigned bytes, bool write,
		     sb_exact_line line)
{
	std::vector<site> &sites = launch->counter->sites;

	for (site &s : sites)
		if (s.counts.line == line.line && s.counts.shared == shared &&
		    s.counts.write == write && s.counts.lane_bytes == bytes &&
		    (s.counts.file == line.file || strcmp(s.counts.file, line.file) == 0))
			return s;
	sites.emplace_back();
	site &s = sites.back();
	s.counts.file = line.file;
	s.counts.line = line.line;
	s.counts.shared = shared;
	s.counts.write = write;
	s.counts.lane_bytes = bytes;
	s.occurrence.assign(launch->fibers, 0);
	s.requests.resize((launch->fibers + 31) / 32);
	return s;
}

void sb_exact_count(sb_exact_launch *launch, bool shared, const void *p, unsigned bytes, bool write,
		    sb_exact_line line)
{
	site &s = site_of(launch, shared, bytes, write, line);
	unsigned thread = (unsigned)sb_exact_now.fiber;
	std::vector<request> &requests = s.requests[thread / 32];
	uint32_t nth = s.occurrence[thread]++;

	if (nth >= requests.size()) {
		request none;

		none.address.fill(nothing);
		requests.resize(nth + 1, none);
	}
	requests[nth].address[thread % 32] = reinterpret_cast<uintptr_t>(p);
}

/* The passes that the lanes [first, last) need: the most distinct words that one bank must serve.
 */
static unsigned ways_of(const request &r, unsigned first, unsigned last, unsigned lane_bytes)
{
	std::array<uintptr_t, 32> words; /* bytes * lanes <= 128 */
	unsigned count = 0, banks[32] = {0}, ways = 0;

	for (unsigned lane = first; lane < last; lane++)
		if (r.address[lane] != nothing)
			for (unsigned w = 0; w < lane_bytes / 4; w++)
				words[count++] = r.address[lane] / 4 + w;
	std::sort(words.begin(), words.begin() + count);
	count = (unsigned)(std::unique(words.begin(), words.begin() + count) - words.begin());
	for (unsigned w = 0; w < count; w++)
		ways = std::max(ways, ++banks[words[w] % 32]);
	return ways;
}

static unsigned sectors_of(const request &r)
{
	std::array<uintptr_t, 32> sectors; /* an access of at most 16 aligned bytes lies in one */
	unsigned count = 0;

	for (uintptr_t address : r.address)
		if (address != nothing)
			sectors[count++] = address / 32;
	std::sort(sectors.begin(), sectors.begin() + count);
	return (unsigned)(std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin());
}

static void close(const request &r, struct sb_exact_site *counts)
{
	unsigned lanes_a_pass = 128 / counts->lane_bytes;

	counts->requests++;
	for (uintptr_t address : r.address)
		if (address != nothing)
			counts->words += counts->lane_bytes / 4;
	if (!counts->shared) {
		unsigned sectors = sectors_of(r);

		counts->sectors += sectors;
		counts->sectors_worst = std::max(counts->sectors_worst, sectors);
		return;
	}
	for (unsigned first = 0; first < 32; first += lanes_a_pass) {
		unsigned ways =
			ways_of(r, first, std::min(first + lanes_a_pass, 32u), counts->lane_bytes);

		counts->passes += ways;
		counts->passes_least += ways > 0;
		counts->ways = std::max(counts->ways, ways);
	}
}

void sb_exact_count_close(sb_exact_launch *launch)
{
	struct sb_exact_counts *counts = launch->counts;

	counts->sites = 0;
	counts->shared_words_read = counts->shared_words_written = 0;
	for (site &s : launch->counter->sites) {
		for (std::vector<request> &requests : s.requests) {
			for (const request &r : requests)
				close(r, &s.counts);
			requests.clear();
		}
		std::fill(s.occurrence.begin(), s.occurrence.end(), 0u);
		if (s.counts.shared)
			(s.counts.write ? counts->shared_words_written
					: counts->shared_words_read) += s.counts.words;
		if (counts->sites < SB_EXACT_SITES)
			counts->site[counts->sites++] = s.counts;
	}
}
