/* SPDX-License-Identifier: MIT */
/* Internals of a filter: the tree that filter.c builds from an expression and evaluates for each
 * record, and from which filter_slice.c derives time ranges. */
#ifndef GPUTAP_CLI_FILTER_TREE_H
#define GPUTAP_CLI_FILTER_TREE_H

#include <regex.h>

#include "cli/filter.h"
#include "cli/filter_value.h"

enum filter_node_type {
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_TEXT,
	NODE_REGEX,
	NODE_NUMBER,
	NODE_AT,
	NODE_FAILED
};

enum filter_comparison { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_MATCH, CMP_NO_MATCH };

/* Indexed by enum filter_field, NULL-ended. */
extern const char *const filter_field_names[];

enum filter_decided { UNDECIDED = 0, DECIDED_FALSE, DECIDED_TRUE };

/* A point in time: relative to the capture's start, or to an occurrence's start or end. */
struct filter_point {
	int64_t ns;
	uint32_t occurrence; /* FILTER_NO_OCCURRENCE: none */
};

struct filter_node {
	enum filter_node_type type;
	struct filter_node *left, *right;
	enum filter_field field;
	enum filter_comparison compare;
	uint64_t number, number_most; /* they differ for = and != with an interval, both included */
	struct filter_point from, to; /* NODE_AT; comparisons other than = and != use only `from` */
	uint32_t occurrence;          /* NODE_TEXT with a range: a counted one of that name */
	char *pattern;
	regex_t regex;
	uint8_t *known; /* enum filter_decided, per text number */
	uint32_t known_count;
};

#define FILTER_NO_OCCURRENCE UINT32_MAX

/* The N-th range of a name, or several: the ranges that the expression counts. */
struct filter_occurrence {
	char *name; /* a pattern */
	uint64_t first, last;
	uint64_t most; /* the most that a process has */
	bool found;
	/* per process: its start and end; to 0: not there */
	struct filter_span {
		uint64_t from_ns, to_ns;
	} * spans;
	uint32_t span_count;
};

struct filter {
	struct filter_node *root;
	struct filter_occurrence *occurrences;
	uint32_t occurrence_count;
	uint64_t origin_ns, end_ns; /* the capture's */
	bool is_one_process;        /* true if there is only one to look at */
	filter_texts_fn *texts;
	void *data;
};

/* filter.c: return true if a text, or the record's number, meets a condition. filter_match_text()
 * ignores a negation (CMP_NE, CMP_NO_MATCH): its caller inverts the result. */
bool filter_match_text(const struct filter_node *n, const char *text);
bool filter_match_number(const struct filter_node *n, const struct filter_record *r);

#endif
