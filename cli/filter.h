/* SPDX-License-Identifier: MIT */
/* `--where`: select records.
 *
 *   expression  = and { ("or" | "||") and }
 *   and         = not { ("and" | "&&") not }
 *   not         = [ "not" | "!" ] ( "(" expression ")" | condition )
 *   condition   = "failed" | field operator value
 *   text field  name domain kind device      with  = != (glob)  ~ !~ (regular expression)
 *               process thread queue range
 *               host
 *   number      duration bytes rank at       with  = != < <= > >=
 *   value       a word, or anything in '' or ""; numbers take units: ns us ms s
 *               min h, B K M G; with = and != also A..B: both included, times up to B
 *   range       NAME, NAME#N: the N-th of that name that its process began, NAME#N..M
 *   at          a time since the first session began; RANGE#N: its start (with < and >=) or its
 *               end (with > and <=), of the record's own process; RANGE#N+TIME, RANGE#N-TIME;
 *               A..B from one to the other, RANGE#N..M from the start of one to the end of another
 *
 * A record's time is its start: for a GPU activity its start on the device or, if its times are not
 * known, the start of its call. A condition about something that a record does not have (the device
 * of a call) is false. Text conditions are decided once per distinct text and kept, so that a
 * filter costs next to nothing per record. */
#ifndef GPUTAP_CLI_FILTER_H
#define GPUTAP_CLI_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/domain.h"

enum filter_field {
	FILTER_NAME,
	FILTER_DOMAIN,
	FILTER_KIND,
	FILTER_DEVICE,
	FILTER_PROCESS,
	FILTER_THREAD,
	FILTER_QUEUE,
	FILTER_RANGE, /* all ranges around the record, innermost first */
	FILTER_HOST,
	FILTER_TEXT_COUNT,
	FILTER_DURATION = FILTER_TEXT_COUNT,
	FILTER_BYTES,
	FILTER_RANK,
	FILTER_AT,
	FILTER_FAILED,
};

enum { FILTER_TEXTS_MOST = 256, FILTER_OCCURRENCE_BYTES = 32 };

/* The fields that a filter uses. Texts are small numbers from lookup.h; LOOKUP_NONE: no value. */
struct filter_record {
	uint32_t text[FILTER_TEXT_COUNT];
	uint64_t duration_ns, bytes;
	uint64_t at_ns;            /* 0: not known */
	int32_t rank;              /* -1: none */
	bool timed, sized, failed; /* has a duration; has bytes: it moves or maps them */
};

/* Return the texts of @number in @field, at most FILTER_TEXTS_MOST: a process has a pid and a name,
 * a record may be in many ranges. */
typedef unsigned filter_texts_fn(void *data, enum filter_field field, uint32_t number,
				 const char **texts);

struct filter_error {
	size_t at; /* position in the expression */
	char text[160];
};

struct filter;
/* Parse an expression. Return NULL and set *error if it is wrong. */
struct filter *filter_create(const char *expression, filter_texts_fn *texts, void *data,
			     struct filter_error *error);
/* Print where and why the expression is wrong. Return GT_EXIT_USAGE. */
int filter_print_error(const char *expression, const struct filter_error *error);
/* Do the same for an option other than --where. */
int filter_print_error_of(const char *option, const char *expression,
			  const struct filter_error *error);
/* Set the time from which `at` counts, and the capture's end, on the clock of at_ns. */
void filter_set_origin(struct filter *f, uint64_t origin_ns, uint64_t end_ns);
/* Return the number of occurrences in the expression, which select ranges of a name. They are found
 * before the first record is matched, for each process in order of their start. */
uint32_t filter_occurrence_count(const struct filter *f);
bool filter_occurrence_named(const struct filter *f, uint32_t i, const char *name);
/* Note the @n-th range of such a name, from 1. Return true if the expression refers to it: records
 * in it then also have the text of the occurrence among their ranges. */
bool filter_occurrence_begins(struct filter *f, uint32_t i, uint32_t process, uint64_t n,
			      uint64_t from_ns, uint64_t to_ns);
/* Return the text of an occurrence, in @text of FILTER_OCCURRENCE_BYTES. */
const char *filter_occurrence_text(uint32_t i, char *text);
/* Return true if the expression uses @field. */
bool filter_asks(const struct filter *f, enum filter_field field);
bool filter_match(struct filter *f, const struct filter_record *record);
void filter_destroy(struct filter *f);

/* Words that domain= and --domains accept: names of domains and families, NULL-ended. Return true
 * if @word is one of them. */
enum { FILTER_DOMAIN_WORDS = 2 * GT_DOMAIN_COUNT };
bool filter_domain_words(const char **words, const char *word);

#endif
