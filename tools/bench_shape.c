/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20, MOST_WORDS = 64 };

static const char *const transposes[] = {"nn", "nt", "tn", "tt"};

/* Vigna's SplitMix64 (https://prng.di.unimi.it/splitmix64.c, public domain): its constants. */
uint64_t sb_bench_random(uint64_t *state)
{
	uint64_t bits = *state += 0x9e3779b97f4a7c15u;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	return bits ^ bits >> 31;
}

const char *sb_bench_transposes(const struct sb_bench_shape *shape)
{
	return transposes[2 * shape->trans_a + shape->trans_b];
}

struct sb_bench_extent sb_bench_extent(const struct sb_bench_shape *shape)
{
	int64_t lines_a = shape->trans_a ? shape->m : shape->k;
	int64_t lines_b = shape->trans_b ? shape->k : shape->n;
	struct sb_bench_extent extent = {
		.lda = (shape->trans_a ? shape->k : shape->m) + shape->pad,
		.ldb = (shape->trans_b ? shape->n : shape->k) + shape->pad,
		.ldc = shape->m + shape->pad,
	};

	extent.a = extent.lda * lines_a;
	extent.b = extent.ldb * lines_b;
	extent.c = extent.ldc * shape->n;
	return extent;
}

static bool parse_size(const char *word, struct sb_bench_shape *shape)
{
	long long m, n, k;
	int end = 0;

	if (sscanf(word, "%lldx%lldx%lld%n", &m, &n, &k, &end) == 3 && !word[end])
		;
	else if (sscanf(word, "%lld%n", &m, &end) == 1 && !word[end])
		n = k = m;
	else
		return false;
	shape->m = m;
	shape->n = n;
	shape->k = k;
	return m > 0 && n > 0 && k > 0 && m <= LARGEST && n <= LARGEST && k <= LARGEST;
}

static bool parse_transposes(const char *word, struct sb_bench_shape *shape)
{
	for (int i = 0; i < 4; i++)
		if (strcmp(word, transposes[i]) == 0) {
			shape->trans_a = i / 2;
			shape->trans_b = i % 2;
			return true;
		}
	return false;
}

static bool parse_pad(const char *word, struct sb_bench_shape *shape)
{
	char *end;
	long pad = strtol(word, &end, 10);

	shape->pad = pad;
	return end != word && !*end && pad >= 0 && pad <= LARGEST;
}

/* The words of a comma-separated option, each parsed into a shape of its own. */
struct list {
	struct sb_bench_shape shapes[MOST_WORDS];
	int count;
};

static bool parse_list(struct list *list, const struct sb_options *options, enum sb_option_row row,
		       const char *fallback, bool (*parse)(const char *, struct sb_bench_shape *))
{
	const char *text = options->value[row] ? options->value[row] : fallback;

	*list = (struct list){.count = 0};
	while (list->count < MOST_WORDS) {
		int length = (int)strcspn(text, ",");
		char word[64];

		snprintf(word, sizeof word, "%.*s", length, text);
		if (!parse(word, &list->shapes[list->count++])) {
			fprintf(stderr, "shimblas bench: --%s: %s makes no sense (%s)\n",
				sb_option_row(row)->word, word, sb_option_row(row)->value);
			return false;
		}
		if (!text[length])
			return true;
		text += length + 1;
	}
	fprintf(stderr, "shimblas bench: --%s: too many\n", sb_option_row(row)->word);
	return false;
}

static bool combine(struct sb_bench_shapes *shapes, const struct list *sizes,
		    const struct list *words, const struct list *pads)
{
	shapes->rows =
		calloc((size_t)(sizes->count * words->count * pads->count), sizeof *shapes->rows);
	if (!shapes->rows)
		return false;
	for (int i = 0; i < sizes->count; i++)
		for (int j = 0; j < words->count; j++)
			for (int p = 0; p < pads->count; p++) {
				struct sb_bench_shape *shape = &shapes->rows[shapes->count++];

				*shape = sizes->shapes[i];
				shape->trans_a = words->shapes[j].trans_a;
				shape->trans_b = words->shapes[j].trans_b;
				shape->pad = pads->shapes[p].pad;
			}
	return true;
}

/* One line of a file: MxNxK, and how they are transposed; 0: nothing on it, -1: no product. */
static int parse_line(char *line, struct sb_bench_shape *shape)
{
	char size[64], transposed[4] = "nn";
	int words, end = 0;

	*shape = (struct sb_bench_shape){0};
	line[strcspn(line, "#\n")] = '\0';
	words = sscanf(line, "%63s %3s %n", size, transposed, &end);
	if (words < 1)
		return 0;
	if (words == 2 && line[end])
		return -1;
	return parse_size(size, shape) && parse_transposes(transposed, shape) ? 1 : -1;
}

