/* SPDX-License-Identifier: BSD-3-Clause */
/* `shimblas bench`: what its parts share. */
#ifndef SB_BENCH_H
#define SB_BENCH_H

#include "bench_shape.h"
#include "bench_time.h"
#include "page.h"

struct sb_bench {
	const struct sb_options *options;
	int argc;
	char **argv; /* argv[0] is "bench" */
	struct sb_bench_shapes shapes;
	struct sb_bench_pace pace;
	bool maths[2]; /* enum sb_math: those that are asked for */
	struct sb_page page;
};

/* Is an option without a value given? */
bool sb_bench_asked(const struct sb_bench *bench, enum sb_option_row row);

/* Products of operands in host memory, from call to return. */
void sb_bench_host(struct sb_bench *bench);
/* Errors against double precision; false if memory is short. */
bool sb_bench_accuracy(struct sb_bench *bench);
/* Both sides, measured and predicted, over squares and shapes from a seed; false if memory is
 * short. */
bool sb_bench_crossover(struct sb_bench *bench);
/* From here on the GPU's products are in this arithmetic, if it was asked for; false if not. */
bool sb_bench_choose_math(const struct sb_bench *bench, int math);

/* Unless the user chose a mode, the GPU answers all it can: also where the CPU would be faster. */
void sb_bench_choose_mode(void);
/* The sgemm_ in the global scope, in host memory; false if there is none. */
bool sb_bench_scope(struct sb_bench *bench);
/* Products of operands on the device, by its own clock. */
void sb_bench_on_device(struct sb_bench *bench);
/* Every kernel that may be picked for such products, measured and predicted. */
void sb_bench_picks(struct sb_bench *bench);
/* Copies alone, between host memory and the device. */
void sb_bench_wire(struct sb_bench *bench);

/* Where the operands of the host's products lie: the rounds of sb_bench_host and sb_bench_scope. */
enum sb_bench_memory { SB_BENCH_PAGEABLE, SB_BENCH_PINNED, SB_BENCH_MEMORIES };
const char *sb_bench_memory_word(enum sb_bench_memory memory);

/*
 * Opens data in that memory. False, after a line on the page, if it cannot be had, or silently if
 * nobody asked for it.
 */
bool sb_bench_open(struct sb_bench *bench, enum sb_bench_memory memory, struct sb_bench_data *data);

/* The cells that say which product a row is about, and the columns above them. */
#define SB_BENCH_COLUMNS "#m", "#n", "#k", "trans", "#pad"
void sb_bench_row(struct sb_table *table, const struct sb_bench_shape *shape);
/* Milliseconds; microseconds; a ratio of two times; TFLOP/s: "-" where a time is negative. */
void sb_bench_ms(struct sb_table *table, double seconds);
void sb_bench_us(struct sb_table *table, double seconds);
void sb_bench_ratio(struct sb_table *table, double seconds, double ours);
void sb_bench_rate(struct sb_table *table, const struct sb_bench_shape *shape, double seconds);

#endif
