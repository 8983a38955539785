/* SPDX-License-Identifier: MIT */
/* See units.h. */
#include "cli/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool parse_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	char *end;
	unsigned long long n;
	const char *unit;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno)
		return false;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (n > UINT64_MAX >> shift)
			return false;
		n <<= shift;
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'B')
		end++;
	*out = n;
	return !*end;
}

struct time_unit {
	const char *name;
	double ns;
};

static const struct time_unit short_units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
			      long_units[] = {{"", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}};

static bool parse_with(const char *text, const struct time_unit *units, size_t count, uint64_t *out)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || !(n >= 0) || !isdigit((unsigned char)text[0]))
		return false;
	if (n == 0 && !*end) {
		*out = 0;
		return true;
	}
	for (size_t i = 0; i < count; i++)
		if (!strcmp(end, units[i].name) && n * units[i].ns < 1e15) {
			*out = (uint64_t)(n * units[i].ns);
			return true;
		}
	return false;
}

bool parse_time(const char *text, uint64_t *out)
{
	return parse_with(text, short_units, sizeof short_units / sizeof *short_units, out);
}

bool parse_seconds(const char *text, uint64_t *out)
{
	return parse_time(text, out) ||
	       parse_with(text, long_units, sizeof long_units / sizeof *long_units, out);
}