static bool add(struct sb_bench_shapes *shapes, const struct sb_bench_shape *shape,
		const struct list *pads)
{
	size_t count = (size_t)(shapes->count + pads->count);
	struct sb_bench_shape *rows = realloc(shapes->rows, count * sizeof *rows);

	if (!rows)
		return false;
	shapes->rows = rows;
	for (int p = 0; p < pads->count; p++) {
		rows[shapes->count] = *shape;
		rows[shapes->count++].pad = pads->shapes[p].pad;
	}
	return true;
}

/* The lines of a file; false after a line on standard error. */
static bool read_lines(struct sb_bench_shapes *shapes, FILE *in, const char *name,
		       const struct list *pads)
{
	struct sb_bench_shape shape;
	char *line = NULL;
	size_t room = 0;
	int number = 1, found = 0;
	bool added = true;

	for (; added && found >= 0 && getline(&line, &room, in) >= 0; number++) {
		found = parse_line(line, &shape);
		added = found <= 0 || add(shapes, &shape, pads);
	}
	if (!added)
		fputs("shimblas bench: out of memory\n", stderr);
	else if (found < 0)
		fprintf(stderr, "shimblas bench: %s:%d: no product (MxNxK [nn|nt|tn|tt])\n", name,
			number - 1);
	else if (ferror(in))
		fprintf(stderr, "shimblas bench: %s: %s\n", name, strerror(errno));
	else if (!shapes->count)
		fprintf(stderr, "shimblas bench: %s: no products\n", name);
	free(line);
	return added && found >= 0 && !ferror(in) && shapes->count;
}

static bool read_file(struct sb_bench_shapes *shapes, const char *name, const struct list *pads)
{
	FILE *in = fopen(name, "re");
	bool read;

	if (!in) {
		fprintf(stderr, "shimblas bench: %s: %s\n", name, strerror(errno));
		return false;
	}
	read = read_lines(shapes, in, name, pads);
	fclose(in);
	if (!read)
		sb_bench_shapes_close(shapes);
	return read;
}

/* From 1 to `largest`, each power of two as likely as any other. */
static int64_t random_size(uint64_t *state, long largest)
{
	int doublings = 0;
	int64_t top, size;

	while (2L << doublings <= largest)
		doublings++;
	top = (int64_t)1 << (1 + sb_bench_random(state) % (uint64_t)(doublings + 1));
	size = top / 2 + (int64_t)(sb_bench_random(state) % (uint64_t)(top - top / 2));
	return size < largest ? size : largest;
}

static bool draw(struct sb_bench_shapes *shapes, long count, long seed, long largest)
{
	uint64_t state = (uint64_t)seed;

	shapes->rows = calloc((size_t)count, sizeof *shapes->rows);
	if (!shapes->rows)
		return false;
	for (; shapes->count < count; shapes->count++) {
		struct sb_bench_shape *shape = &shapes->rows[shapes->count];
		uint64_t bits = sb_bench_random(&state);

		shape->m = random_size(&state, largest);
		shape->n = random_size(&state, largest);
		shape->k = random_size(&state, largest);
		shape->trans_a = bits & 1;
		shape->trans_b = bits >> 1 & 1;
		/* Half of them without a gap, the others with one that is mostly misaligning. */
		shape->pad = bits >> 2 & 1 ? (int64_t)(bits >> 3 & 31) : 0;
	}
	return true;
}

static bool gather(struct sb_bench_shapes *shapes, const struct sb_options *options,
		   const struct list *sizes, const struct list *words, const struct list *pads)
{
	long count = sb_option_number(options, SB_OPTION_bench_shapes, 0, 1, 100000);
	long seed = sb_option_number(options, SB_OPTION_bench_seed, 1, 0, 1L << 62);
	long largest = sb_option_number(options, SB_OPTION_bench_largest, 4096, 1, LARGEST);
	const char *file = options->value[SB_OPTION_bench_shapes_from];

	if (count < 0 || seed < 0 || largest < 0)
		return false;
	if (file)
		return read_file(shapes, file, pads);
	if (count ? draw(shapes, count, seed, largest) : combine(shapes, sizes, words, pads))
		return true;
	fputs("shimblas bench: out of memory\n", stderr);
	return false;
}

bool sb_bench_shapes_open(struct sb_bench_shapes *shapes, const struct sb_options *options)
{
	long offset = sb_option_number(options, SB_OPTION_bench_offset, 0, 0, 1024);
	struct list sizes, words, pads;

	*shapes = (struct sb_bench_shapes){NULL, 0};
	if (offset < 0 ||
	    !parse_list(&sizes, options, SB_OPTION_bench_sizes, "512,1024,2048,4096", parse_size) ||
	    !parse_list(&words, options, SB_OPTION_bench_transposes, "nn", parse_transposes) ||
	    !parse_list(&pads, options, SB_OPTION_bench_pads, "0", parse_pad))
		return false;
	if (!gather(shapes, options, &sizes, &words, &pads))
		return false;
	for (int row = 0; row < shapes->count; row++)
		shapes->rows[row].offset = offset;
	return true;
}

void sb_bench_shapes_close(struct sb_bench_shapes *shapes)
{
	free(shapes->rows);
	shapes->rows = NULL;
}
