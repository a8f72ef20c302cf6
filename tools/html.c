/* SPDX-License-Identifier: BSD-3-Clause */
#include "html.h"

#include <string.h>

void sb_html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '&')
			fputs("&amp;", out);
		else if (byte == '<')
			fputs("&lt;", out);
		else if (byte == '>')
			fputs("&gt;", out);
		else if (byte == '"')
			fputs("&quot;", out);
		else if (byte == '\'')
			fputs("&#39;", out);
		else
			fputc(byte < 0x20 || byte == 0x7f ? ' ' : byte, out);
	}
}

/* Three digits that count, as far as there are decimals. */
static void three_digits(char *text, size_t room, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text, room, "%.*f %s", decimals, value, unit);
}

struct sb_html_number sb_html_seconds(double seconds)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "\xc2\xb5s"}};
	struct sb_html_number n;

	if (seconds >= 3600) {
		snprintf(n.text, sizeof n.text, "%.0f h %02.0f min", (double)(long)(seconds / 3600),
			 (double)((long)seconds % 3600 / 60));
		return n;
	}
	if (seconds >= 120) {
		snprintf(n.text, sizeof n.text, "%ld min %02ld s", (long)seconds / 60,
			 (long)seconds % 60);
		return n;
	}
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (seconds >= 0.9995 * units[i].unit) {
			three_digits(n.text, sizeof n.text, seconds / units[i].unit, units[i].name);
			return n;
		}
	snprintf(n.text, sizeof n.text, seconds > 0 ? "under 1 \xc2\xb5s" : "0 s");
	return n;
}

struct sb_html_number sb_html_gain(double seconds)
{
	struct sb_html_number n, size = sb_html_seconds(seconds < 0 ? -seconds : seconds);

	snprintf(n.text, sizeof n.text, "%s%.40s", seconds < 0 ? "\xe2\x88\x92" : "+", size.text);
	return n;
}

struct sb_html_number sb_html_count(double count)
{
	struct sb_html_number n;
	char digits[32];
	size_t used = 0, length;

	snprintf(digits, sizeof digits, "%.0f", count < 1e18 ? count : 1e18);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			n.text[used++] = ',';
		n.text[used++] = digits[i];
	}
	n.text[used] = '\0';
	return n;
}

struct sb_html_number sb_html_percent(double share)
{
	struct sb_html_number n;

	snprintf(n.text, sizeof n.text, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
	return n;
}
