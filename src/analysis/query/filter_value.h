/* SPDX-License-Identifier: MIT */
/* Values of `--where`: numbers with their units, and occurrences of a range. */
#ifndef GPUTAP_ANALYSIS_QUERY_FILTER_VALUE_H
#define GPUTAP_ANALYSIS_QUERY_FILTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_unit { FILTER_UNIT_NONE, FILTER_UNIT_TIME, FILTER_UNIT_BYTES };

/* Parse "1.5ms", "64K" or "3" into ns, bytes or a plain number. @bytes: length of the text. Return
 * false if invalid. */
bool filter_parse_number(enum filter_unit unit, const char *text, size_t bytes, uint64_t *out);

/* Parse "A..B", with the ".." at @dots. A number without a unit takes the unit of the other
 * number. */
bool filter_parse_interval(enum filter_unit unit, const char *text, const char *dots,
			   uint64_t *from, uint64_t *to);

/* Return the ".." that separates two values. NULL: there is only one value. */
const char *filter_find_dots(const char *text);

/* A value NAME#N or NAME#N..M; with @after also NAME#N+TIME and NAME#N-TIME. */
struct filter_occurrence_value {
	size_t name_bytes;
	uint64_t first, last;
	int64_t after_ns;
};
/* Return 1; 0 if the text contains no #N; -1 if the text after the # is invalid. *wrong: position
 * of the error. */
int filter_parse_occurrence(const char *text, size_t bytes, bool after,
			    struct filter_occurrence_value *out, size_t *wrong);

#endif
