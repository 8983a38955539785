/* SPDX-License-Identifier: MIT */
/* Values of `--where`: numbers with their units, and which range of a name. */
#ifndef GPUTAP_CLI_FILTER_VALUE_H
#define GPUTAP_CLI_FILTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_unit { FILTER_UNIT_NONE, FILTER_UNIT_TIME, FILTER_UNIT_BYTES };

/* "1.5ms", "64K", "3", in ns, bytes or as it is; @bytes of it. False: it is none. */
bool filter_parse_number(enum filter_unit unit, const char *text, size_t bytes, uint64_t *out);

/* "A..B", @dots: where the ".." is. A number without a unit has the unit of the other one. */
bool filter_parse_interval(enum filter_unit unit, const char *text, const char *dots,
			   uint64_t *from, uint64_t *to);

/* The ".." that parts two values. NULL: it is one value. */
const char *filter_find_dots(const char *text);

/* NAME#N, NAME#N..M, with @after: NAME#N+TIME and NAME#N-TIME, too. */
struct filter_occurrence_value {
	size_t name_bytes;
	uint64_t first, last;
	int64_t after_ns;
};
/* Return: 1, 0: there is no #N in it; -1: what stands behind the # is wrong, and *wrong where. */
int filter_parse_occurrence(const char *text, size_t bytes, bool after,
			    struct filter_occurrence_value *out, size_t *wrong);

#endif
