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
 *   value       a word, or any text in '' or ""; numbers take units: ns us ms s
 *               min h, B K M G; with = and != also A..B: both included, times up to B
 *   range       NAME; NAME#N: the N-th occurrence of NAME in its process; NAME#N..M
 *   at          a time since the first session began; RANGE#N: its start (with < and >=) or its
 *               end (with > and <=), in the record's own process; RANGE#N+TIME, RANGE#N-TIME;
 *               A..B: from A to B; RANGE#N..M: from the start of N to the end of M
 *
 * The time of a record is its start. The start of a GPU activity is its start on the device or, if
 * its times are not known, the start of its call. A condition on a property that a record lacks
 * (such as the device of a call) is false. Text conditions are evaluated once per distinct text and
 * cached, so a filter costs almost nothing per record. */
#ifndef GPUTAP_ANALYSIS_QUERY_FILTER_H
#define GPUTAP_ANALYSIS_QUERY_FILTER_H

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
	FILTER_RANGE, /* all ranges that contain the record, innermost first */
	FILTER_HOST,
	FILTER_TEXT_COUNT,
	FILTER_DURATION = FILTER_TEXT_COUNT,
	FILTER_BYTES,
	FILTER_RANK,
	FILTER_AT,
	FILTER_FAILED,
};

enum { FILTER_TEXTS_MOST = 256, FILTER_OCCURRENCE_BYTES = 32 };

/* The fields that a filter uses. Texts are represented by their numbers from lookup.h; LOOKUP_NONE:
 * no value. */
struct filter_record {
	uint32_t text[FILTER_TEXT_COUNT];
	uint64_t duration_ns, bytes;
	uint64_t at_ns; /* time of the record; 0: not known */
	int32_t rank;   /* -1: none */
	/* timed: true if the record has a duration; sized: true if it moves or maps bytes */
	bool timed, sized, failed;
};

/* Store the texts of @number in @field, at most FILTER_TEXTS_MOST, and return how many there are. A
 * process has its pid and its name as texts. A record may be in several ranges. */
typedef unsigned filter_texts_fn(void *data, enum filter_field field, uint32_t number,
				 const char **texts);

struct filter_error {
	size_t at; /* position of the error in the expression */
	char text[160];
};

struct filter;
/* Parse an expression. If it is invalid, return NULL and set *error. */
struct filter *filter_create(const char *expression, filter_texts_fn *texts, void *data,
			     struct filter_error *error);
/* Set the start of the first session, to which `at` is relative, and the end of the capture. Both
 * times use the clock of at_ns. */
void filter_set_origin(struct filter *f, uint64_t origin_ns, uint64_t end_ns);
/* Return the number of occurrences that the expression contains. Before the caller matches the
 * first record, it finds the counted ranges of each process in order of their start. */
uint32_t filter_occurrence_count(const struct filter *f);
bool filter_occurrence_named(const struct filter *f, uint32_t i, const char *name);
/* Note the @n-th range, from 1, with a name that the expression counts. Return true if the
 * expression refers to this range. In this case, the records in the range also have the text of the
 * occurrence among their ranges. */
bool filter_occurrence_begins(struct filter *f, uint32_t i, uint32_t process, uint64_t n,
			      uint64_t from_ns, uint64_t to_ns);
/* Write the text of an occurrence into @text of FILTER_OCCURRENCE_BYTES, and return @text. */
const char *filter_occurrence_text(uint32_t i, char *text);
/* Return true if the expression uses @field. */
bool filter_asks(const struct filter *f, enum filter_field field);
bool filter_match(struct filter *f, const struct filter_record *record);
void filter_destroy(struct filter *f);

/* Store the words that domain= and --domains accept in @words: names of domains and families,
 * NULL-terminated. Return true if @word is one of them. */
enum { FILTER_DOMAIN_WORDS = 2 * GT_DOMAIN_COUNT };
bool filter_domain_words(const char **words, const char *word);

#endif
