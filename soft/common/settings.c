/* SPDX-License-Identifier: MIT */
/* Numbers with units. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "soft/common/settings.h"

struct size_unit {
	const char *name;
	double factor;
};

static const struct size_unit times[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct size_unit rates[] = {{"ppb", 1}, {"ppm", 1e3}, {NULL, 0}};

bool soft_parse_count(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !errno && !*end;
}

bool soft_parse_bytes(const char *text, uint64_t *out)
{
	static const char letters[] = "KMGT";
	const char *letter;
	char *end;
	unsigned shift = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
	if (letter) {
		shift = 10 * (unsigned)(letter - letters + 1);
		end++;
		if (!strcmp(end, "iB") || !strcmp(end, "B"))
			end += strlen(end);
	}
	if (errno || *end || *out > UINT64_MAX >> shift)
		return false;
	*out <<= shift;
	return true;
}

static bool parse_scaled(const char *text, const struct size_unit *units, const char *unit,
			 int64_t *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return false;
	if (*end)
		unit = end;
	for (; units->name; units++)
		if (!strcmp(units->name, unit)) {
			value = value * units->factor + (value < 0 ? -0.5 : 0.5);
			if (fabs(value) >= 9e18)
				return false;
			*out = (int64_t)value;
			return true;
		}
	return false;
}

bool soft_parse_ns(const char *text, const char *unit, int64_t *out)
{
	return parse_scaled(text, times, unit, out);
}

bool soft_parse_ppb(const char *text, int64_t *out)
{
	return parse_scaled(text, rates, "ppm", out);
}
