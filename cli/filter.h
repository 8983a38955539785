/* SPDX-License-Identifier: MIT */
/* `--where`: which records count.
 *
 *   expression  = and { ("or" | "||") and }
 *   and         = not { ("and" | "&&") not }
 *   not         = [ "not" | "!" ] ( "(" expression ")" | condition )
 *   condition   = "failed" | field operator value
 *   text field  name domain kind device      with  = != (glob)  ~ !~ (regular expression)
 *               process thread queue range
 *   number      duration bytes               with  = != < <= > >=
 *   value       a word, or '..' or ".." around anything else; numbers take units: ns us ms s,
 *               B K M G
 *
 * A condition about something that a record does not have (the device of a call) is false. Text
 * conditions are decided once per distinct text and kept, so that a filter costs next to nothing
 * per record. */
#ifndef GPUTAP_CLI_FILTER_H
#define GPUTAP_CLI_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_field {
	FILTER_NAME,
	FILTER_DOMAIN,
	FILTER_KIND,
	FILTER_DEVICE,
	FILTER_PROCESS,
	FILTER_THREAD,
	FILTER_QUEUE,
	FILTER_RANGE, /* all ranges around it, innermost first */
	FILTER_TEXT_COUNT,
	FILTER_DURATION = FILTER_TEXT_COUNT,
	FILTER_BYTES,
	FILTER_FAILED,
};

enum { FILTER_TEXTS_MOST = 256 };

/* What a filter looks at. Texts are named by small numbers, as lookup.h gives them; LOOKUP_NONE:
 * has none. */
struct filter_record {
	uint32_t text[FILTER_TEXT_COUNT];
	uint64_t duration_ns, bytes;
	bool timed, failed;
};

/* The texts by which @number of @field is known, at most FILTER_TEXTS_MOST: a process has a pid
 * and a name, a record may be in many ranges. */
typedef unsigned filter_texts_fn(void *data, enum filter_field field, uint32_t number,
				 const char **texts);

struct filter_error {
	size_t at; /* where in the expression */
	char text[160];
};

struct filter;
/* Return: NULL and *error when the expression is wrong. */
struct filter *filter_create(const char *expression, filter_texts_fn *texts, void *data,
			     struct filter_error *error);
/* Where and why the expression is wrong. Return: GT_EXIT_USAGE. */
int filter_print_error(const char *expression, const struct filter_error *error);
/* Does the expression ask for @field? */
bool filter_asks(const struct filter *f, enum filter_field field);
bool filter_match(struct filter *f, const struct filter_record *record);
void filter_destroy(struct filter *f);

#endif
