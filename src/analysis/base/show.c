/* SPDX-License-Identifier: MIT */
/* See show.h. */
#include "analysis/base/show.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#include "analysis/base/text.h"

static unsigned least_of_three(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

/* Return the edit distance of @a and @b (insert, remove, replace, swap of neighbours), ignoring
 * case. Words are cut at 63 characters. */
static unsigned count_edits(const char *a, const char *b)
{
	enum { LONGEST = 63 };
	unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);

	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			int x = tolower((unsigned char)a[i - 1]),
			    y = tolower((unsigned char)b[j - 1]);
			now[j] =
				least_of_three(last[j] + 1, now[j - 1] + 1, last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		spare = before, before = last, last = now, now = spare;
	}
	return last[m];
}

unsigned character_width(uint32_t c)
{
	int w;

	if (gt_text_is_control(c))
		return 1; /* printed as '?' */
	w = c < 0x7f || MB_CUR_MAX == 1 ? 1 : wcwidth((wchar_t)c);
	return w < 0 ? 1 : (unsigned)w;
}

const char *nearest_name(const char *word, const char *const *names)
{
	size_t length = strlen(word);
	/* initially one more than the largest allowed distance */
	unsigned best = (unsigned)(length < 2 ? 1 : length < 5 ? 2 : (length + 1) / 3 + 1);
	const char *nearest = NULL;

	for (; *names; names++) {
		unsigned d = count_edits(word, *names);
		/* a typed prefix counts as similar, but less than a typing error */
		if (length >= 2 && strncasecmp(word, *names, length) == 0 && d > 1)
			d = 1;
		/* among equally similar names, prefer one with the same first letter, because
		 * typing errors are more common in later letters */
		if (d < best || (nearest && d == best && *word == **names && *word != *nearest)) {
			best = d;
			nearest = *names;
		}
	}
	return nearest;
}

bool text_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

size_t text_next(const char *text, uint32_t *character)
{
	return gt_text_next(text, strnlen(text, 4), character);
}

unsigned text_width(const char *text)
{
	unsigned width = 0;
	uint32_t c;

	while (*text) {
		text += text_next(text, &c);
		width += character_width(c);
	}
	return width;
}

const char *show_shell_word(const char *word)
{
	enum { BUFFERS = 2, BYTES = 8192 };
	static _Thread_local char buffers[BUFFERS][BYTES];
	static _Thread_local unsigned turn;
	char *start = buffers[turn++ % BUFFERS], *p = start;
	size_t plain = 0;

	while (isalnum((unsigned char)word[plain]) ||
	       (word[plain] && strchr("/._-+,:=@%", word[plain])) ||
	       (unsigned char)word[plain] >= 0x80)
		plain++;
	if (plain && !word[plain])
		return word;
	for (*p++ = '"'; *word && p < start + BYTES - 4; word++) {
		if (strchr("\"$`\\", *word))
			*p++ = '\\';
		*p++ = (unsigned char)*word < 0x20 || *word == 0x7f ? '?' : *word;
	}
	*p++ = '"';
	*p = '\0';
	return start;
}

static char *next_buffer(size_t *size)
{
	enum { BUFFERS = 32, BYTES = 32 };
	static _Thread_local char buffers[BUFFERS][BYTES];
	static _Thread_local unsigned turn;

	*size = BYTES;
	return buffers[turn++ % BUFFERS];
}

/* Format three significant digits: 1.23, 12.3, 123. */
static const char *three_digits(double value, const char *unit)
{
	size_t size;
	char *buffer = next_buffer(&size);

	snprintf(buffer, size,
		 value < 9.995   ? "%.2f %s"
		 : value < 99.95 ? "%.1f %s"
				 : "%.0f %s",
		 value, unit);
	return buffer;
}

const char *show_duration(uint64_t ns)
{
	size_t size;
	char *buffer;

	if (ns >= UINT64_C(99950000) && ns < UINT64_C(999500000))
		return three_digits((double)ns / 1e6, "ms");
	if (ns >= 999500)
		return ns < 99950000 ? three_digits((double)ns / 1e6, "ms")
				     : three_digits((double)ns / 1e9, "s");
	if (ns >= 1000)
		return three_digits((double)ns / 1e3, "us");
	buffer = next_buffer(&size);
	snprintf(buffer, size, "%llu ns", (unsigned long long)ns);
	return buffer;
}

const char *show_bytes(uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned u = 0;
	size_t size;
	char *buffer;

	if (bytes < 1024) {
		buffer = next_buffer(&size);
		snprintf(buffer, size, "%u B", (unsigned)bytes);
		return buffer;
	}
	while (value >= 1023.5 && u + 1 < sizeof units / sizeof *units) {
		value /= 1024;
		u++;
	}
	return three_digits(value, units[u]);
}

const char *show_rate(double bytes_per_s)
{
	static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
	unsigned u = 0;
	size_t size;
	char *buffer;

	if (bytes_per_s < 999.5) {
		buffer = next_buffer(&size);
		snprintf(buffer, size, "%.0f B/s", bytes_per_s);
		return buffer;
	}
	while (bytes_per_s >= 999.5 && u + 1 < sizeof units / sizeof *units) {
		bytes_per_s /= 1000;
		u++;
	}
	return three_digits(bytes_per_s, units[u]);
}

const char *show_count(uint64_t count)
{
	size_t size;
	char *buffer = next_buffer(&size), digits[24];
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
	char *p = buffer;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buffer;
}
