/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile_words.h"

#include <stdint.h>
#include <string.h>

static void skip_spaces(struct sb_words *line)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
}

struct sb_words sb_words_next(struct sb_words *line)
{
	struct sb_words found;

	skip_spaces(line);
	found.at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	found.end = line->at;
	return found;
}

bool sb_words_are(struct sb_words word, const char *text)
{
	size_t length = (size_t)(word.end - word.at);

	return strlen(text) == length && memcmp(word.at, text, length) == 0;
}

bool sb_words_decimal(struct sb_words *line, double *value)
{
	static const double scales[] = {1,   1e1,  1e2,	 1e3,  1e4,  1e5,  1e6,	 1e7, 1e8,
					1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
	struct sb_words digits = sb_words_next(line);
	const char *point = NULL;
	int64_t whole = 0;

	if (digits.at == digits.end || digits.end - digits.at > 16)
		return false;
	for (; digits.at < digits.end; digits.at++) {
		const unsigned digit = (unsigned char)*digits.at - (unsigned)'0';

		if (digit > 9 && (*digits.at != '.' || point))
			return false;
		if (digit > 9)
			point = digits.at;
		else
			whole = 10 * whole + digit;
	}
	*value = (double)whole / (point ? scales[digits.end - point - 1] : 1);
	return true;
}

bool sb_words_positive(struct sb_words *line, double unit, double *value)
{
	if (!sb_words_decimal(line, value) || !(*value > 0) || *value > 1e12)
		return false;
	*value *= unit;
	return true;
}

bool sb_words_integer(struct sb_words *line, int least, int most, int *value)
{
	double number;

	if (!sb_words_decimal(line, &number) || number < least || number > most)
		return false;
	*value = (int)number;
	return number == *value;
}

bool sb_words_rest(struct sb_words *line, char *into, size_t size)
{
	size_t length;

	skip_spaces(line);
	length = (size_t)(line->end - line->at);
	if (!length || length >= size)
		return false;
	memcpy(into, line->at, length);
	into[length] = '\0';
	line->at = line->end;
	return true;
}

bool sb_words_line(struct sb_words *all, struct sb_words *line)
{
	while (all->at < all->end) {
		const char *end = memchr(all->at, '\n', (size_t)(all->end - all->at));
		const char *comment;

		line->at = all->at;
		line->end = end ? end : all->end;
		all->at = end ? end + 1 : all->end;
		comment = memchr(line->at, '#', (size_t)(line->end - line->at));
		if (comment)
			line->end = comment;
		while (line->end > line->at && (line->end[-1] == ' ' || line->end[-1] == '\t'))
			line->end--;
		skip_spaces(line);
		if (line->at < line->end)
			return true;
	}
	return false;
}
