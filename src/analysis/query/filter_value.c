/* SPDX-License-Identifier: MIT */
#include "analysis/query/filter_value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_BYTES = 64 };

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {
	{"", 1},    {"ns", 1},     {"us", 1e3},   {"\xc2\xb5s", 1e3}, {"ms", 1e6},
	{"s", 1e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0},
};
static const struct unit sizes[] = {
	{"", 1},         {"B", 1},    {"K", 0x1p10}, {"KiB", 0x1p10}, {"KB", 1e3}, {"M", 0x1p20},
	{"MiB", 0x1p20}, {"MB", 1e6}, {"G", 0x1p30}, {"GiB", 0x1p30}, {"GB", 1e9}, {NULL, 0},
};
static const struct unit none[] = {{"", 1}, {NULL, 0}};

bool filter_parse_number(enum filter_unit unit, const char *text, size_t bytes, uint64_t *out)
{
	const struct unit *u = unit == FILTER_UNIT_TIME    ? times
			       : unit == FILTER_UNIT_BYTES ? sizes
							   : none;
	char copy[NUMBER_BYTES], *end;
	double value;

	if (bytes >= sizeof copy)
		return false;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	value = strtod(copy, &end);
	if (end == copy || !(value >= 0))
		return false;
	while (isspace((unsigned char)*end))
		end++;
	/* a time needs a unit, because --delay takes seconds */
	if (unit == FILTER_UNIT_TIME && !*end && value > 0)
		return false;
	for (; u->name; u++)
		if (!strcasecmp(u->name, end)) {
			value *= u->factor;
			*out = value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX;
			return true;
		}
	return false;
}

bool filter_parse_interval(enum filter_unit unit, const char *text, const char *dots,
			   uint64_t *from, uint64_t *to)
{
	const char *second = dots + 2, *unit_at = second + strspn(second, "0123456789.eE+ ");
	size_t bytes = (size_t)(dots - text), unit_bytes = strlen(unit_at);
	char first[NUMBER_BYTES];

	if (bytes + unit_bytes >= sizeof first)
		return false;
	memcpy(first, text, bytes);
	if (bytes && (isdigit((unsigned char)text[bytes - 1]) || text[bytes - 1] == '.')) {
		memcpy(first + bytes, unit_at, unit_bytes);
		bytes += unit_bytes;
	}
	return filter_parse_number(unit, first, bytes, from) &&
	       filter_parse_number(unit, second, strlen(second), to);
}

const char *filter_find_dots(const char *text)
{
	const char *dots = NULL, *next = text;

	while ((next = strstr(next, "..")))
		dots = next++;
	return dots && dots > text && dots[2] ? dots : NULL;
}

/* Parse digits at *at, before @end. Return false if there are no digits, or the number is 0. */
static bool take_count(const char **at, const char *end, uint64_t *out)
{
	const char *digit = *at;
	uint64_t n = 0;

	while (digit < end && isdigit((unsigned char)*digit) && n < UINT64_MAX / 20)
		n = n * 10 + (uint64_t)(*digit++ - '0');
	*out = n;
	if (n)
		*at = digit;
	return n != 0;
}

int filter_parse_occurrence(const char *text, size_t bytes, bool after,
			    struct filter_occurrence_value *out, size_t *wrong)
{
	const char *end = text + bytes, *hash = memrchr(text, '#', bytes), *at;
	uint64_t ns;

	if (!hash || hash == text)
		return 0;
	*out = (struct filter_occurrence_value){.name_bytes = (size_t)(hash - text)};
	at = hash + 1;
	if (!take_count(&at, end, &out->first))
		goto wrong;
	out->last = out->first;
	if (end - at > 2 && at[0] == '.' && at[1] == '.') {
		at += 2;
		if (!take_count(&at, end, &out->last) || out->last < out->first)
			goto wrong;
	} else if (after && at < end && (*at == '+' || *at == '-')) {
		if (!filter_parse_number(FILTER_UNIT_TIME, at + 1, (size_t)(end - at - 1), &ns) ||
		    ns > INT64_MAX)
			goto wrong;
		out->after_ns = *at == '+' ? (int64_t)ns : -(int64_t)ns;
		at = end;
	}
	if (at == end)
		return 1;
wrong:
	*wrong = (size_t)(at - text);
	return -1;
}
